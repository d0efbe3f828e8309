#!/usr/bin/env python3
"""Runs the programs on each device there is and compares the numbers they print, to the bit. A program
that ends in .py is run by this Python.

    same_history.py DEVICES-PROGRAM PROGRAM...     the first one, without arguments, runs on all devices
"""
import subprocess
import sys


def histories(program, *arguments):
    """What a program prints: of each device the numbers of the lines below its name."""
    command = [sys.executable, program] if program.endswith(".py") else [program]
    printed = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in printed.splitlines():
        if line.startswith(" "):
            numbers.append(float(line).hex())
        else:
            numbers = found.setdefault(line, [])
    return found


def main():
    first, *others = sys.argv[1:]
    wanted = histories(first)
    numbers = next(iter(wanted.values()))
    wrong = [f"{first} on {device}" for device in wanted if wanted[device] != numbers]
    for program in others:
        for device in wanted:
            if histories(program, device) != {device: numbers}:
                wrong.append(f"{program} on {device}")
    print(f"{len(others) + 1} programs, devices: {', '.join(wanted)}; {len(numbers)} numbers each")
    if wrong or len(numbers) < 2:
        print("other numbers:", "; ".join(wrong) or "none")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
