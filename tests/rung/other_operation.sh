#!/usr/bin/env bash
# A kernel file may include a header of another operation by its folder, "gemm/copy.h", in whose own
# includes the neighbours are found; a header that isn't there is an error.
# other_operation.sh GENERATOR SOURCE-TREE WORK-FOLDER KERNEL-FILE…
set -euo pipefail
generator=$1 source=$2 work=$3
shift 3
rm -rf "$work"
mkdir -p "$work/backends"
cp -r "$source/cuda" "$source/opencl" "$work"
cp -r "$source/backends/gpu" "$work/backends"
files=()
for file; do
  if [ -e "$work/opencl/$file.cl" ] || [ -e "$work/backends/gpu/kernels/$file.kernel.h" ]; then
    files+=("$file")
  fi
done
header=$work/backends/gpu/kernels/transpose/problem.h

sed -i '1i #include "gemm/panel.h"' "$header"
"$generator" opencl "$work" "$work/out" "" "${files[@]}"
for pasted in gemm/panel.h gemm/copy.h transpose/pack.h; do
  grep -q "^#line 1 \".*$pasted\"" "$work/out/transpose/vector.cl"
done

sed -i '1s/panel/nothing/' "$header"
if "$generator" opencl "$work" "$work/out" "" "${files[@]}" 2> "$work/error"; then
  echo "a header that isn't there was found"
  exit 1
fi
grep 'problem.h includes "gemm/nothing.h", which is in no folder' "$work/error"
