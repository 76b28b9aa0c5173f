"""Arrays that the tests of graph operators take."""

import numpy as np

RNG = np.random.default_rng(5)
X = RNG.standard_normal((5, 7), dtype="float32")
Y = RNG.standard_normal((5, 7), dtype="float32")
ROW = RNG.standard_normal(7, dtype="float32")
CUBE = RNG.standard_normal((3, 5, 7), dtype="float32")
WHOLE = RNG.integers(-9, 9, (5, 7)).astype("int32")
MASK = RNG.integers(0, 2, (5, 7)).astype("bool")
LONG = RNG.permutation(127).astype("float32")
TIES = RNG.integers(0, 4, (3, 5, 7)).astype("float32")
