"""Every place of every function where an array can stand, by a list."""

import unittest

import numpy

import trine


def into(function):
    """A function that writes its argument: `out` of the shape (2, 2)."""
    return lambda x: function(numpy.ones((2, 2)), numpy.ones((2, 2)), x)


# All that take arrays, by name; each is called with one object in each array's place.
FUNCTIONS = {
    "sum": trine.sum,
    "prod": trine.prod,
    "min": trine.min,
    "max": trine.max,
    "argmin": trine.argmin,
    "argmax": trine.argmax,
    "norm": trine.norm,
    "dot": lambda x: trine.dot(x, x),
    "vecdot": lambda x: trine.vecdot(x, x),
    "matmul": lambda x: trine.matmul(x, x),
    "transpose": trine.transpose,
    "matrix_transpose": trine.matrix_transpose,
    "place": lambda x: trine.place(trine.sum, x),
    "why": lambda x: trine.why(trine.sum, x),
    "ExactSum": trine.ExactSum,
    "Partial": lambda x: trine.Partial("max", "float64").add(x, 0),
}
PLACES = FUNCTIONS | {
    "dot of y": lambda x: trine.dot(numpy.ones(2), x),
    "matmul of b": lambda x: trine.matmul(numpy.ones((2, 2)), x),
    "add_dot": lambda x: trine.ExactSum().add_dot(x, x),
    "add_dot of y": lambda x: trine.ExactSum().add_dot(numpy.ones(2), x),
    "sum into": into(lambda a, b, x: trine.sum(a, 0, out=x)),
    "dot into": into(lambda a, b, x: trine.dot(a, b, axis=0, out=x)),
    "norm into": into(lambda a, b, x: trine.norm(a, 0, out=x)),
    "matmul into": into(lambda a, b, x: trine.matmul(a, b, out=x)),
    "transpose into": into(lambda a, b, x: trine.transpose(a, out=x)),
}


class Refusing(unittest.TestCase):
    def refused(self, words, x, places=PLACES, kind=trine.ArgumentError):
        for place, function in places.items():
            with self.subTest(place=place), self.assertRaisesRegex(kind, words) as caught:
                function(x)
        return caught.exception
