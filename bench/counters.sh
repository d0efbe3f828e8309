#!/usr/bin/env bash
# What the hardware counts while each rung of the CUDA ladders runs once: the evidence behind
# docs/ladders.md. Needs Nsight Compute (ncu) and the right to read counters.
#
#   bench/counters.sh TRINE [DEVICE] > counters.txt
#
# Columns: time; warp instructions executed; threads active per instruction (32: no divergence);
# sectors per global load and store request (4: a warp of f32 reads whole lines); conflicts in
# shared memory per request of it; occupancy; share of DRAM's peak; registers a thread.
set -uo pipefail
trine=${1:?the trine program}
device=${2:-cuda:0}
metrics=(gpu__time_duration.sum smsp__inst_executed.sum
  smsp__thread_inst_executed_per_inst_executed.ratio
  l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio
  l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio
  l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
  smsp__inst_executed_op_shared.sum
  sm__warps_active.avg.pct_of_peak_sustained_active
  dram__throughput.avg.pct_of_peak_sustained_elapsed
  launch__registers_per_thread)

# count OPERATION KERNEL RUNG ARGS… : one line for the first launch of KERNEL
count() {
  local operation=$1 kernel=$2 rung=$3
  shift 3
  timeout 60 ncu --clock-control none --csv --print-units base --metrics "$(IFS=,; echo "${metrics[*]}")" \
    --kernel-name "$kernel" --launch-count 1 "$trine" ladder "$operation" --device "$device" \
    --rung "$rung" --min-time 0.001 "$@" 2>&1 | python3 -c '
import csv, sys
lines = sys.stdin.read().splitlines()
start = next((i for i, line in enumerate(lines) if line.startswith("\"ID\"")), None)
if start is None:
    print(f"{sys.argv[1]:55} no counters: {lines[-1] if lines else \"no output\"}")
    sys.exit()
v = {row["Metric Name"]: row["Metric Value"].replace(",", "") for row in csv.DictReader(lines[start:])}
def f(name):
    try: return float(v.get(name, "nan"))
    except ValueError: return float("nan")
m = sys.argv[2].split(",")
shared = f(m[6])
print(f"{sys.argv[1]:55} {f(m[0])/1e3:9.1f} us {f(m[1]):12.4g} {f(m[2]):6.2f} {f(m[3]):6.2f} {f(m[4]):6.2f} "
      f"{f(m[5])/shared if shared else 0:7.3f} {f(m[7]):5.1f}% {f(m[8]):5.1f}% {f(m[9]):4.0f}")
' "$operation $rung" "$(IFS=,; echo "${metrics[*]}")"
}

printf '%-55s %12s %12s %6s %6s %6s %7s %6s %6s %4s\n' rung time instr active ld/req st/req confl occup dram regs
for rung in interleaved_divergent interleaved_strided sequential first_add unroll_last_warp unroll_all cascade \
  shuffle vector_loads; do
  count reduce sum "$rung:threads=128" --dtype i32 --size 2^22
done
count reduce exact exact --dtype i32 --size 2^22
count reduce exact exact --dtype f32 --size 2^26
for rung in naive:block=32 naive:block=16 naive:block=8 shared:block=32 shared_padded:block=32 multi_row vector; do
  count transpose "${rung%%:*}" "$rung" --dtype f32 --size 4096
done
for rung in naive shared:tile=16 shared:tile=32 read_only ilp4 ilp16:tw=16,threads=16x16 ilp16:tw=16,threads=16x8 \
  ilp16:tw=16,threads=8x4 ilp16:tw=16,threads=4x4 volkov2008 register_tile tensor; do
  count gemm "${rung%%:*}" "$rung" --dtype f64 --size 1024
done
