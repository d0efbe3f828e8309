#!/usr/bin/env bash
# Runs a test of the Python package where package.sh has installed it, out of sight of the checkout.
#
#   run.sh FOLDER VENV TEST [ARGS…]
set -euo pipefail
folder=$1 venv=$2 test=$3
shift 3
if [ ! -e "$folder/ready" ]; then
  cat "$folder/not-run" 2> /dev/null || echo "not run: test python.package hasn't made the package"
  exit 77
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$folder/$venv"
unset PYTHONPATH TRINE_BACKEND_PATH
exec bin/python "$(cd "$here" && realpath "$test")" "$@"
