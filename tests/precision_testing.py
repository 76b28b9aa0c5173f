"""How far results may be off under each precision policy."""

# docs/precision.md: the error of a sum of n terms is at most (first + second * n * 2^-24) of the sum of their magnitudes
BOUNDS = {
    "exact": (0, 1),
    "bf16": (2**-7, 1),
    "bf16x3": (2**-15, 3),
    "bf16x6": (2**-22, 6),
    "bf16x9": (2**-22, 9),
}


def bound(precision, num_terms):
    rounding, terms = BOUNDS[precision]
    return rounding + terms * num_terms * 2**-24
