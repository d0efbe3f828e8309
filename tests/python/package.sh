#!/usr/bin/env bash
# Builds the wheel from the checkout as `pip install .` does, has auditwheel repair it, and installs
# it twice in FOLDER: in bare/, beside NumPy alone, and in others/, beside SciPy, scikit-learn and
# other libraries with arrays.
# Exit 77: not run, because PyPI or a package of Debian's is out of reach.
#
#   package.sh SOURCE FOLDER PYTHON [CMAKE DEFINITIONS…]
set -euo pipefail
source=$1 folder=$2 python=$3
shift 3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$folder" && cd "$folder"
rm -f ready not-run
not_run() { echo "not run: $*" | tee not-run; exit 77; }

"$python" -c 'import ensurepip, venv' 2> /dev/null || not_run "$python has no venv (python3-venv)"
[ -e "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] \
  || not_run "$python has no headers (python3-dev)"
[ -x tools/bin/pip ] || "$python" -m venv tools
fetch() {  # VENV REQUIREMENTS
  tools/bin/pip --python "$1/bin/python" --disable-pip-version-check --retries 1 install --quiet --only-binary :all: \
    --require-hashes -r "$here/requirements/$2.txt" > pip.log 2>&1 \
    || not_run "pip can't install $here/requirements/$2.txt: $(grep -m 1 ERROR pip.log)"
}
fetch tools build

definitions=()
for definition; do definitions+=(--config-settings "cmake.define.$definition"); done
rm -rf wheel
PATH=$folder/tools/bin:$PATH tools/bin/pip --disable-pip-version-check wheel --no-build-isolation --no-deps \
  --wheel-dir wheel --config-settings "build-dir=$(dirname "$(dirname "$(dirname "$folder")")")/wheel" \
  "${definitions[@]}" "$source" > build.log 2>&1 || { tail -40 build.log; exit 1; }

# Libraries that the wheel takes from the system come into it; drivers are opened by name and stay
# the system's.
PATH=$folder/tools/bin:$PATH tools/bin/auditwheel repair --wheel-dir wheel wheel/trine-*-linux_*.whl
repaired=$(ls wheel/trine-*-manylinux*.whl)
tools/bin/auditwheel show "$repaired"
contents=$("$python" -m zipfile -l "$repaired")
for file in trine/lib/libtrine.so trine/lib/trine/trine_cpu.so trine/lib/trine/blas/libtrine_blas.so \
  trine/bin/trine trine/_trine.pyi trine/py.typed; do
  grep -q "^$file" <<< "$contents" || { echo "FAILED: the wheel lacks $file"; exit 1; }
done
! grep -E 'libOpenCL|libcuda|trine/include|packs' <<< "$contents" || { echo "FAILED: the wheel has these"; exit 1; }

for venv in bare others; do
  rm -rf "$venv"
  "$python" -m venv --without-pip "$venv"
done
fetch bare numpy
tools/bin/pip --disable-pip-version-check --python bare/bin/python install --quiet --no-deps --no-index "$repaired"
# The other libraries come on top of the bare ones.
(cd bare && ls -d "$PWD"/lib/python*/site-packages) > "$(ls -d others/lib/python*/site-packages)/bare.pth"
fetch others others
fetch others scientific
touch ready
