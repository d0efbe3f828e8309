#!/usr/bin/env python3
"""Holds the pages to the tree: every excerpt captioned <!-- from: PATH --> stands in that file to the
letter, every relative link leads somewhere, to a heading too, every `folder/file` in backticks exists, also
a `file.cpp` without its folder, and every command `./dev NAME` is one that ./dev has and explains.
`--self-test` shows that it can fail.

    check_docs.py TREE [--self-test]
"""
import os
import pathlib
import re
import sys

EXCERPT = re.compile(r"<!-- from: (\S+) -->\n```\w*\n(.*?)```", re.S)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)
WORD = re.compile(r"`([^`\n]+)`")
FOLDERS = ("backends/", "bench/", "cmake/", "core/", "cpu/", "cuda/", "docs/", "examples/", "fortran/", "mpi/", "opencl/", "oracle/", "conformance/",
           "tests/", ".ci/")
FILE = re.compile(r"\w[\w./-]*\.(h|hpp|c|cpp|cl|cu|cuh|py|sh|cmake|txt)")
OTHERS = ("CL/cl.h", "cuda.h", "compare.py", "my/CMakeLists.txt")  # files of others, and one to be written
DEV = re.compile(r"\./dev ([a-z][a-z0-9-]*)")
NEW = re.compile(r"<!-- new: (.+?) -->")


def exists(tree, name):
    """Whether a path, possibly with * or <placeholders>, names something in the tree."""
    pattern = re.sub(r"<[^>]+>|…", "*", name.rstrip("/"))
    return any(tree.glob(pattern)) if "*" in pattern else (tree / pattern).exists()


def endings(tree):
    """Of each file its name, and the paths that end with it: c.h, b/c.h, a/b/c.h."""
    found = set()
    for folder, below, names in os.walk(tree):
        below[:] = [one for one in below if one not in ("build", ".git")]
        for name in names:
            parts = (pathlib.Path(folder) / name).relative_to(tree).parts
            found |= {"/".join(parts[i:]) for i in range(len(parts))}
    return found


def anchors(text):
    """The headings of a page as links name them."""
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in HEADING.findall(text)}


def check_page(tree, name, text, commands, files):
    """What is wrong with one page, as sentences."""
    made = " ".join(NEW.findall(text)).split()  # what the page itself adds to the tree
    for path, excerpt in EXCERPT.findall(text):
        file = tree / path
        if not file.is_file() or excerpt not in file.read_text():
            yield f"{name}: an excerpt isn't in {path}: {excerpt.splitlines()[0]}"
    for link, anchor in LINK.findall(text):
        page = (tree / name).parent / link
        if "://" in link:
            continue
        if not page.exists():
            yield f"{name}: the link {link} leads nowhere"
        elif anchor and anchor not in anchors(page.read_text() if link else text):
            yield f"{name}: {link or 'the page'} has no heading {anchor}"
    for word in WORD.findall(text):
        if word.startswith(FOLDERS) and " " not in word and word not in made and not exists(tree, word):
            yield f"{name}: there is no {word}"
        elif FILE.fullmatch(word) and word not in files | {*OTHERS, *made}:
            yield f"{name}: no file is called {word}"
    for command in DEV.findall(text):
        if command not in commands:
            yield f"{name}: ./dev has no command {command}"


def main():
    tree = pathlib.Path(sys.argv[1]).resolve()
    commands = set(re.findall(r"^cmd_(\w+)\(\)", (tree / "dev").read_text(), re.M))
    commands = {command.replace("_", "-") for command in commands}
    files = endings(tree)
    if "--self-test" in sys.argv:
        bad = ("<!-- from: dev -->\n```sh\nnot in there\n```\n[x](nowhere.md) `core/nothing.cpp` ./dev nothing\n"
               "`nothing.h` [x](docs/numerics.md#nothing) [x](#nothing)\n")
        good = ("# One `word`, two\n[x](docs/numerics.md#reduce) `tests/*/CMakeLists.txt` ./dev test\n"
                "`backends/gpu/<operation>_variants.cpp` `abi.h` `gemm/naive.cl` [x](#one-word-two)\n")
        found = [list(check_page(tree, "page.md", text, commands, files)) for text in (bad, good)]
        print(found)
        return 0 if [len(wrong) for wrong in found] == [7, 0] else 1
    pages = sorted({*tree.glob("*.md"), *tree.glob("*/README.md"), *(tree / "docs").rglob("*.md")})
    wrong = [line for page in pages
             for line in check_page(tree, page.relative_to(tree).as_posix(), page.read_text(), commands, files)]
    help_text = (tree / "dev").read_text()
    wrong += [f"dev: its help says nothing of {command}" for command in sorted(commands)
              if not re.search(rf"^##   {command}\b", help_text, re.M)]
    print("\n".join(wrong))
    print(f"{len(pages)} pages, {len(wrong)} things wrong")
    return 1 if wrong or len(pages) < 5 else 0


if __name__ == "__main__":
    sys.exit(main())
