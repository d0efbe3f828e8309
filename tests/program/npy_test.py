#!/usr/bin/env python3
"""Headers of .npy files, against NumPy itself: those that programs write are read as numpy.lib.format reads them, each
other one is refused with a sentence that is true or read alike, and no header costs more memory than its file.

usage: npy_test.py [unittest options] READ_NPY"""
import ast
import io
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import tokenize
import unittest
import warnings

import numpy as np

READ_NPY = sys.argv[-1]
SEED = 20261128
# The dtypes that transpose moves, beside the numbers.
BITS = {1: "b8", 2: "b16", 4: "b32", 8: "b64", 16: "b128"}
NUMBERS = {"<f4": "f32", "<f8": "f64", "<i4": "i32", "<i8": "i64", "<u4": "u32", "<u8": "u64"}


def file_of(header, version=(1, 0), data=b""):
    header = header if isinstance(header, bytes) else header.encode("utf8" if version[0] == 3 else "latin1")
    length = len(header).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + bytes(version) + length + header + data


def read_header_3(file):
    """The second version's, but in UTF-8 and without Python 2's whole numbers."""
    begin = file.tell()
    length = int.from_bytes(file.read(4), "little")
    ast.literal_eval(file.read(length).decode("utf8"))
    file.seek(begin)
    return np.lib.format.read_array_header_2_0(file)


HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): read_header_3,
}


