#!/usr/bin/env bash
# Builds examples/ as a stranger would: a project of its own over an installed Trine and a shared
# Kokkos. Runs the programs. Exit 77: not run, because that Kokkos isn't there.
#
#   run_standalone.sh SOURCE BUILD KOKKOS-PREFIX [CMAKE ARGS…]
set -euo pipefail
source=$1 build=$2 kokkos=$3
shift 3
if [ ! -d "$kokkos" ]; then
  echo "not run: no Kokkos in $kokkos (cmake/kokkos.sh makes it, ./dev test calls that)"
  exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/examples-XXXXXX")
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work"/trine > /dev/null
cmake -S "$source"/examples -B "$work"/build -Dtrine_ROOT="$work"/trine -DKokkos_ROOT="$kokkos" "$@" \
  > "$work"/log || { cat "$work"/log; exit 1; }
cmake --build "$work"/build
unset TRINE_BACKEND_PATH
"$work"/build/select_backend cpu
"$work"/build/power_iteration cpu
"$work"/build/c_program
[ ! -x "$work"/build/fortran_program ] || "$work"/build/fortran_program
languages=("$work"/build/conjugate_gradients_c)
[ ! -x "$work"/build/conjugate_gradients_fortran ] || languages+=("$work"/build/conjugate_gradients_fortran)
python3 "$source"/tests/examples/same_history.py "$work"/build/conjugate_gradients "${languages[@]}"
# The program's Kokkos really is another one, in a library of its own.
ldd "$work"/build/kokkos_program | grep -F "$kokkos" \
  || { echo "FAILED: kokkos_program isn't linked to $kokkos"; exit 1; }
OMP_PROC_BIND=false "$work"/build/kokkos_program
OMP_PROC_BIND=false "$work"/build/heat_equation
