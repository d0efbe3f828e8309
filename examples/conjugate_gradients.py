"""Conjugate gradients in Python: NumPy's arrays, Trine's sums and products. The residuals have the
same bits on each device, and in conjugate_gradients.cpp, .c and .f90.

    python3 conjugate_gradients.py [DEVICE]...     by default all devices
"""

import sys

import numpy

import trine

SIZE, STEPS = 500, 12


def solve(a, device):
    """The square of the residual's norm before each step to A x = b, for b of ones."""
    x, r = numpy.zeros(len(a)), numpy.ones(len(a))
    p = r.copy()
    history = [trine.dot(r, r, device=device)]
    for _ in range(STEPS):
        q = trine.matmul(a, p, device=device)
        step = history[-1] / trine.dot(p, q, device=device)
        x += step * p
        r -= step * q
        history.append(trine.dot(r, r, device=device))
        p = r + history[-1] / history[-2] * p
    return history


def main():
    i = numpy.arange(SIZE)
    a = 1 / (1.0 + abs(i - i[:, None]))
    a[i, i] = SIZE
    devices = sys.argv[1:] or [device["id"] for device in trine.devices()]
    histories = [solve(a, device) for device in devices]
    for device, history in zip(devices, histories):
        print(device, *(f"  {rr:.16e}" for rr in history), sep="\n")
    equal = all(history == histories[0] for history in histories)
    return 0 if equal and histories[0][-1] < 1e-20 * histories[0][0] else 1


if __name__ == "__main__":
    sys.exit(main())
