"""Pictures that the tests of graph operators take, and numpy's arrays as torch's."""

import numpy as np

RNG = np.random.default_rng(6)


def some(*shape):
    return RNG.standard_normal(shape, dtype="float32")


def t(x):
    import torch

    return torch.from_numpy(np.ascontiguousarray(x))


X = some(2, 4, 7, 5)
WAVE, VOLUME = some(2, 4, 127), some(1, 4, 5, 7, 5)
