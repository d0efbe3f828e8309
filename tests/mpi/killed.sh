#!/usr/bin/env bash
# One of three ranks is killed in the midst of a call; the others must end with it: killed.sh PROGRAM CALL MESSAGE
# That is MPI's affair (mpirun ends them), and Trine must not stand in its way. Red: one lives 10 s later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
now() { date +%s%N; }
running() { for pid in "$@"; do [ -e "/proc/$pid" ] && [[ $(< "/proc/$pid/stat") != *") Z "* ]] && echo "$pid"; done; }

"$(dirname "$0")/run.sh" 3 "$1" "$2" "$3" "$folder" > "$folder/output" 2>&1 &
job=$!
while [ ! -s "$folder/1" ] || [ -n "$(running "$(< "$folder/1")")" ]; do
  [ -n "$(running $job)" ] || break
  sleep 0.02
done
killed=$(now)
polls=0  # a job that somebody has stopped, as a shell may, takes no time
while [ -n "$(running $job $(cat "$folder"/[0-9]))" ]; do
  [[ $(cat /proc/$job/stat 2> /dev/null) == *") T "* ]] || polls=$((polls + 1))
  if [ $polls -gt 500 ]; then
    echo "$2: 10 s after rank 1 these still run: $(running $job $(cat "$folder"/[0-9]))"
    cat "$folder/output"
    kill -KILL $job $(cat "$folder"/[0-9]) 2> /dev/null || true
    exit 1
  fi
  sleep 0.02
done
taken=$((($(now) - killed) / 1000000))
status=0
wait $job || status=$?
[ $status = 77 ] && { cat "$folder/output"; exit 77; }
# 137 is what mpirun says of a rank that was killed; anything else is another end.
[ $status = 137 ] || { echo "$2: the job ended with status $status"; cat "$folder/output"; exit 1; }
echo "$2: rank 1 was killed in message $3; all had ended $taken ms later"
