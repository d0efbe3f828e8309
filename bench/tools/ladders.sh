#!/usr/bin/env bash
# Every table of the source documents on the machine at hand, the three ladders with the peers (i64, f64
# and i32: reduce, transpose and gemm once more, of these dtypes), and the patterns of access: what
# docs/ladders.md reads from.
#
#   bench/tools/ladders.sh TRINE OUTPUT_FOLDER [DEVICES [PART…]]
#
# DEVICES: --device's list, all by default or where "" stands. PART…: 000 001 002 003 004 ladders
# i64 f64 i32 access.
# Writes PART.txt and PART.json. Exit code 1 when any output failed its verification.
set -uo pipefail
trine=${1:?the trine program}
out=${2:?a folder for the results}
devices=${3:-}
parts=("${@:4}")
[ ${#parts[@]} -gt 0 ] || parts=(000 001 002 003 004 ladders i64 f64 i32 access)
mkdir -p "$out"
failed=0
for part in "${parts[@]}"; do
  case $part in
    00?) arguments=(--like "$part" --min-time 0.02) ;;
    ladders) arguments=(--peers --min-time 0.1) ;;
    i64) arguments=(reduce --dtype i64 --peers --min-time 0.1) ;;
    f64) arguments=(transpose --dtype f64 --peers --min-time 0.1) ;;
    i32) arguments=(gemm --dtype i32 --peers --min-time 0.1) ;;
    access) arguments=(access --min-time 0.05) ;;
    *) echo "ladders: no part '$part'" >&2; exit 2 ;;
  esac
  {
    echo "\$ trine ladder ${arguments[*]}"
    "$trine" ladder --wide "${arguments[@]}" ${devices:+--device "$devices"} --json "$out/$part.json"
  } > "$out/$part.txt" 2>&1 || failed=1
  echo "ladders: $part done, exit so far $failed" >&2
done
exit $failed