def by_numpy(content):
    """(dtype, shape, order) or the reason why not."""
    file = io.BytesIO(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", FutureWarning)  # '1f4' won't mean what it means now
            read = HEADERS[np.lib.format.read_magic(file)]
            shape, order, dtype = read(file)
    except (ValueError, TypeError, SyntaxError, tokenize.TokenError, MemoryError, RecursionError, AttributeError,
            FutureWarning, DeprecationWarning, OverflowError, KeyError) as error:
        return f"{type(error).__name__}: {error}"
    return dtype, shape, order


def trines(dtype):
    """Trine's word for a dtype, or None where it has none."""
    if dtype.hasobject or dtype.names is not None or dtype.subdtype is not None or dtype.byteorder == ">":
        return None
    return NUMBERS.get(dtype.str, BITS.get(dtype.itemsize))


class Npy(unittest.TestCase):
    def read(self, contents):
        """What Trine says of each."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f"{i}.npy") for i in range(len(contents))]
            for path, content in zip(paths, contents):
                with open(path, "wb") as file:
                    file.write(content)
            done = subprocess.run([READ_NPY], input="".join(path + "\n" for path in paths), capture_output=True,
                                  text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(said), len(contents))
        for content, one in zip(contents, said):
            # A stream's buffer, a sentence, and what an allocation is rounded up to.
            self.assertLessEqual(one["memory"], 2 * len(content) + (32 << 10), content)
        return said

    def same(self, headers, version=(1, 0)):
        """All of them are read as NumPy reads them."""
        contents = []
        for header in headers:
            dtype, shape, _ = by_numpy(file_of(header, version))
            self.assertIsNotNone(trines(dtype), header)
            contents.append(file_of(header, version, bytes(dtype.itemsize * int(np.prod(shape, dtype=object)))))
        for content, said in zip(contents, self.read(contents)):
            self.assertNotIn("refused", said, content)
            self.is_alike(content, said)

    def is_alike(self, content, said):
        dtype, shape, order = by_numpy(content)
        self.assertEqual((said["dtype"], said["descr"], tuple(said["shape"]), said["fortran_order"]),
                         (trines(dtype), dtype.str, tuple(map(int, shape)), order), content)

    def refused(self, header, words, version=(1, 0), data=16):
        said, = self.read([file_of(header, version, bytes(data))])
        self.assertRegex(said.get("refused", f"read: {said}"), words)

    # --- what is read

    def test_ways_to_write_a_header(self):
        headers = []
        for quote, colon, comma, shape, order in itertools.product(
                ("'", '"'), (":", ": ", " : ", "\t:\n"), (",", ", ", " ,", ",\n  "),
                ("()", "(2,)", "(2, 3)", "(2,3,)", "( 2 ,3 )", "(2L, 3L)", "(0, 5)", "(1,2,3)"), ("True", "False")):
            pairs = [f"{quote}descr{quote}{colon}{quote}<f4{quote}", f"{quote}shape{quote}{colon}{shape}",
                     f"{quote}fortran_order{quote}{colon}{order}"]
            random.Random(len(headers)).shuffle(pairs)
            headers.append("{" + comma.join(pairs) + ("," if len(headers) % 2 else "") + "}")
        self.assertGreater(len(headers), 500)
        self.same(headers)

    def test_what_stands_around_the_dictionary(self):
        middle = "{'shape': (3,), 'descr': '<f8', 'fortran_order': False}"
        around = [middle, middle + "\n", middle + " " * 40 + "\n", middle + "\n\n\n", middle + "\t\f \n", "\n" + middle,
                  middle.replace("(3,)", "(9,), 'shape': (3,)")]
        for version in ((1, 0), (2, 0), (3, 0)):
            self.same(around, version)

    def test_versions(self):
        for version in ((1, 0), (2, 0), (3, 0)):
            self.same(["{'descr': '<i8', 'fortran_order': True, 'shape': (2, 2), }" + " " * 60 + "\n"], version)
        self.same(["{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }"], (2, 0))
        for version in ((0, 0), (4, 0), (1, 1), (3, 7)):
            self.refused("{}", fr"^\.npy version {version[0]}\.{version[1]} is unknown$", version)

    def words_of_dtypes(self):
        kinds = "biufcmMOUVSt"
        words = [order + kind + size for order in ("", "<", "=", "|", ">") for kind in kinds
                 for size in ("0", "1", "2", "3", "4", "04", "8", "16", "32")]
        words += [order + kind + unit for order in ("", "<", ">") for kind in ("m8", "M8", "i8") for unit in
                  ("[ns]", "[s]", "[25s]", "[D]", "[]", "[")]
        return words + ["u8", "i1", "b1", "f4,f4", " f4", "f4 ", "", "+f4", "<", "<>f4", "f-4", "f99999999999999999999"]

    def test_every_word_for_a_dtype(self):
        contents, refusals = [], []
        for word in self.words_of_dtypes():
            header = f"{{'descr': '{word}', 'fortran_order': False, 'shape': (2, 3), }}\n"
            known = by_numpy(file_of(header))
            if isinstance(known, str) or trines(known[0]) is None:
                refusals.append((word, known, file_of(header, data=b"x" * 48)))
            else:
                contents.append(file_of(header, data=b"x" * 6 * known[0].itemsize))
        self.assertGreater(len(contents), 100)
        self.assertGreater(len(refusals), 150)
        for content, said in zip(contents, self.read(contents)):
            self.assertNotIn("refused", said, content)
            self.is_alike(content, said)
        for (word, known, _), said in zip(refusals, self.read([content for _, _, content in refusals])):
            sentence = said.get("refused", f"{word} was read")
            if not isinstance(known, str) and known[0].byteorder == ">" and known[0].itemsize in BITS and not known[0].names:
                # The refusal names the dtype to convert to, which Trine reads.
                self.assertRegex(sentence, fr"^dtype {re.escape(word)} is big-endian", word)
                self.assertIn(f"astype('{known[0].newbyteorder('<').str}')", sentence)
            else:
                self.assertRegex(sentence, "is none that Trine reads", word)

    # --- what is refused

    def test_sentences(self):
        good = {"descr": "'<f4'", "fortran_order": "False", "shape": "(2, 2)"}

        def header(**other):
            return "{" + ", ".join(f"'{key}': {value}" for key, value in {**good, **other}.items() if value) + "}\n"
        for words, bad in (
                ("dtype >f4 is big-endian, and Trine reads little-endian", header(descr="'>f4'")),
                ("dtype is a structure", header(descr="[('a', '<f4')]")),
                ("where the string of 'descr' should be", header(descr="4")),
                ("none that Trine reads", header(descr="'|O'")),
                ("it has no 'descr'", header(descr="")),
                ("it has no 'shape'", header(shape="")),
                ("it has no 'fortran_order'", header(fortran_order="")),
                ("a key 'more'", header(more="1")),
                ("byte 34 is 'M', where 'False' should be or True", header(fortran_order="Maybe")),
                ("'shape' is no tuple", header(shape="(4)")),
                ("where '\\(' should be behind 'shape'", header(shape="[4]")),
                ("where a whole number should be", header(shape="('4',)")),
                ("where ',' should be between extents", header(shape="(4.0,)")),
                ("where a whole number should be", header(shape="(007,)")),
                ("an extent in 'shape' is negative", header(shape="(-4,)")),
                ("99999999999999999999 is more than 63 bits hold", header(shape="(99999999999999999999,)")),
                ("its shape overflows 64 bits", header(shape="(4611686018427387904, 4, 4)")),
                ("it has 4 dimensions", header(shape="(1, 1, 2, 2)")),
                ("it has 30000 dimensions", header(shape="(" + "1," * 30000 + ")")),
                ("where ':' should be behind a key", "{'descr', '<f4'}"),
                ("a string doesn't end", "{'descr': '<f4"),
                ("a line's end", "{'descr': '<f\n4'}"),
                ("escape", "{'des\\x63r': '<f4'}"),
                ("it isn't a Python dictionary", ""),
                ("it isn't a Python dictionary", "[]"),
                ("it ends, where a key or the end should be", "{"),
                ("byte 1 is ',', where a key", "{,}"),
                ("byte 1 is '4', where a key", "{4: 5}"),
                ("behind the dictionary", header().strip() + " + 1"),
                ("behind the dictionary", header() + "\0"),
                ("byte .* is 0xfc", header(descr="\xfc"))):
            self.refused(bad, words)
        self.refused(header(), "has 15 bytes of data, but its header says 16", data=15)
        self.refused(header(), "has 17 bytes of data, but its header says 16", data=17)
        whole = file_of(header(), (2, 0), bytes(16))
        for said in self.read([whole[:end] for end in range(len(whole))]):
            self.assertRegex(said["refused"], "not a .npy file|it ends in its header|bytes of data")
        self.refused("{}" + " " * 70000, "a header of 70002 bytes", (2, 0))

    # --- what nobody thought of

    def mutated(self, dice):
        header = dice.choice((
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }        \n",
            "{\"shape\" : (2L, 2L) ,\"fortran_order\":True,\"descr\":\"=f4\"}",
            "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 2, 2), }\n",
            "{'descr': [('a', '<f4'), ('b', '>i2')], 'fortran_order': False, 'shape': (3,), }\n"))
        pieces = list(header)
        for _ in range(dice.choice((1, 1, 1, 2, 3, 8))):
            at = dice.randrange(len(pieces))
            change = dice.randrange(5)
            letter = dice.choice("{}()[]:,'\"<>=|LuTFe0123456789xf_+-. \n\t#\\" + chr(dice.randrange(256)))
            if change == 0:
                pieces[at] = letter
            elif change == 1:
                pieces.insert(at, letter)
            elif change == 2 and len(pieces) > 1:
                del pieces[at]
            elif change == 3:
                pieces[at:at] = pieces[at:at + dice.randrange(1, 20)]
            else:
                other = dice.randrange(len(pieces))
                pieces[at], pieces[other] = pieces[other], pieces[at]
        version = dice.choice(((1, 0), (2, 0)))  # of 3, Trine reads 2L too
        known = by_numpy(file_of("".join(pieces), version))
        data = 16
        if not isinstance(known, str) and all(0 <= extent < 100 for extent in known[1]):
            data = known[0].itemsize * int(np.prod(known[1], dtype=int))
        content = bytearray(file_of("".join(pieces), version, bytes(min(data, 10 ** 5))))
        if dice.randrange(10) == 0:
            content[dice.randrange(12)] = dice.randrange(256)  # the magic, the version, the length
        if dice.randrange(10) == 0:
            del content[dice.randrange(len(content)):]
        return bytes(content)

    def test_mutants(self):
        dice = random.Random(SEED)
        contents = [self.mutated(dice) for _ in range(4000)]
        read = alike = 0
        for content, said in zip(contents, self.read(contents)):
            known = by_numpy(content)
            if "refused" in said:
                self.assertGreater(len(said["refused"]), 10)
                continue
            read += 1
            if not isinstance(known, str):
                alike += 1
                self.is_alike(content, said)
        self.assertGreater(alike, 50)
        # Blanks before it and after a line's end are nearly all that Trine is milder about.
        self.assertLess(read - alike, read / 20)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:-1])
