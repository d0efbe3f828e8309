#!/usr/bin/env bash
# Packs a build for a machine that has a GPU driver and little else: the trine program, libtrine, the
# backends, the test programs, and the shared libraries that such a machine lacks. Everything finds
# the rest relative to itself, so the folder runs from wherever it is copied.
#
#   cmake/gpu-package.sh BUILD PACKAGE        PACKAGE/README says how to run it
set -euo pipefail
build=$1 package=$2
limit=$((64 * 1024 * 1024))

rm -rf "$package"
cmake --install "$build" --prefix "$package" --strip > /dev/null
rm -rf "${package:?}"/include "$package"/lib/cmake "$package"/share
mkdir -p "$package"/tests "$package"/lib/fallback
# The tests that ask devices; those of the host's own logic have nothing to learn there.
for name in test_conformance test_oracle test_api; do
  find "$build"/bin "$build"/tests -type f -name "$name" -exec cp {} "$package"/tests/ \; 2> /dev/null
done
find "$package"/tests -type f -exec strip {} +

# What every Linux has (glibc) and what comes with the driver is not carried. The C++ runtime is, but
# used only where there is none: a driver may need a newer one than ours.
is_there='^(ld-linux.*|libc|libm|libdl|libpthread|librt|libresolv|libcuda|libnvidia.*|libOpenCL)\.so'
find "$package" -type f \( -name '*.so*' -o -perm -u+x \) | while read -r file; do
  ldd "$file" 2> /dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }'
done | sort -u | while read -r name path; do
  case $path in "$build"/* | "$package"/*) continue ;; esac
  [[ $name =~ $is_there ]] && continue
  case $name in libstdc++* | libgcc_s*) folder=lib/fallback ;; *) folder=lib ;; esac
  cp -L "$path" "$package/$folder/$name"
  strip --strip-unneeded "$package/$folder/$name"
done

cat > "$package"/README <<'TEXT'
trine.sh ARGS…           the trine program with the libraries carried here
trine.sh verify --quick  conformance on every device of this machine
tests/                   the test programs; run them through `trine.sh exec tests/NAME`
TEXT
cat > "$package"/trine.sh <<'TEXT'
#!/usr/bin/env bash
# Runs the packed trine program, or with `exec` another program, on the libraries carried beside it.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
ldd "$here"/lib/libtrine.so | grep -q 'libstdc++.* => /' || LD_LIBRARY_PATH+=:$here/lib/fallback
if [ "${1:-}" = exec ]; then shift; exec "$@"; fi
exec "$here"/bin/trine "$@"
TEXT
chmod +x "$package"/trine.sh

size=$(du -sb "$package" | cut -f1)
echo "gpu-package: $package, $((size / 1024)) KiB, newest glibc symbol needed: $(
  find "$package" -type f -exec objdump -T {} + 2> /dev/null | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)"
[ "$size" -lt $limit ] || { echo "gpu-package: larger than 64 MiB"; exit 1; }
