"""In the machine code of kernels that begin early, no access to memory stands in front of the wait for earlier launches.

usage: early_waits.py CUOBJDUMP FOLDER   (of generated kernels and their fatbins; exit status 77: no cuobjdump, or no code for 9.0)
"""
import pathlib
import re
import subprocess
import sys

WAIT = "ACQBULK"
# These read A and B, which the launch in front of them has waited for and doesn't write.
EXCEPTIONS = re.compile(r"residues_(choose|convert)__")
ACCESS = re.compile(r"(LD|ST|LDG|STG|LDGSTS|ATOM|ATOMG|RED|REDG|UBLKCP|UTMALDG|UTMASTG)(\.|$)")


def functions(sass):
    """Name and instructions of each function, in the order in which they lie."""
    for part in sass.split("Function : ")[1:]:
        name, _, text = part.partition("\n")
        yield name, re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z][\w.]*)", text)


def complaint(instructions):
    for instruction in instructions:
        if instruction == WAIT:
            return None
        if ACCESS.match(instruction):
            return f"{instruction} in front of {WAIT}"
    return f"no {WAIT}"


def main(cuobjdump, folder):
    seen, wrong = 0, 0
    for source in sorted(pathlib.Path(folder).rglob("*.cu")):
        if "await_earlier_launches();" not in source.read_text():
            continue
        fatbin = source.with_suffix(".fatbin")
        for architecture in ("sm_90", "sm_90a"):
            try:
                shown = subprocess.run([cuobjdump, "-sass", "-arch", architecture, fatbin], text=True, capture_output=True)
            except (FileNotFoundError, PermissionError):
                print("no cuobjdump")
                return 77
            for name, instructions in functions(shown.stdout):
                seen += 1
                if EXCEPTIONS.search(name):
                    instructions = [one for one in instructions if one == WAIT]
                if what := complaint(instructions):
                    wrong += 1
                    print(f"{fatbin}: {architecture}: {name}: {what}")
    print(f"{seen} functions, {wrong} of them wrong")
    return 1 if wrong else 0 if seen else 77


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
