#!/usr/bin/env bash
# Makes the Debian packages of this repository's tracked files, source and binary, and asks lintian.
# The Kokkos that the cpu backend hides becomes a component of the source package, so that it builds
# without a network.
#
#   cmake/package.sh REPOSITORY FOLDER KOKKOS-SOURCE [CHROOT]
#
# CHROOT: a bare Debian 12 to install them in and run debian/tests (root only); made where it is missing.
set -euo pipefail
repo=$1 folder=$2 kokkos=$3 chroot=${4:-}
version=$(dpkg-parsechangelog -l "$repo"/debian/changelog -S Version)
version=${version%-*}
tree=$folder/trine-$version

rm -rf "$folder"
mkdir -p "$tree"
changes=$(git -C "$repo" stash create)  # a commit of what isn't committed yet, or nothing
archive() { git -C "$repo" archive "${changes:-HEAD}" "$@"; }
archive --prefix="trine-$version/" ':!debian' | gzip -n > "$folder/trine_$version.orig.tar.gz"
# Without what is built only for Kokkos itself.
tar -C "$kokkos" --exclude-vcs --exclude=unit_tests --exclude=performance_tests --exclude=perf_test \
  --exclude=./doc --exclude=./benchmarks --exclude=./scripts --sort=name \
  --owner=0 --group=0 --transform='s,^\.,kokkos,' -czf "$folder/trine_$version.orig-kokkos.tar.gz" .
tar -C "$folder" -xf "$folder/trine_$version.orig.tar.gz"
tar -C "$tree" -xf "$folder/trine_$version.orig-kokkos.tar.gz"
archive debian | tar -C "$tree" -x

cd "$tree"
# debhelper gives the build a home of its own, where no compiler cache would last.
command -v ccache > /dev/null && export CCACHE_DIR=${CCACHE_DIR:-$(ccache --get-config cache_dir)}
DEB_BUILD_OPTIONS="parallel=${TRINE_JOBS:-$(nproc)} ${DEB_BUILD_OPTIONS:-}" \
  dpkg-buildpackage -us -uc > "$folder"/log 2>&1 || { tail -40 "$folder"/log >&2; exit 1; }
cd "$folder"
lintian --allow-root --display-info --pedantic --fail-on error,warning,info,pedantic trine_*.changes
ls -sh ./*.deb

if [ -n "$chroot" ]; then
  . "$repo"/cmake/bare-debian.sh
  in_own_namespace bash -euc '. "$1"; bare_debian "$2"; autopkgtest "$3"/trine_*.changes -- chroot "$2"' \
    package "$repo"/cmake/bare-debian.sh "$chroot" "$folder"
fi
