"""Conjugate gradients: solves A x = b on each device. The steps depend on each bit of each sum, and
all devices take the same ones."""

import hashlib
import sys

import numpy

import trine


def solve(a, b, device):
    """x with A x = b, and the number of steps."""
    x, r = numpy.zeros_like(b), b.copy()
    p, rr = r.copy(), trine.dot(r, r, device=device)
    steps = 0
    while rr > 1e-24 and steps < len(b):
        q = trine.matmul(a, p, device=device)
        alpha = rr / trine.dot(p, q, device=device)
        x += alpha * p
        r -= alpha * q
        rr, before = trine.dot(r, r, device=device), rr
        p = r + (rr / before) * p
        steps += 1
    return x, steps


def main():
    n = 300
    m = numpy.random.default_rng(1).standard_normal((n, n))
    a = trine.matmul(m, m.T) + n * numpy.eye(n)
    b = numpy.ones(n)
    digests = set()
    for device in trine.devices():
        x, steps = solve(a, b, device["id"])
        digest = hashlib.sha256(x.tobytes()).hexdigest()[:16]
        digests.add(digest)
        print(
            f"{device['id']}: {steps} steps, |b - A x| = {trine.norm(b - a @ x):.2g}, x is {digest}"
        )
    return 0 if len(digests) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
