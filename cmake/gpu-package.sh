#!/usr/bin/env bash
# Packs a build for a machine that has a GPU driver and little else: the trine program, libtrine, the
# backends, the test programs, and the shared libraries that such a machine lacks. Everything finds
# the rest relative to itself, so the folder runs from wherever it is copied.
#
#   cmake/gpu-package.sh BUILD PACKAGE        PACKAGE/README says how to run it
set -euo pipefail
build=$1 package=$2

rm -rf "$package"
cmake --install "$build" --prefix "$package" --strip > /dev/null
rm -rf "${package:?}"/include "$package"/lib/cmake "$package"/share
mkdir -p "$package"/tests "$package"/lib/fallback
# The tests that ask devices; those of the host's own logic have nothing to learn there.
for test in conformance adopted_opencl auto capture roofs; do
  cp "$build/bin/test_$test" "$package"/tests/
done
cp "$build/bin/placement_check" "$package"/tests/
find "$package"/tests "$package"/bin -type f -exec strip {} +

# Not carried: what every Linux has (glibc), what comes with the driver, and what is huge: the toolkit's
# libraries and OpenBLAS, a peer that is absent where the machine has none. Carried, but used only where
# the machine has none of its own: the runtimes of the compiler (a driver may need newer ones than ours). The other peers: CLBlast is carried,
# CUB is compiled in, cuBLAS is the toolkit's.
is_there='^(ld-linux.*|libc|libm|libdl|libpthread|librt|libresolv|libcuda|libnvidia.*|libOpenCL|libcublas.*|libcudart|libopenblas[^.]*|libgfortran|libquadmath)\.so'
is_fallback='^(libstdc\+\+|libgcc_s|libgomp)\.so'
find "$package" -type f \( -name '*.so*' -o -perm -u+x \) | while read -r file; do
  ldd "$file" 2> /dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }'
done | sort -u | while read -r name path; do
  case $path in "$build"/* | "$package"/*) continue ;; esac
  [[ $name =~ $is_there ]] && continue
  folder=lib
  [[ $name =~ $is_fallback ]] && folder=lib/fallback
  cp -L "$path" "$package/$folder/$name"
  strip --strip-unneeded "$package/$folder/$name"
done

cat > "$package"/README <<'TEXT'
./trine.sh ARGS…           the trine program, on the libraries carried here
./trine.sh verify --quick  conformance on every device of this machine
./trine.sh compare --graph --peers   kernels alone, beside cuBLAS and CUB
./trine.sh exec PROGRAM …  another program on them: tests/test_…
TEXT
cat > "$package"/trine.sh <<'TEXT'
#!/usr/bin/env bash
# Runs the packed trine program, or with `exec` another program, on the libraries carried beside it.
# Those of a CUDA toolkit come last, and the fallbacks one by one where the machine has none.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
for library in "$here"/lib/fallback/*; do
  if ! ldconfig -p | grep "^\s$(basename "$library") " > /dev/null; then
    mkdir -p "$here"/lib/used && cp -n "$library" "$here"/lib/used/
  fi
done
toolkit=${CUDA_HOME:-/usr/local/cuda}/lib64
export LD_LIBRARY_PATH=$here/lib:$here/lib/used${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}:$toolkit
export PATH=$here/bin:$PATH
if [ "${1:-}" = exec ]; then shift; exec "$@"; fi
exec "$here"/bin/trine "$@"
TEXT
chmod +x "$package"/trine.sh

echo "gpu-package: $package, $(du -sk --apparent-size "$package" | cut -f1) KiB, newest glibc symbol needed: $(
  find "$package" -type f -exec objdump -T {} + 2> /dev/null | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)"
