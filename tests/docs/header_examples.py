#!/usr/bin/env python3
"""Makes one program of all examples in the public headers: each block between `/// ```cpp` (or c) and `/// ````
becomes a function, and main() runs them. An example that needs a device which isn't here is skipped; one that
begins with `// Takes minutes.` is compiled only. An example in C ends with `return 1` where it fails. Those of mpi.hpp
and mpi.h run between MPI_Init and MPI_Finalize.

    header_examples.py OUTPUT.cpp|OUTPUT.c HEADER…
"""
import pathlib
import re
import sys

EXAMPLE = r"^ */// ```{}\n((?: *///.*\n)*?) */// ```$"
START_C = """#include <stdio.h>
#include <trine/trine.h>

#pragma GCC diagnostic ignored "-Wunused-variable"
"""
RUN_C = """
struct Example { const char* name; int (*run)(void); };

static int run(struct Example example) {
  puts(example.name);
  const int failed = example.run();
  if (failed) printf("FAILED: %%s\\n", trine_last_error());
  return failed;
}

int main(void) {
  int failed = 0;
  const struct Example examples[] = {
    %s};
  for (size_t i = 0; i < sizeof examples / sizeof *examples; ++i) failed += run(examples[i]);
  return failed == 0 ? 0 : 1;
}
"""
START = """#include <trine/trine.hpp>

#include <array>
#include <cstdio>
#include <iostream>
#include <vector>

namespace {
// An example shows calls; it needn't use their results.
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
"""
RUN = """
struct Example { const char* name; void (*run)(); };

int run(const Example& example) try {
  std::printf("%%s\\n", example.name);
  example.run();
  std::cout.flush();
  return 0;
} catch (const trine::Error& error) {
  const bool absent = std::string_view(error.what()).starts_with("No device is called");
  std::printf("%%s: %%s\\n", absent ? "skipped" : "FAILED", error.what());
  return absent ? 0 : 1;
}
}  // namespace

int main() {
  int failed = 0;
  for (const Example& example : {
    %s}) failed += run(example);
  return failed == 0 ? 0 : 1;
}
"""


def main():
    output, headers = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    in_c = output.suffix == ".c"
    begin, end = ("static int {}(void) {{", "return 0;\n") if in_c else ("void {}() {{", "")
    functions, rows = [], []
    for header in headers:
        text = header.read_text()
        for match in re.finditer(EXAMPLE.format("c" if in_c else "cpp"), text, re.M):
            line = text.count("\n", 0, match.start()) + 2
            body = re.sub(r"^ */// ?", "", match[1], flags=re.M)
            name = f"{header.stem}_{line}"
            functions.append(f'{begin.format(name)}\n#line {line} "{header}"\n{body}{end}}}\n')
            if not body.startswith("// Takes minutes."):
                rows.append(f'{"" if in_c else "Example"}{{"{header.name}:{line}", {name}}}')
            elif in_c:
                functions.append(f"int (*const compiled_{name})(void) = {name};\n")
            else:
                functions.append(f"[[maybe_unused]] void (*const compiled_{name})() = {name};\n")
    if len(rows) < len(headers):
        sys.exit(f"only {len(rows)} examples found: the comments have another form than this script reads")
    start, run = (START_C, RUN_C) if in_c else (START, RUN)
    if headers[0].stem == "mpi":
        start = "".join(f"#include <trine/{header.name}>\n" for header in headers) + start
        null = "NULL" if in_c else "nullptr"
        run = run.replace("  int failed = 0;\n", f"  MPI_Init({null}, {null});\n  int failed = 0;\n")
        run = run.replace("  return failed ==", "  MPI_Finalize();\n  return failed ==")
    output.write_text(start + "\n".join(functions) + run % ",\n    ".join(rows))


if __name__ == "__main__":
    main()
