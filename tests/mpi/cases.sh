#!/usr/bin/env bash
# How many cases of trine_mpi have the bits of one device: cases.sh FOLDER, in which the programs have left their
# numbers (main.cpp). Exit 1: fewer than 2,000, or none on some number of ranks. 77: no mpirun here.
set -euo pipefail
command -v mpirun > /dev/null || { echo "not run: no mpirun here"; exit 77; }
all=0 text=""
for ranks in 1 2 3 4 7 8; do
  here=$({ cat "$1"/*."$ranks" 2> /dev/null || true; } | awk '{n += $1} END {print n + 0}')
  [ "$here" -gt 0 ] || { echo "trine_mpi: no case has passed on $ranks ranks; ctest -R mpi runs them"; exit 1; }
  all=$((all + here)) text+="${text:+, }$here on $ranks"
done
echo "trine_mpi: $all cases have the bits of one device, by ranks: $text"
[ "$all" -ge 2000 ]
