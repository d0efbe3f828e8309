#!/usr/bin/env bash
# Holds `trine gate` and the printed intervals to their bars on the machine at hand, which should be quiet:
# repeated runs of one build, and a slowdown of 10 % planted in a rung pack.
#
#   bench/gate-proof.sh BUILD OUTPUT_FOLDER [RUNS [PLANTS [ROUNDS [MIN_TIME]]]]
#
# BUILD: a build folder with its tests, as build/release. RUNS (7) of the default set, each held against each
# later one: of those pairs (21) at most one in twenty may exit 1; PLANTS (10): eight short runs a side, of which
# nine in ten must; ROUNDS (15) a run of the default set; MIN_TIME (0.02): compare's --min-time. Exit code 1 when
# a bar is missed.
set -uo pipefail
build=$(cd "${1:?a build folder}" && pwd) || exit 2
out=${2:?a folder for the results}
runs=${3:-7} plants=${4:-10} rounds=${5:-15} min_time=${6:-0.02}
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
pairs=0 alarms=0 ambiguous=0 apart=0
for ((i = 1; i <= runs; ++i)); do
  measure "$out/run$i.json"
  for ((j = 1; j < i; ++j)); do
    pairs=$((pairs + 1))
    "$trine" gate "$out/run$j.json" "$out/run$i.json" > "$out/pair$j-$i.txt" 2>&1
    case $? in
      0) ;;
      1) alarms=$((alarms + 1)) ;;
      3) ambiguous=$((ambiguous + 1)) ;;
      *) echo "gate-proof: the gate refused runs $j and $i"; exit 2 ;;
    esac
    python3 "$(dirname "$0")/repeatability.py" "$out/run$j.json" "$out/run$i.json" || apart=$((apart + 1))
  done
done
echo "repeated runs: $alarms of $pairs pairs exit 1, $ambiguous exit 3; in $apart under 90 % of cases agree"
[ $((alarms * 20)) -le "$pairs" ] && [ $((apart * 2)) -le "$pairs" ] || missed=1

# Short calls have a luck of each process, so eight of a side, in turns, are a run.
found=0
set -- transpose --device cpu --rung steady --size 128,256 --dtype f32
rounds=3
for ((i = 1; i <= plants; ++i)); do
  even=() slow=()
  for p in 1 2 3 4 5 6 7 8; do
    TRINE_BACKEND_PATH=$packs/0 measure "$out/even$i-$p.json" "$@"
    TRINE_BACKEND_PATH=$packs/10 measure "$out/slow$i-$p.json" "$@"
    even+=("$out/even$i-$p.json") slow+=("$out/slow$i-$p.json")
  done
  "$trine" gate "$(IFS=,; echo "${even[*]}")" "$(IFS=,; echo "${slow[*]}")" > "$out/plant$i.txt" 2>&1
  [ $? -ne 1 ] || found=$((found + 1))
done
echo "planted slowdowns: $found of $plants found"
[ $((found * 10)) -ge $((plants * 9)) ] || missed=1
exit $missed
