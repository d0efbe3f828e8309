#!/usr/bin/env bash
# Holds `trine gate` and the printed intervals to their bars on the machine at hand, which should be quiet:
# repeated runs of one build, and a slowdown of 10 % planted in a rung pack.
#
#   bench/gate-proof.sh BUILD OUTPUT_FOLDER [REPEATS [PLANTS [ROUNDS [MIN_TIME]]]]
#
# BUILD: a build folder with its tests, as build/release. REPEATS (20): pairs of runs of the default set, of
# which at most one in twenty may exit 1; PLANTS (10): pairs of which nine in ten must; ROUNDS (15) a run;
# MIN_TIME (0.05): compare's --min-time. With these it takes two and a half hours.
# Exit code 1 when a bar is missed.
set -uo pipefail
build=${1:?a build folder}
out=${2:?a folder for the results}
repeats=${3:-20} plants=${4:-10} rounds=${5:-15} min_time=${6:-0.05}
trine=$build/bin/trine
packs=$build/tests/liars/steady
mkdir -p "$out"
missed=0

# measure FILE ARGS… : a run whose results must be right
measure() {
  local file=$1
  shift
  "$trine" compare --rounds "$rounds" --min-time "$min_time" --json "$file" "$@" > "${file%.json}.txt" 2>&1 \
    || { echo "gate-proof: the run for $file failed"; tail -3 "${file%.json}.txt"; exit 2; }
}
# verdict BASE NEW : the gate's exit code, its text beside NEW
verdict() {
  "$trine" gate "$1" "$2" > "${2%.json}.gate.txt" 2>&1
}

measure "$out/run0.json"
alarms=0 ambiguous=0 apart=0
for ((i = 1; i <= repeats; ++i)); do
  measure "$out/run$i.json"
  verdict "$out/run$((i - 1)).json" "$out/run$i.json"
  code=$?
  [ $code -ne 1 ] || alarms=$((alarms + 1))
  [ $code -ne 3 ] || ambiguous=$((ambiguous + 1))
  python3 "$(dirname "$0")/repeatability.py" "$out/run$((i - 1)).json" "$out/run$i.json" || apart=$((apart + 1))
done
echo "repeated runs: $alarms of $repeats exit 1, $ambiguous exit 3; in $apart under 90 % of cases agree"
[ $((alarms * 20)) -le "$repeats" ] && [ $((apart * 2)) -le "$repeats" ] || missed=1

found=0
set -- transpose gemm --device cpu --rung steady --size 128,512 --dtype f32
for ((i = 1; i <= plants; ++i)); do
  TRINE_BACKEND_PATH=$packs/0 measure "$out/even$i.json" "$@"
  TRINE_BACKEND_PATH=$packs/10 measure "$out/slow$i.json" "$@"
  verdict "$out/even$i.json" "$out/slow$i.json"
  [ $? -ne 1 ] || found=$((found + 1))
done
echo "planted slowdowns: $found of $plants found"
[ $((found * 10)) -ge $((plants * 9)) ] || missed=1
exit $missed
