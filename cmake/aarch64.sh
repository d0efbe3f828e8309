#!/usr/bin/env bash
# Trine on aarch64: the library, the cpu backend and the tests of results, compiled here and run by
# qemu. Every golden digest is computed again there, and every case on every rung compared with it.
#
#   cmake/aarch64.sh REPOSITORY BUILD ROOT KOKKOS-SOURCE [CTEST ARGS…]
#
# ROOT keeps Debian's arm64 packages of the libraries, unpacked; the system's own packages stay as
# they are.
set -euo pipefail
repo=$1 build=$2 kokkos=$4
export TRINE_AARCH64_ROOT=$3
shift 4

if [ ! -d "$TRINE_AARCH64_ROOT" ]; then
  echo "aarch64: fetching the libraries into $TRINE_AARCH64_ROOT (once)"
  . "$repo"/cmake/private-apt.sh
  mkdir -p "$(dirname "$TRINE_AARCH64_ROOT")"
  work=$(mktemp -d "$TRINE_AARCH64_ROOT-XXXXXX")
  trap 'rm -rf "$work"' EXIT
  private_apt "$work"/apt 'deb [arch=arm64]' -o APT::Architecture=arm64 \
    -o APT::Architectures=arm64 -o Dir::State::status=/dev/null
  mkdir "$work"/packages "$work"/root
  (cd "$work"/packages && apt_get -qq download libhwy-dev libhwy1 libxxhash-dev libgtest-dev libgmock-dev \
    libmpfr-dev libmpfr6 libgmp-dev libgmp10)
  for package in "$work"/packages/*.deb; do dpkg-deb -x "$package" "$work"/root; done
  mv "$work"/root "$TRINE_AARCH64_ROOT"
fi

# A cross compiler doesn't look in such a folder by itself; gmp.h is there.
export CPLUS_INCLUDE_PATH=$TRINE_AARCH64_ROOT/usr/include/aarch64-linux-gnu

tests=(oracle conformance cpu_reduce cpu_transpose cpu_gemm cpu_backend)
mkdir -p "$build"
{
  cmake -S "$repo" -B "$build" -DCMAKE_TOOLCHAIN_FILE="$repo"/cmake/aarch64-linux-gnu.cmake \
    -DCMAKE_BUILD_TYPE=Release -DTRINE_WERROR=ON -DTRINE_CPU=ON -DTRINE_OPENCL=OFF \
    -DTRINE_CUDA=OFF -DTRINE_BENCH=OFF -DTRINE_EXAMPLES=OFF -DTRINE_KOKKOS_SOURCE="$kokkos"
  cmake --build "$build" --parallel "${TRINE_JOBS:-$(nproc)}" --target trine_runtime \
    write_goldens "${tests[@]/#/test_}"
} > "$build".log 2>&1 || { tail -40 "$build".log; exit 1; }
echo "aarch64: built in $build, for $(readelf -h "$build"/lib/libtrine.so | sed -n 's/ *Machine: *//p')"

# RUNPATH doesn't reach what a library itself needs: MPFR's GMP.
export QEMU_SET_ENV=LD_LIBRARY_PATH=$TRINE_AARCH64_ROOT/usr/lib/aarch64-linux-gnu
qemu-aarch64 -L /usr/aarch64-linux-gnu "$build"/bin/write_goldens "$build"/goldens.txt
cmp "$build"/goldens.txt "$repo"/conformance/goldens.txt
echo "aarch64: all $(wc -l < "$build"/goldens.txt) golden digests reproduced"
# Not the death tests: they start their program again, which the system takes for one of its own.
TRINE_REQUIRE=cpu ctest --test-dir "$build" --no-tests=error --output-on-failure \
  --parallel "${TRINE_JOBS:-$(nproc)}" -R "^($(IFS='|'; echo "${tests[*]}"))\." -E DeathTest "$@"
