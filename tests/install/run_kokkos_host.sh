#!/usr/bin/env bash
# A program linked to a shared Kokkos of its own runs Trine, whose cpu backend hides another; then the
# red control: the same program with a module that doesn't hide its Kokkos must fail, and with the
# same module hidden must pass. Exit 77: not run, because those Kokkos builds aren't there.
#
#   run_kokkos_host.sh SOURCE BUILD KOKKOS-PREFIX [CMAKE ARGS…]     PREFIX-shared, PREFIX-exposed
set -euo pipefail
source=$1 build=$2 prefix=$3
shift 3
for kind in shared exposed; do
  if [ ! -d "$prefix-$kind" ]; then
    echo "not run: no Kokkos in $prefix-$kind (cmake/kokkos.sh makes it, ./dev test calls that)"
    exit 77
  fi
done
work=$(mktemp -d "${TMPDIR:-/tmp}/kokkos-host-XXXXXX")
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work"/trine > /dev/null
trine=$(dirname "$(find "$work"/trine -name trineConfig.cmake)")
project=$source/tests/install/kokkos_host
make() { cmake -S "$project" -B "$work/$1" "${@:2}" > /dev/null && cmake --build "$work/$1"; }
make host -DROLE=host -DKokkos_ROOT="$prefix-shared" -Dtrine_DIR="$trine" "$@"
make module -DROLE=module -DKokkos_ROOT="$prefix-exposed" "$@"

run() { timeout 60 "$work"/host/host "$@" > "$work"/log 2>&1; }
run || { echo "FAILED: Trine in a program with a shared Kokkos"; cat "$work"/log; exit 1; }
run "$work"/module/libhidden.so || { echo "FAILED: a hidden Kokkos"; cat "$work"/log; exit 1; }
if run "$work"/module/libexposed.so; then
  echo "FAILED: an exposed Kokkos does no harm, so this test could not see one"
  exit 1
fi
echo "an exposed Kokkos ends like this, Trine's doesn't: $(tail -1 "$work"/log)"
