#!/usr/bin/env python3
"""Makes one program of all examples in the public headers: each block between `/// ```cpp` and `/// ```` becomes
a function, and main() runs them. An example that needs a device which isn't here is skipped; one that begins with
`// Takes minutes.` is compiled only.

    header_examples.py OUTPUT.cpp HEADER…
"""
import pathlib
import re
import sys

EXAMPLE = re.compile(r"^ */// ```cpp\n((?: *///.*\n)*?) */// ```$", re.M)
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
  std::printf("%s\\n", example.name);
  example.run();
  std::cout.flush();
  return 0;
} catch (const trine::Error& error) {
  const bool absent = std::string_view(error.what()).starts_with("No device is called");
  std::printf("%s: %s\\n", absent ? "skipped" : "FAILED", error.what());
  return absent ? 0 : 1;
}
"""


def main():
    output, headers = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    functions, rows = [], []
    for header in headers:
        text = header.read_text()
        for match in EXAMPLE.finditer(text):
            line = text.count("\n", 0, match.start()) + 2
            body = re.sub(r"^ */// ?", "", match[1], flags=re.M)
            name = f"{header.stem}_{line}"
            functions.append(f'void {name}() {{\n#line {line} "{header}"\n{body}}}\n')
            if not body.startswith("// Takes minutes."):
                rows.append(f'{{"{header.name}:{line}", {name}}}')
            else:
                functions.append(f"[[maybe_unused]] void (*const compiled_{name})() = {name};\n")
    if len(rows) < 20:
        sys.exit(f"only {len(rows)} examples found: the comments have another form than this script reads")
    output.write_text(START + "\n".join(functions) + RUN + "}  // namespace\n\nint main() {\n"
                      "  int failed = 0;\n  for (const Example& example : {" +
                      ",\n    ".join(f"Example{row}" for row in rows) +
                      "}) failed += run(example);\n  return failed == 0 ? 0 : 1;\n}\n")


if __name__ == "__main__":
    main()
