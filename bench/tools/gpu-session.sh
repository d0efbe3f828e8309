#!/usr/bin/env bash
# One visit to a machine with a GPU: check first, then measure, and leave everything in a folder.
#
#   bench/tools/gpu-session.sh PACKAGE OUTPUT_FOLDER [STEP…]
#
# PACKAGE is what `./dev gpu-package` made. Steps, in this order unless named: info tests verify random floors compare
# ladders roof transfers calibrate plants counters tools report. Each is bounded in time, so that a hang costs
# one step. In the environment: DEVICES, --device's list for all that compares devices; PARTS of ladders.sh;
# SEEDS of calibrate --check; PLANTS, how many slowdowns are planted; CALLS, seconds of random calls.
set -uo pipefail
shopt -s nullglob
package=$(cd "${1:?the package}" && pwd)
mkdir -p "${2:?a folder for the results}"
out=$(cd "$2" && pwd)
shift 2
trine=$package/trine.sh
devices=${DEVICES:-}
export TRINE_DATA_DIR=$out/data  # this visit's calibration and tuning, not the user's
# NVIDIA's driver is no OpenCL platform until it is named to the loader.
if [ -d /etc/OpenCL/vendors ] && [ -w /etc/OpenCL/vendors ] && ! ls /etc/OpenCL/vendors/*nvidia* > /dev/null 2>&1; then
  echo libnvidia-opencl.so.1 > /etc/OpenCL/vendors/nvidia.icd
fi
on() { echo ${devices:+--device "$devices"}; }

step_info() { timeout 120 "$trine" info; }
step_quick() { timeout 240 "$trine" verify --quick $(on) --json "$out/quick.json"; }
step_verify() { timeout 580 "$trine" verify $(on) --json "$out/verify.json"; }
step_random() {
  timeout $((${CALLS:-150} + 90)) "$trine" verify --random "${CALLS:-150}" --seed "${SEED:-1}" $(on) --json "$out/random.json"
}
step_floors() { timeout 560 "$package/floors.sh" "$trine" "$out/floors" "$devices"; }
step_compare() { timeout 300 "$trine" compare --wide --peers $(on) --json "$out/compare.json"; }
step_ladders() { timeout 580 "$package/ladders.sh" "$trine" "$out/ladders" "$devices" ${PARTS:-}; }
step_roof() { timeout 300 "$trine" roof --wide $(on) --json "$out/roof.json"; }
step_transfers() { timeout 200 "$trine" transfers --wide --overlap-cpu $(on) --json "$out/transfers.json"; }
step_calibrate() {
  local seed
  timeout 450 "$trine" calibrate $(on) --json "$out/calibrate.json" || return
  for seed in ${SEEDS:-1 2 3}; do timeout 120 "$trine" calibrate --check --seed "$seed" $(on); done
  timeout 120 "$trine" calibrate --check --repeats 100 $(on)  # the link no longer decides
}
step_plants() { timeout 590 "$trine" exec "$package/gate-proof.sh" "$package" "$out/plants" 0 "${PLANTS:-10}"; }
step_counters() { timeout 400 "$package/counters.sh" "$trine"; }
step_report() { "$trine" report "$out"/*.json "$out"/*/0*.json "$out"/*/ladders.json --html "$out/report.html"; }
step_tests() {
  local test
  for test in auto roofs; do TRINE_REQUIRE=cuda,opencl timeout 120 "$trine" exec "$package/tests/test_$test" || return; done
  # Queues of the program's own on the GPU, not on a CPU behind OpenCL.
  OCL_ICD_VENDORS=$(mktemp -d) OCL_ICD_FILENAMES=libnvidia-opencl.so.1 \
    TRINE_REQUIRE=opencl timeout 120 "$trine" exec "$package/tests/test_adopted_opencl"
}
step_tools() {
  local rung tool
  command -v compute-sanitizer || { echo "there is no compute-sanitizer here"; return 127; }
  timeout 300 compute-sanitizer --tool memcheck --error-exitcode 9 "$trine" verify --quick --device cuda:0
  echo "compute-sanitizer memcheck: exit $?"
  for rung in unroll_last_warp unroll_all cascade shuffle vector_loads; do  # warps synchronize themselves
    for tool in racecheck synccheck; do
      timeout 60 compute-sanitizer --tool "$tool" --error-exitcode 9 "$trine" verify --quick --rung "$rung" --device cuda:0
      echo "compute-sanitizer $tool, $rung: exit $?"
    done
  done
}

steps=("$@")
[ ${#steps[@]} -gt 0 ] \
  || steps=(info tests verify random floors compare ladders roof transfers calibrate plants counters tools report)
for step in "${steps[@]}"; do
  begin=$SECONDS
  echo "== $step"
  "step_$step" 2>&1 | tee "$out/$step.txt" | tail -"${LINES_SHOWN:-40}"
  echo "== $step: exit ${PIPESTATUS[0]}, $((SECONDS - begin)) s"
done
