"""How far results may be off under each precision policy."""

from graph_testing import compile_graph

from tilewright.transform import PassContext

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


def compile_with_tiles(build, precision, **shapes):
    """The executable as for a processor with tile registers, on which all policies pay; other instructions do the same."""
    with PassContext(config={"precision.speedup": 10}):
        return compile_graph(build, precision, **shapes)
