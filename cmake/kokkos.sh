#!/usr/bin/env bash
# Builds the Kokkos that Trine's cpu backend hides inside itself: static, position independent,
# OpenMP. `./dev` calls it once per machine; every build folder then finds the result by
# Kokkos_ROOT. The source is Debian's `trilinos` package, because Debian's binary Kokkos has no
# OpenMP and a machine that reaches its package mirror need not reach anything else.
#
#   cmake/kokkos.sh PREFIX [static|shared|exposed|source]   $TRINE_KOKKOS_SOURCE: use this source tree
#
# `shared` and `exposed` (static without hiding) are for the test that shows why it is hidden; `source`
# fetches the source, if need be, and prints where it lies.
set -euo pipefail

prefix=${1:?usage: kokkos.sh PREFIX [static|shared|exposed|source]}
linkage=${2:-static}
mkdir -p "$(dirname "$prefix")"
# The source is kept beside the prefixes: a second linkage needs no second download.
cache=$(cd "$(dirname "$prefix")" && pwd)
source_kept=$cache/kokkos-source
work=$(mktemp -d "$cache/.kokkos-XXXXXX")
trap 'rm -rf "$work"' EXIT

. "$(dirname "${BASH_SOURCE[0]}")"/private-apt.sh

fetch_from_debian() {
  private_apt "$work"/apt deb-src
  mkdir -p "$work"/download
  (cd "$work"/download && apt_get -qq source --download-only trilinos)
  # `packages/kokkos` is all that is unpacked of a 166 MB archive.
  mkdir -p "$work"/source
  tar -xf "$work"/download/trilinos_*.orig.tar.* -C "$work"/source --wildcards \
    --strip-components=3 '*/packages/kokkos/*'
  test -f "$work"/source/CMakeLists.txt
  rm -rf "$source_kept"
  mv "$work"/source "$source_kept"
}

source_tree=${TRINE_KOKKOS_SOURCE:-$source_kept}
if [ ! -f "$source_tree"/CMakeLists.txt ]; then
  echo "kokkos: fetching the source of Debian's trilinos package (about 166 MB)" >&2
  fetch_from_debian
  source_tree=$source_kept
fi

if [ "$linkage" = source ]; then echo "$source_tree"; exit; fi
echo "kokkos: building the $linkage library"
options=(-DKokkos_ENABLE_LIBDL=OFF)
case $linkage in
  shared) options+=(-DBUILD_SHARED_LIBS=ON) ;;
  exposed) options+=(-DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON) ;;
  # Hidden: two Kokkos in one process must not see each other. (No libdl, above: a private copy
  # must not load the tools that the program's own Kokkos is told to load.)
  static) options+=(-DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON
                    -DCMAKE_CXX_VISIBILITY_PRESET=hidden -DCMAKE_VISIBILITY_INLINES_HIDDEN=ON) ;;
  *) echo "kokkos: '$linkage' is not static, shared or exposed" >&2; exit 2 ;;
esac
generator=()
command -v ninja > /dev/null && generator=(-G Ninja)
{
  cmake -S "$source_tree" -B "$work"/build "${generator[@]}" "${options[@]}" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="-w -ffp-contract=off" -DCMAKE_CXX_STANDARD=17 \
    -DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_TESTS=OFF \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX="$prefix"
  cmake --build "$work"/build --parallel "${TRINE_JOBS:-$(nproc)}"
  # Installed whole or not at all: a prefix that exists is complete.
  DESTDIR=$work/image cmake --install "$work"/build
} > "$work"/log 2>&1 || { tail -40 "$work"/log >&2; exit 1; }
rm -rf "$prefix"
mv "$work/image$prefix" "$prefix"
echo "kokkos: installed in $prefix"
