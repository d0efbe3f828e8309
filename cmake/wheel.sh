#!/usr/bin/env bash
# The wheel that the tests have built (ctest -R python.package), where nothing of its build is: in a
# virtual environment of a bare Debian 12 with Python and nothing else. Root only.
#
#   cmake/wheel.sh REPOSITORY BUILD CHROOT       CHROOT is made where it is missing, and kept
set -euo pipefail
repo=$1 tests=$2/tests/python chroot=$3
. "$repo"/cmake/bare-debian.sh
in_own_namespace "$0" "$@"
[ -e "$tests"/ready ] || { echo "wheel: there is no wheel in $tests: $(cat "$tests"/not-run)"; exit 1; }
bare_debian "$chroot"
inside() { chroot "$chroot" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }

inside apt-get -qq update
inside apt-get -qq -y install --no-install-recommends python3 python3-venv libstdc++6 > /dev/null
rm -rf "$chroot"/root/wheel && mkdir -p "$chroot"/root/wheel/wheels
# The packages that it and its tests need from PyPI, for the Python in there.
"$tests"/tools/bin/pip --disable-pip-version-check download --quiet --only-binary :all: --require-hashes \
  --python-version "$(inside python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')" \
  -d "$chroot"/root/wheel/wheels -r "$repo"/tests/python/requirements/numpy.txt \
  -r "$repo"/tests/python/requirements/scientific.txt
cp "$tests"/wheel/trine-*-manylinux*.whl "$chroot"/root/wheel/wheels/
cp "$repo"/tests/python/{run.sh,*_test.py} "$tests"/libtrine_python_cases.so "$chroot"/root/wheel/
inside bash -euc 'cd /root/wheel
  python3 -m venv bare
  bare/bin/pip install --quiet --no-index --find-links wheels trine scikit-learn
  touch ready
  for test in functions arguments process program blas "conformance ../libtrine_python_cases.so"; do
    set -- $test
    echo "wheel: $1"
    ./run.sh . bare "$1_test.py" "${@:2}"
  done'
echo "wheel: its tests pass in a bare Debian $(cat "$chroot"/etc/debian_version)"
