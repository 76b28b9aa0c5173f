"""References of torch: computed in float64, and for whole numbers given back in the dtype of the first array."""

import numpy as np
import torch
from topi.table import Input


def of_torch(function):
    """`function` of torch tensors of float64 as one of numpy arrays."""

    def reference(*arrays):
        result = function(*[torch.from_numpy(array.astype("float64")) for array in arrays])
        results = [each.numpy() for each in (result if isinstance(result, tuple) else [result])]
        dtype = arrays[0].dtype
        # through int64: whole numbers wrap around as they do in the program
        kept = results if dtype.kind == "f" else [each.astype("int64").astype(dtype) for each in results]
        return kept if isinstance(result, tuple) else kept[0]

    return reference


def small(*shape, **options) -> Input:
    """An input of small numbers, so that sums of many lose little."""
    return Input(*shape, low=-2, high=3, **options)


def channels_last(function):
    """A function of arrays with channels at place 1 as one of arrays with channels last; the other arguments stay."""

    def reference(data, *others):
        return np.moveaxis(function(np.moveaxis(data, -1, 1), *others), 1, -1)

    return reference
