#!/usr/bin/env bash
# One visit to a machine with a GPU: check first, then measure, and leave everything in a folder.
#
#   bench/gpu-session.sh PACKAGE OUTPUT_FOLDER [STEP…]
#
# PACKAGE is what `./dev gpu-package` made. Steps, in this order unless named: info quick tests verify
# floors compare ladders counters tools. Each is bounded in time, so that a hang costs one step.
set -uo pipefail
package=$(cd "${1:?the package}" && pwd)
out=${2:?a folder for the results}
shift 2
mkdir -p "$out"
trine=$package/trine.sh
# NVIDIA's driver is no OpenCL platform until it is named to the loader.
if [ -d /etc/OpenCL/vendors ] && [ -w /etc/OpenCL/vendors ] && ! ls /etc/OpenCL/vendors/*nvidia* > /dev/null 2>&1; then
  echo libnvidia-opencl.so.1 > /etc/OpenCL/vendors/nvidia.icd
fi

step_info() { timeout 120 "$trine" info; }
step_quick() { timeout 240 "$trine" verify --quick --json "$out/quick.json"; }
step_verify() { timeout 560 "$trine" verify --json "$out/verify.json"; }
step_floors() { timeout 560 "$package/floors.sh" "$trine" "$out/floors"; }
step_compare() { timeout 300 "$trine" compare --peers --json "$out/compare.json"; }
step_tests() {
  local test
  for test in auto roofs; do TRINE_REQUIRE=cuda,opencl timeout 120 "$trine" exec "$package/tests/test_$test" || return; done
  # Queues of the program's own on the GPU, not on a CPU behind OpenCL.
  OCL_ICD_VENDORS=$(mktemp -d) OCL_ICD_FILENAMES=libnvidia-opencl.so.1 \
    TRINE_REQUIRE=opencl timeout 120 "$trine" exec "$package/tests/test_adopted_opencl"
}
step_tools() {
  timeout 300 compute-sanitizer --tool memcheck --error-exitcode 9 "$trine" verify --quick --device cuda:0
  echo "compute-sanitizer memcheck: exit $?"
}

step_ladders() { timeout 560 "$package/ladders.sh" "$trine" "$out/ladders"; }
step_counters() { timeout 400 "$package/counters.sh" "$trine"; }

steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(info quick tests verify floors compare ladders counters tools)
for step in "${steps[@]}"; do
  begin=$SECONDS
  echo "== $step"
  "step_$step" 2>&1 | tee "$out/$step.txt" | tail -"${LINES_SHOWN:-40}"
  echo "== $step: exit ${PIPESTATUS[0]}, $((SECONDS - begin)) s"
done
