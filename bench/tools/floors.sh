#!/usr/bin/env bash
# The figures the project holds itself to, measured in one run beside the vendors' libraries, and
# those that are printed so that nothing falls off a cliff unseen.
#
#   bench/tools/floors.sh TRINE OUTPUT_FOLDER [DEVICES [PART…]]
#
# DEVICES: --device's list, all by default or where "" stands; PART…: the names below, all by default.
# Writes floors.txt and one JSON file a part. Exit code 1 when any output failed its verification.
set -uo pipefail
trine=${1:?the trine program}
out=${2:?a folder for the results}
devices=${3:-}
parts=" ${*:4} "
mkdir -p "$out"
export TRINE_TUNING=off  # the built-in choices, not what this user tuned
failed=0
ran=0

# part NAME ARGS… : one `trine compare`, into floors.txt and NAME.json
part() {
  local name=$1
  shift
  [ -z "${parts// /}" ] || [[ $parts == *" $name "* ]] || return 0
  ran=$((ran + 1))
  echo "\$ trine compare $*"
  "$trine" compare "$@" ${devices:+--device "$devices"} --min-time 0.2 --json "$out/$name.json" || failed=1
  echo
}

{
  part sums           reduce --size 2^26 --dtype f32,f64 --peers
  part transposes     transpose --size 4096 --dtype f32 --peers
  part gemms          gemm --size 2048 --dtype f32,f64 --peers
  part sums_nasty     reduce --size 2^24 --dtype f32,f64 --values wide,cancel,mixed
  part sums_axes      reduce --size 4x4M,4kx4k,4Mx4 --dtype f32 --axis each_row,each_column
  part transposes_odd transpose --size 4095x4097,4x4M,4Mx4 --dtype f32,f64 --peers
  part gemms_odd      gemm --size 2047 --dtype f32,f64 --peers
  part gemms_layouts  gemm --size 1536 --dtype f32 --layout rrr,rcr,crr,ccr,rrc --peers
  part host_data      reduce --size 2^28 --dtype f32
  [ $ran -gt 0 ] && { [ $# -le 3 ] || [ $ran -eq $(($# - 3)) ]; } || {
    echo "floors: not every one of these is a part:$parts"
    failed=1
  }
} > >(tee "$out/floors.txt") 2>&1
wait $!
exit $failed
