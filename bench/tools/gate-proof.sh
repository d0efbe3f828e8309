#!/usr/bin/env bash
# Holds `trine gate` and the printed intervals to their bars on the machine at hand:
# repeated runs of one build, and a slowdown of 10 % planted in a rung pack.
#
#   bench/tools/gate-proof.sh BUILD OUTPUT_FOLDER [RUNS [PLANTS [ROUNDS [MIN_TIME]]]]
#
# BUILD: a build folder with its tests, as build/release. RUNS (7) of the default set, in turns, each held against
# each other: of those pairs (21) at most one in twenty may exit 1 (how many exit 3 it says), and nine in ten figures
# must lie within another run's printed interval; PLANTS (10): pairs of runs in turns, of which nine in ten must exit 1;
# ROUNDS (15) a run of the default set; MIN_TIME (0.02): its --min-time. Exit code 1 when a bar is missed.
set -uo pipefail
build=$(cd "${1:?a build folder}" && pwd) || exit 2
out=${2:?a folder for the results}
runs=${3:-7} plants=${4:-10} rounds=${5:-15} min_time=${6:-0.02}
trine=$build/bin/trine
packs=$build/tests/cheating_backends/steady
mkdir -p "$out"
missed=0

# in_turns "FILE:PACKS…" ARGS… : runs side by side, one for each FILE, whose results must be right
in_turns() {
  local files=$1 jobs=() file
  shift
  # shellcheck disable=SC2086
  set -- compare --interleave "$out/turns" --processes "$(set -- $files; echo $#)" "$@"
  for file in $files; do
    TRINE_BACKEND_PATH=${file#*:} "${pinned[@]}" "$trine" "$@" --json "$out/${file%%:*}.json" > "$out/${file%%:*}.txt" 2>&1 &
    jobs+=($!)
  done
  for file in $files; do
    wait "${jobs[0]}" || { echo "gate-proof: ${file%%:*}:"; tail -3 "$out/${file%%:*}.txt"; kill "${jobs[@]:1}" 2> /dev/null; exit 2; }
    jobs=("${jobs[@]:1}")
  done
}
# verdict FIRST SECOND: the gate's exit code
verdict() {
  "$trine" gate "$out/$1.json" "$out/$2.json" > "$out/$1-$2.txt" 2>&1
  local code=$?
  [ $code -ne 2 ] || { echo "gate-proof: the gate refused $1 and $2"; tail -1 "$out/$1-$2.txt"; exit 2; }
  return $code
}

# One thread is held to one core: cores have neighbours of their own.
pinned=(taskset -c 0)
found=0
for ((i = 1; i <= plants; ++i)); do
  in_turns "even$i:$packs/0 slow$i:$packs/10" \
    transpose --device cpu --rung steady --size 256 --dtype f32 --rounds 100 --min-time 0.03
  verdict "even$i" "slow$i"
  [ $? -ne 1 ] || found=$((found + 1))
done
if [ "$plants" -gt 0 ]; then
  echo "planted slowdowns: $found of $plants found"
  [ $((found * 10)) -ge $((plants * 9)) ] || missed=1
fi

pinned=() files=
for ((i = 1; i <= runs; ++i)); do files+=" run$i:"; done
[ "$runs" -lt 2 ] || in_turns "$files" --rounds "$rounds" --min-time "$min_time"
pairs=0 alarms=0 ambiguous=0 reports=()
for ((i = 1; i <= runs; ++i)); do reports+=("$out/run$i.json"); done
for ((j = 2; j <= runs; ++j)); do
  for ((i = 1; i < j; ++i)); do
    pairs=$((pairs + 1))
    verdict "run$i" "run$j"
    case $? in
      1) alarms=$((alarms + 1)) ;;
      3) ambiguous=$((ambiguous + 1)) ;;
    esac
  done
done
if [ "$pairs" -gt 0 ]; then
  echo "repeated runs of one build: of $pairs pairs $alarms exit 1, $ambiguous exit 3, $((pairs - alarms - ambiguous)) exit 0"
  [ $((alarms * 20)) -le "$pairs" ] || missed=1
  python3 "$(dirname "$0")/repeatability.py" "${reports[@]}" || missed=1
fi
exit $missed
