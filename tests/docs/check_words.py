#!/usr/bin/env python3
"""Holds comments and pages to plain words: no sentence opens with "What" (unless it asks), "Of", "Whose" or "That of", none
uses a word for which the house has another one, and no line with a comment is longer than 100 columns. Tables and the
strings of C and C++ are read for words, too.
`--self-test` shows that it can fail.

    check_words.py TREE [--self-test]
"""
import pathlib
import re
import subprocess
import sys

C_LIKE = (".c", ".cpp", ".cu", ".cl", ".cuh", ".h", ".hpp", ".js")
HASHES = (".py", ".sh", ".cmake", "CMakeLists.txt")
COMMENT = {C_LIKE: re.compile(r"(?:^|\s)//[/!<]*\s?(.*)$|^\s*\*\s(.*)$|/\*\s?(.*?)(?:\*/|$)"),
           HASHES: re.compile(r"(?:^|\s)#\s?(.*)$")}
ITEM = re.compile(r"^(?:[-*] |\d+\. |#+ |> )?(?:\*\*)?")  # how a line of Markdown begins
OPENING = re.compile(r"(?:^|(?<=[.;:] ))(What\b(?![^.]*\?)|Of\b|Whose\b(?![^.]*\?)|That of\b)")
BANNED = {r"\broads?\b": "fast path, fallback", r"\bpiles?\b": "batch", r"\banew\b": "opaque, or again",
          r"\b(crumb|slab|stretch)(e?s)?\b": "chunk", r"\bsettle[sd]?\b": "set, finish"}
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
WIDTH = 100


def comments(name, text):
    """Number, whole line and words of each comment's line; behind code a comment begins with an empty line."""
    pattern = next(COMMENT[endings] for endings in COMMENT if name.endswith(endings))
    for number, line in enumerate(text.splitlines(), 1):
        if found := pattern.search(line):
            if line[:found.start()].strip():
                yield number, "", ""
            yield number, line, next(group for group in found.groups() if group is not None).strip()


def prose(text):
    """The same of a page's lines: all but excerpts of code and tables."""
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        is_code ^= line.startswith("```")
        if not (is_code or line.startswith(("```", "|", "<!--"))):
            yield number, "", ITEM.sub("", line.strip()) if line.strip() else ""


def phrases(name, text):
    """Number and words where no sentence must begin: a page's tables, the strings of C and C++."""
    for number, line in enumerate(text.splitlines(), 1):
        if name.endswith(".md") and line.startswith("|"):
            yield number, re.sub(r"\]\([^)]*\)", "]", line)
        elif name.endswith(C_LIKE) and not line.lstrip().startswith(("//", "*", "/*", "#include")):
            yield number, " ".join(STRING.findall(line))


def banned(number, words):
    for pattern, instead in BANNED.items():
        if found := re.search(pattern, re.sub(r"`[^`]*`", "", words), re.I):
            yield number, f"'{found.group(0)}' has another word here: {instead}"


def faults(name, text):
    """What is wrong with a file, as line and sentence."""
    before, last = "", -1
    for number, line, words in prose(text) if name.endswith(".md") else comments(name, text):
        goes_on = number - last in (0, 1) and before and before[-1] not in ".:;?!|"
        for found in OPENING.finditer(words):
            if found.start() > 0 or not goes_on:
                yield number, f"a sentence opens with '{found.group(1)}'"
        yield from banned(number, words)
        if name.endswith(C_LIKE) and len(line) > WIDTH:
            yield number, f"a comment's line has {len(line)} columns, more than {WIDTH}"
        before, last = words, number
    for number, words in phrases(name, text):
        yield from banned(number, words)


def self_test():
    bad = ("// What it does.\n// It goes on. Of two, one\nint x;  // Whose\n// A pile.\n/* That of y */\n//" + 99 * "x")
    good = "// It says\n// What is so. What is it? `pile`\n"
    wrong = list(faults("a.cpp", bad)) + list(faults("a.md", "- What it is.\n| a road |\n"))
    wrong += faults("a.cpp", 'f("it is settled");  // good\n')
    assert len(wrong) == 9 and not list(faults("a.cpp", good)), wrong


def main():
    if "--self-test" in sys.argv:
        return self_test()
    tree = pathlib.Path(sys.argv[1]).resolve()
    # Tracked files; a release archive has no git, and then nothing is checked.
    listed = subprocess.run(["git", "-C", tree, "-c", f"safe.directory={tree}", "ls-files"], capture_output=True, text=True)
    wrong = [f"{name}:{number}: {sentence}" for name in listed.stdout.splitlines()
             if name.endswith((*C_LIKE, *HASHES, ".md")) and (tree / name).is_file()
             and name != "tests/docs/check_words.py"
             for number, sentence in faults(name, (tree / name).read_text())]
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
