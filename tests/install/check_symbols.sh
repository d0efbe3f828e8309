#!/usr/bin/env bash
# A backend or pack shows its entry and nothing else, so two of them can't meet by name; libtrine
# shows only namespace trine and C functions called trine_… (one of them the seam where tests fail
# allocations), all under one version; the BLAS shim a BLAS's names alone.
#
#   check_symbols.sh entry SYMBOL LIBRARY | library VERSION LIBRARY | blas NAMES LIBRARY
set -euo pipefail
shown() { nm -D --defined-only "$1" | awk '{ print $3 }' | grep -v -x -E '_init|_fini' | sort; }

if [ "$1" = entry ]; then
  symbols=$(shown "$3")
  echo "$3 shows: $symbols"
  [ "$symbols" = "$2" ]
elif [ "$1" = blas ]; then
  names_of() { grep -oE "$1\([^)]*" "$2" | cut -d'(' -f2; }
  spelled() {
    names_of SPELLING "$1" | while IFS=, read -r prefix suffix _; do
      names_of COMPUTED "$1" | sed "s/.*/$prefix&${suffix# }/"
    done
  }
  diff <({ names_of FORWARD "$2"; spelled "$2"; echo CBLAS_CallFromC; echo RowMajorStrg; } | sort) \
    <(shown "$3") && echo "$3 shows the names of $2 alone"
else
  others=$(nm -DC --defined-only "$3" | cut -d' ' -f3- \
    | grep -v -E "^(((typeinfo (name )?|vtable )for )?trine::.*|trine_[a-z0-9_]+)@@$2\$|^$2(@@$2)?\$" || true)
  echo "$3 shows, beyond its own: ${others:-nothing}"
  [ -z "$others" ]
  shown "$3" | grep 5trine > /dev/null  # not -q, which ends at the first: sort then ends by SIGPIPE
fi
