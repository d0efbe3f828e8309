#!/usr/bin/env python3
"""Holds the pages to the tree: every excerpt captioned <!-- from: PATH --> stands in that file to the
letter, every relative link leads somewhere, every `folder/file` in backticks exists, and every command
`./dev NAME` is one that ./dev has and explains. `--self-test` shows that it can fail.

    check_docs.py TREE [--self-test]
"""
import pathlib
import re
import sys

EXCERPT = re.compile(r"<!-- from: (\S+) -->\n```\w*\n(.*?)```", re.S)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
WORD = re.compile(r"`([^`\n]+)`")
FOLDERS = ("backends/", "bench/", "cmake/", "core/", "cpu/", "cuda/", "docs/", "examples/", "opencl/", "oracle/", "conformance/",
           "tests/", ".ci/")
DEV = re.compile(r"\./dev ([a-z][a-z-]*)")
NEW = re.compile(r"<!-- new: (.+?) -->")


def exists(tree, name):
    """Whether a path, possibly with * or <placeholders>, names something in the tree."""
    pattern = re.sub(r"<[^>]+>|…", "*", name.rstrip("/"))
    return any(tree.glob(pattern)) if "*" in pattern else (tree / pattern).exists()


def check_page(tree, name, text, commands):
    """What is wrong with one page, as sentences."""
    made = " ".join(NEW.findall(text)).split()  # what the page itself adds to the tree
    for path, excerpt in EXCERPT.findall(text):
        file = tree / path
        if not file.is_file() or excerpt not in file.read_text():
            yield f"{name}: an excerpt isn't in {path}: {excerpt.splitlines()[0]}"
    for link in LINK.findall(text):
        if "://" not in link and not (tree / name).parent.joinpath(link).exists():
            yield f"{name}: the link {link} leads nowhere"
    for word in WORD.findall(text):
        if word.startswith(FOLDERS) and " " not in word and word not in made and not exists(tree, word):
            yield f"{name}: there is no {word}"
    for command in DEV.findall(text):
        if command not in commands:
            yield f"{name}: ./dev has no command {command}"


def main():
    tree = pathlib.Path(sys.argv[1]).resolve()
    commands = set(re.findall(r"^cmd_(\w+)\(\)", (tree / "dev").read_text(), re.M))
    commands = {command.replace("_", "-") for command in commands}
    if "--self-test" in sys.argv:
        bad = ("<!-- from: dev -->\n```sh\nnot in there\n```\n[x](nowhere.md) `core/nothing.cpp` ./dev nothing\n")
        good = "[x](docs/numerics.md) `tests/*/CMakeLists.txt` `backends/gpu/<operation>_variants.cpp` ./dev test\n"
        found = list(check_page(tree, "page.md", bad, commands)), list(check_page(tree, "page.md", good, commands))
        print(found)
        return 0 if (len(found[0]), len(found[1])) == (4, 0) else 1
    pages = [tree / "README.md", tree / "CHANGELOG.md", *sorted((tree / "docs").rglob("*.md"))]
    wrong = [line for page in pages
             for line in check_page(tree, page.relative_to(tree).as_posix(), page.read_text(), commands)]
    help_text = (tree / "dev").read_text()
    wrong += [f"dev: its help says nothing of {command}" for command in sorted(commands)
              if not re.search(rf"^##   {command}\b", help_text, re.M)]
    print("\n".join(wrong))
    print(f"{len(pages)} pages, {len(wrong)} things wrong")
    return 1 if wrong or len(pages) < 5 else 0


if __name__ == "__main__":
    sys.exit(main())
