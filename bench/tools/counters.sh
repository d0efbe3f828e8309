#!/usr/bin/env bash
# What the hardware counts while each rung of the CUDA ladders runs once: the evidence behind
# docs/ladders.md. Needs Nsight Compute (ncu) and the right to read counters.
#
#   bench/tools/counters.sh TRINE [DEVICE [PATTERN]] > counters.txt
#
# PATTERN: only the lines "OPERATION RUNG" that match it. A line takes about eight seconds.
#
# Columns: time; warp instructions executed; threads active per instruction (32: no divergence, branched or predicated);
# sectors per global load and store request (4: a warp of f32 reads whole lines); conflicts in
# shared memory in all; occupancy; share of DRAM's peak; registers a thread.
set -uo pipefail
trine=${1:?the trine program}
device=${2:-cuda:0} pattern=${3:-.}
metrics=(gpu__time_duration.sum smsp__inst_executed.sum
  smsp__thread_inst_executed_pred_on_per_inst_executed.ratio
  l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio
  l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio
  l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
  sm__warps_active.avg.pct_of_peak_sustained_active
  dram__throughput.avg.pct_of_peak_sustained_elapsed
  launch__registers_per_thread)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# array FILE TYPE SHAPE… : an .npy file of small numbers, the same in each 4096 bytes
array() {
  python3 - "$@" << 'PYTHON'
import array, math, sys
name, kind, *shape = sys.argv[1:]
element = {"i4": "i", "f4": "f", "f8": "d"}[kind]
page = array.array(element, [k % 97 - 48 for k in range(4096)]).tobytes()
header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({', '.join(shape)},), }}"
header += " " * (-(len(header) + 11) % 64) + "\n"
size = math.prod(map(int, shape)) * array.array(element).itemsize
with open(name, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
    file.write(page * (size // len(page)))
PYTHON
}

# count OPERATION KERNEL RUNG ARRAYS ARGS… : one line for the longest of the first launches of KERNEL, since a
# row that checks itself (tensor) launches it on a few elements first
count() {
  local operation=$1 kernel=$2 rung=$3 arrays=$4 paths
  shift 4
  [[ "$operation $rung" =~ $pattern ]] || return
  IFS=, read -ra paths <<< "$arrays"
  paths=("${paths[@]/#/$scratch/}")
  timeout -k 5 60 ncu --clock-control none --csv --print-units base --metrics "$(IFS=,; echo "${metrics[*]}")" \
    --kernel-name "regex:^${kernel}(__.*)?\$" --launch-count 8 "$trine" run "$operation" --device "$device" --rung "$rung" \
    --input "${paths[@]}" --output "$scratch/result.npy" "$@" > "$scratch/ncu.csv" 2>&1
  python3 - "$scratch/ncu.csv" "$operation $rung" "${metrics[@]}" << 'PYTHON'
import csv, sys
path, title, *metrics = sys.argv[1:]
with open(path) as file:
    lines = file.read().splitlines()
start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
if start is None:
    print(f"{title:55} no counters: {lines[-1] if lines else 'no output'}")
    sys.exit()
launches = {}
for row in csv.DictReader(lines[start:]):
    launches.setdefault(row["ID"], {})[row["Metric Name"]] = row["Metric Value"].replace(",", "")
def value(launch, metric):
    try: return float(launch.get(metric, "nan"))
    except ValueError: return float("nan")
longest = max(launches.values(), key=lambda launch: value(launch, metrics[0]))
time, instr, active, load, store, conflicts, occupancy, dram, registers = (value(longest, m) for m in metrics)
print(f"{title:55} {time / 1e3:9.1f} us {instr:12.4g} {active:6.2f} {load:6.2f} {store:6.2f} "
      f"{conflicts:9.3g} {occupancy:5.1f}% {dram:5.1f}% {registers:4.0f}", flush=True)
PYTHON
}

array "$scratch/int.npy" i4 $((1 << 22))
array "$scratch/float.npy" f4 $((1 << 26))
array "$scratch/square.npy" f4 4096 4096
array "$scratch/matrix.npy" f8 1024 1024
printf '%-55s %12s %12s %6s %6s %6s %9s %6s %6s %4s\n' rung time instr active ld/req st/req confl occup dram regs
for rung in interleaved_divergent interleaved_strided sequential first_add unroll_last_warp unroll_all cascade \
  shuffle vector_loads; do
  count reduce sum "$rung:threads=128" int.npy
done
count reduce exact exact int.npy
count reduce exact exact float.npy
for rung in naive:block=32 naive:block=16 naive:block=8 shared:block=32 shared_padded:block=32 multi_row vector; do
  count transpose "${rung%%:*}" "$rung" square.npy
done
for rung in naive shared:tile=16 shared:tile=32 read_only ilp4 ilp16:tw=16,threads=16x16 ilp16:tw=16,threads=16x8 \
  ilp16:tw=16,threads=8x4 ilp16:tw=16,threads=4x4 volkov2008 register_tile tensor; do
  kernel=${rung%%:*}
  count gemm "${kernel/read_only/read_only_path}" "$rung" matrix.npy,matrix.npy
done
