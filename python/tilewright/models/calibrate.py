"""The ranges of a model's values over examples of its inputs: the least and the largest number, or those that lose least by clipping."""

from collections.abc import Iterator

import numpy as np

from ..build import compile
from ..errors import UserError
from ..runtime.vm import VirtualMachine
from .file import ModelFile
from .runs import arrays_of

#: rows of an open first dimension that one call takes
_ROWS = 32
_BINS = 2048
#: fewer numbers in a bin say little about how many there are
_LEAST_PER_BIN = 50
METHODS = ("minmax", "entropy")


def calls_of(model: ModelFile, arrays: dict) -> list[dict]:
    """The calls that examples stand for: an array has the samples of all calls along its first axis.

    An array with one axis more than the input has an entry for each call. Else the first axis is cut into the extent that the input
    has there; into 32 rows where that is open.
    Raises UserError for arrays that give different numbers of calls
    """
    parts = {name: _parts(name, arrays[name], model.input_type(name)[1]) for name in model.inputs}
    counts = {name: len(each) for name, each in parts.items()}
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{count} of {name}" for name, count in counts.items())
        raise UserError(
            f"the examples of the inputs are for different numbers of calls: {shown}\nhelp: the first axis counts samples"
        )
    if not counts or min(counts.values()) == 0:
        raise UserError(
            "there is no example\nhelp: --calibration takes an .npz file with arrays of the inputs"
        )
    return [{name: each[n] for name, each in parts.items()} for n in range(min(counts.values()))]


def _parts(name: str, array: np.ndarray, shape: list | None) -> list[np.ndarray]:
    if shape is None or len(shape) == 0:
        return [array]
    if array.ndim == len(shape) + 1:
        return list(array)
    if array.ndim != len(shape):
        raise UserError(
            f'the examples of input "{name}" have shape {list(array.shape)}, but it has {len(shape)} dimensions\n'
            "help: the first axis counts samples"
        )
    rows = shape[0] if isinstance(shape[0], int) else _ROWS
    if isinstance(shape[0], int) and (rows == 0 or len(array) % rows != 0):
        raise UserError(
            f'the examples of input "{name}" have {len(array)} rows, which are no multiple of {rows}\n'
            "help: the first axis counts samples"
        )
    return [array[n : n + rows] for n in range(0, len(array), rows)]


def values_at(model: ModelFile, names: list[str], calls: list[dict]) -> Iterator[dict]:
    """{name: array} of the values `names` in each call; inputs of the model among them."""
    made = [name for name in names if name not in model.inputs]
    machine = VirtualMachine(compile(model.part(model.nodes, made or model.outputs)))
    read = [each.name for each in machine.inputs]
    for inputs in calls:
        results = machine["main"](*(np.asarray(inputs[name], order="C") for name in read))
        yield (arrays_of(results, made) if made else {}) | {
            name: inputs[name] for name in names if name in inputs
        }


def ranges(model: ModelFile, names: list[str], calls: list[dict], method: str) -> dict[str, tuple]:
    """{name: (least, largest)} of values; 0 is inside."""
    found = dict.fromkeys(names, (0.0, 0.0))
    for values in values_at(model, names, calls):
        for name, array in values.items():
            if array.size:
                least, largest = found[name]
                found[name] = (min(least, float(array.min())), max(largest, float(array.max())))
    for name, (least, largest) in found.items():
        if not np.isfinite([least, largest]).all():
            raise UserError(
                f'value "{name}" goes from {least} to {largest} over the examples\nhelp: `tilewright diff --watch inf` says where that begins'
            )
    if method == "minmax":
        return found
    counts = {name: np.zeros(_BINS) for name in names}
    for values in values_at(model, names, calls):
        for name, array in values.items():
            most = max(map(abs, found[name])) or 1.0
            # zeros, of which relu makes many, are represented exactly whatever is cut
            counts[name] += np.histogram(np.abs(array[array != 0]), _BINS, (0, most))[0]
    return {name: _clipped(found[name], counts[name]) for name in names}


def _clipped(whole: tuple, counts: np.ndarray) -> tuple:
    least, largest = whole
    limit = threshold(counts, levels=256 if least == 0 or largest == 0 else 128) * max(map(abs, whole))
    return max(least, -limit), min(largest, limit)


def threshold(counts: np.ndarray, levels: int) -> float:
    """The part of the range at which clipping loses least information: the Kullback-Leibler divergence of the histogram of
    magnitudes from what `levels` equal steps keep of it is least.  Few numbers are counted in wider bins, which clip less.

    Source: S. Migacz, 8-bit inference with TensorRT, GTC 2017.
    """
    while len(counts) > levels and counts.sum() < _LEAST_PER_BIN * len(counts):
        counts = counts.reshape(-1, 2).sum(axis=1)
    best, least = len(counts), np.inf
    if counts.sum() == 0:
        return 1.0
    for width in range(levels, len(counts) + 1, 16):
        kept = counts[:width].astype("float64")
        clipped = kept.copy()
        clipped[-1] += counts[width:].sum()
        starts = (np.arange(levels) * width) // levels
        sums = np.add.reduceat(kept, starts)
        filled = np.add.reduceat((kept > 0).astype("float64"), starts)
        means = np.divide(sums, filled, out=np.zeros(levels), where=filled > 0)
        steps = np.repeat(means, np.diff([*starts, width])) * (kept > 0)
        if steps.sum() == 0:
            continue
        p, q = clipped / clipped.sum(), steps / steps.sum()
        both = (p > 0) & (q > 0)
        lost = float((p[both] * np.log(p[both] / q[both])).sum()) + float(p[(p > 0) & (q == 0)].sum()) * 10
        if lost < least:
            best, least = width, lost
    return best / len(counts)
