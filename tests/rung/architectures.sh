#!/usr/bin/env bash
# A kernel file is compiled for the architectures listed that it can have: what needs 90a for 90a where 90 or 90a is listed,
# and not at all where neither is.
# architectures.sh GENERATOR SOURCE-TREE WORK-FOLDER KERNEL-FILE…
set -euo pipefail
generator=$1 source=$2 work=$3
shift 3
files=()
for file; do
  if [ -e "$source/cuda/$file.cu" ] || [ -e "$source/backends/gpu/kernels/$file.kernel.h" ]; then files+=("$file"); fi
done

# expect LIST FILE CODE…: with that list, the file is compiled for these codes and no other.
expect() {
  local list=$1 file=$2 out="$work/$1" codes
  shift 2
  [ -d "$out" ] || "$generator" cuda "$source" "$out" "$list" "${files[@]}"
  codes=$(sed 's/.*code=\[\(.*\)\]/\1/' "$out/$file.options" | tr '\n' ' ')
  [ "$codes" = "${*:+$* }" ] || { echo "$file of $list is compiled for '$codes', not for '$*'"; exit 1; }
  if [ $# -gt 0 ]; then
    grep -q '^namespace specialization' "$out/$file.cu"
  elif [ -s "$out/$file.cu" ]; then
    echo "$file of $list has text, which nvcc would compile for an architecture of its own choice"
    exit 1
  fi
}

rm -rf "$work"
for file in gemm/three_tf32 gemm/residues gemm/warp_specialized gemm/tensor_specialized; do
  expect 80 $file
  expect 120 $file
  expect 90 $file sm_90a,compute_90a
  expect 80,90 $file sm_90a,compute_90a
  expect 80,90a-real $file sm_90a
  expect 90-virtual,90a-real $file sm_90a,compute_90a
done
expect 80 gemm/tensor_small
expect 80,90 gemm/tensor_small sm_90,compute_90
expect 120 gemm/tensor_small sm_120,compute_120
expect 80,90 gemm/naive sm_80,compute_80 sm_90,compute_90
