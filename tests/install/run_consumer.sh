#!/usr/bin/env bash
# Builds the consumer against an installed Trine (moved after the installation, with the source and
# build trees out of sight) or with Trine's source tree inside its own build, and runs it.
#
#   run_consumer.sh installed|meson|autotools|subproject SOURCE BUILD [CMAKE ARGS…]
#
# Exit 77: not run, because that build system isn't there.
set -euo pipefail
mode=$1 source=$2 build=$3
shift 3
work=$(mktemp -d "${TMPDIR:-/tmp}/consumer-XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

cp -r "$source"/tests/install/consumer "$work"/project

for tool in $(case $mode in
  meson) echo meson pkg-config ;;
  autotools) echo autoreconf automake pkg-config make ;;
esac); do
  command -v "$tool" > /dev/null || { echo "not run: no $tool here"; exit 77; }
done

if [ "$mode" = subproject ]; then
  # As a folder of the consumer's, then fetched: into the same folder, so that it is compiled once.
  for origin in "-DTRINE_SOURCE=$source" "-UTRINE_SOURCE -DFETCHCONTENT_SOURCE_DIR_TRINE=$source"; do
    # Configured whole, built in part: the cpu backend's kernels take minutes and are no different
    # here, so the one of the main build runs, found as any backend elsewhere is.
    # shellcheck disable=SC2086  # two options
    cmake -S "$work"/project -B "$work"/build $origin "$@"
    # In another folder each time, where the cache shall find what it compiled in the last one.
    CCACHE_BASEDIR=$work cmake --build "$work"/build --parallel 2 --target consumer
    TRINE_BACKEND_PATH=$build/lib/trine "$work"/build/consumer
    # A subproject brings the library alone: no tests, no program, no install rules.
    cmake --install "$work"/build --prefix "$work"/nothing > /dev/null
    [ ! -e "$work"/nothing ] || fail "a subproject installs files into its parent's prefix"
  done
  exit 0
fi

cp "$source"/examples/{c_program.c,fortran_program.f90,mpi_program.cpp} "$work"/project
cmake --install "$build" --prefix "$work"/installed > /dev/null
mv "$work"/installed "$work"/moved
prefix=$work/moved

# Nothing installed may point back into the trees it was made from.
grep -rIl -e "$source/" -e "$build" "$prefix" && fail "installed text names the source or build tree"
find "$prefix" -name '*.so*' -o -path '*/bin/*' -type f | while read -r file; do
  ! readelf -d "$file" | grep -E 'R(UN)?PATH' | grep -F "$build" || fail "$file looks in the build tree"
done

# Every library inside a binary comes with its licence.
licenses=$(dirname "$(find "$prefix" -path '*/doc/*' -name LICENSE)")/licenses
grep -qs 'Permission is hereby granted\|Redistribution' "$licenses"/* || fail "no licences in $licenses"
comes_with() {  # NAME, a word in its code, FILE
  [ -z "$(find "$prefix" -name "$3" -type f -exec grep -la "$2" {} +)" ] || [ -s "$licenses/$1.txt" ] ||
    fail "$3 contains $1, and $licenses lacks its licence"
}
comes_with Kokkos N6Kokkos trine_cpu.so
comes_with Highway hwy trine_cpu.so
comes_with CLI11 N3CLI trine
comes_with fmt N3fmt trine
comes_with nlohmann_json nlohmann trine
comes_with Chart.js Chart.js trine

for text in man1/trine.1 completions/trine; do
  [ -s "$(find "$prefix" -path "*/$text")" ] || fail "no $text, of the program's help"
done

# The package promises what a minor version promises, and so must the name that programs load.
version=$(sed -n 's/^set(PACKAGE_VERSION "\([0-9]*[.][0-9]*\)[.].*/\1/p' \
  "$(find "$prefix" -name trineConfigVersion.cmake)")
readelf -d "$(find "$prefix" -name libtrine.so)" | grep -F "[libtrine.so.$version]" > /dev/null ||
  fail "libtrine.so is not called libtrine.so.$version: programs of other versions would load it"

# Each build system is told one folder, that of the package file it reads.
package=$(dirname "$(find "$prefix" -name "$(
  if [ "$mode" = installed ]; then echo trineConfig.cmake; else echo trine.pc; fi)")")
export package PKG_CONFIG_PATH=$package OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
case $mode in
  installed) steps='cmake -S project -B build -Dtrine_DIR="$package" "$@"
cmake --build build
./build/c_program
if [ -n "$(find moved -name libtrine_fortran.so)" ]; then ./build/fortran_program; fi
if [ -n "$(find moved -name libtrine_mpi.so)" ]; then ./build/mpi_program; fi' ;;
  meson) steps='meson setup build project
meson compile -C build' ;;
  autotools) steps='autoreconf --install project
mkdir build
cd build
../project/configure --disable-dependency-tracking
make
cd ..
export LD_LIBRARY_PATH=$(pkg-config --variable=libdir trine)' ;;
esac
steps="set -e
$steps"'
./build/consumer
if [ -x moved/bin/trine ]; then moved/bin/trine info; fi'
cd "$work"
# Where the system lets us, the two trees are really gone while the consumer is built and run.
if unshare --map-root-user --mount true 2> /dev/null; then
  case $build in "$source"/*) hide=("$source") ;; *) hide=("$source" "$build") ;; esac
  for folder in "${hide[@]}"; do
    case $work in "$folder"/*) fail "$work lies in $folder, which is to be hidden" ;; esac
    steps="mount -t tmpfs none '$folder' && test -z \"\$(ls -A '$folder')\"
$steps"
  done
  unshare --map-root-user --mount bash -c "$steps" consumer "$@" | tee log
else
  echo "not run: hiding the trees (no mount namespaces here); the mapped files are checked instead"
  bash -c "$steps" consumer "$@" | tee log
fi
grep -q '^ran on' log || fail "the consumer ran nothing"
grep '^mapped' log | grep -v "$prefix/" && fail "a file came from elsewhere than $prefix"
grep -q "^mapped .*$prefix/.*/trine_" log || fail "no backend was loaded from $prefix"
exit 0
