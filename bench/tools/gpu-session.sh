#!/usr/bin/env bash
# One visit to a machine with a GPU: check first, then measure, and leave everything in a folder.
#
#   bench/tools/gpu-session.sh PACKAGE OUTPUT_FOLDER [STEP…]
#
# PACKAGE is what `./dev gpu-package` made. Steps, in this order unless named: those of `steps` at the end. First checks
# of what is newest, then what docs/performance.md has open, the most worth first; then everything. Each takes at
# most ten minutes, so that a hang costs one step. In the environment: DEVICES, --device's list for all that compares
# devices; RUNGS, the newest; PARTS of ladders.sh; SEEDS of calibrate --check; PLANTS, how many slowdowns are
# planted; CALLS, seconds of random calls; MPI, a folder with an Open MPI that was built with CUDA.
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
# PROGRAM ARGS… of the package, with its words before what it prints.
show() { echo "\$ $*"; timeout 110 "$trine" exec "$@"; }
# The same where NVIDIA's driver is the one OpenCL platform, and so opencl:0.
on_nvidia() { OCL_ICD_VENDORS=$(mktemp -d) OCL_ICD_FILENAMES=libnvidia-opencl.so.1 "$@"; }
# SECONDS TOOL ARGS… of verify
sanitize() {
  local seconds=$1 tool=$2
  shift 2
  timeout "$seconds" compute-sanitizer --tool "$tool" --error-exitcode 9 "$trine" verify --device cuda:0 "$@"
  echo "compute-sanitizer $tool, verify $*: exit $?"
}
has() { command -v "$1" || { echo "there is no $1 here"; return 127; }; }

step_info() { timeout 120 "$trine" info; }
# A rung's self-check runs at its first use, and so in each of these.
step_newest() {
  local rung
  for rung in ${RUNGS:-exact_columns exact_stream pile}; do timeout 120 "$trine" verify --device cuda:0 --rung "$rung"; done
  # A group's share is so long that its digits are carried in between, which no case is.
  show trine compare reduce --device cuda:0 --wide --min-time 0.001 --dtype f32 --axis each_column --size 36Mx4 --values wide \
    --rung exact_columns
  has compute-sanitizer || return
  for rung in ${RUNGS:-exact_columns exact_stream pile}; do
    sanitize 80 memcheck --rung "$rung" --quick
    sanitize 80 racecheck --rung "$rung" --quick
  done
}
step_cuda() { timeout 580 "$trine" verify --device cuda:0 --json "$out/cuda.json"; }
step_opencl() { on_nvidia timeout 300 "$trine" verify --quick --device opencl:0 --json "$out/opencl.json"; }

# What a call on host data takes, and how its lanes overlap (docs/decisions/calls-in-chunks.md).
step_overlap() {
  show trine transfers transpose --no-rates --wide --device cuda:0 --min-time 0.01 --size 4096 8192 16384
  show trine transfers gemm --no-rates --wide --device cuda:0 --min-time 0.01 --size 8192 16384
}
# What docs/performance.md has open, in graphs.
step_open() {
  show trine-graphs gemm --dtype f64 --size 64 256 640 --peers
  show trine-graphs gemm --dtype f64 --size 320 352 832 896 --peers --rung default \
    tensor_specialized:tile={16x32,32x32,32x64,48x64,48x96,64x64,96x64,96x96,128x56,128x64,96x112,128x96,128x112,128x128}
  show trine-graphs gemm --dtype f32 --size 8192x1x8192 --peers --rung few_columns:rows={8,16,32}
  show trine-graphs transpose --dtype f32 --batch 65536 --size 15 16 17 31
  show trine-graphs reduce --dtype f32 --axis each_column --size 4Mx4
}
step_squares() {
  on_nvidia show trine compare reduce --device opencl:0 --device cuda:0 --wide --min-time 0.05 --dtype f64 --map square \
    --size 2^22 2^26 --rung exact exact_stream
}
# Two GPUs: a rank each. MPI's own libraries come before those that the package carries.
ranks() {
  echo "\$ mpirun -n 2 trine ranks $* --device cuda:0,cuda:1 --resident --rounds 3 --min-time 0.3"
  timeout 90 "$trine" exec bash -c 'LD_LIBRARY_PATH=${MPI:+$MPI/lib:}$LD_LIBRARY_PATH exec mpirun -n 2 trine ranks "$@"' \
    ranks "$@" --device cuda:0,cuda:1 --resident --rounds 3 --min-time 0.3
}
step_direct() {
  local memory
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  [ -z "${MPI:-}" ] || export MPI OPAL_PREFIX=$MPI PATH=$MPI/bin:$PATH
  has mpirun || return
  for memory in staged direct; do
    export TRINE_MPI_DEVICE_MEMORY=$memory
    echo "== TRINE_MPI_DEVICE_MEMORY=$memory"
    ranks transpose --size 4096
    ranks gemm --size 4096
    ranks reduce --axis each_column --size 2^20,2^24
  done
}

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
step_counters() { timeout 400 "$package/counters.sh" "$trine"; }
step_report() { "$trine" report "$out"/*.json "$out"/*/0*.json "$out"/*/ladders.json --html "$out/report.html"; }
step_tests() {
  local test
  for test in auto roofs; do TRINE_REQUIRE=cuda,opencl timeout 120 "$trine" exec "$package/tests/test_$test" || return; done
  # Queues of the program's own on the GPU, not on a CPU behind OpenCL.
  TRINE_REQUIRE=opencl on_nvidia timeout 120 "$trine" exec "$package/tests/test_adopted_opencl"
}
step_tools() {
  local rung tool
  has compute-sanitizer || return
  sanitize 300 memcheck --quick
  for rung in unroll_last_warp unroll_all cascade shuffle vector_loads; do  # warps synchronize themselves
    for tool in racecheck synccheck; do sanitize 60 "$tool" --quick --rung "$rung"; done
  done
}

steps=("$@")
[ ${#steps[@]} -gt 0 ] \
  || steps=(info newest cuda opencl overlap open squares direct
    tests verify random floors compare ladders roof transfers calibrate counters tools report)
for step in "${steps[@]}"; do
  begin=$SECONDS
  echo "== $step"
  "step_$step" 2>&1 | tee "$out/$step.txt" | tail -"${LINES_SHOWN:-40}"
  echo "== $step: exit ${PIPESTATUS[0]}, $((SECONDS - begin)) s"
done
