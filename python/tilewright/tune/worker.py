"""The program of a child process: reads jobs, answers with results."""

import contextlib
import os
import pickle
import struct
import threading
import time
from pathlib import Path

import numpy as np

from .. import _core, runtime
from ..errors import Unsupported
from .child import reason_of
from .statistics import ROUNDS, is_decided


def _numpy_type(dtype: str):
    """numpy's type for a dtype, that of ml_dtypes for those that numpy lacks.

    Raises Unsupported if ml_dtypes is not installed
    """
    try:
        return np.dtype(dtype)
    except TypeError:
        pass
    try:
        import ml_dtypes
    except ImportError:
        raise Unsupported(
            f"arguments of {dtype} cannot be made without ml_dtypes\nhelp: pip install 'tilewright[tune]'"
        ) from None
    return np.dtype(getattr(ml_dtypes, dtype))


def arguments_of(shapes: list, device: str = "") -> list:
    """Random arguments for parameters given as (shape, dtype) on a device, default the CPU, the same in every process.

    Raises Unsupported for bfloat16 and the like if ml_dtypes is not installed
    """
    random = np.random.default_rng(0)
    values = []
    for shape, dtype in shapes:
        if "float" in dtype:
            drawn = random.uniform(-1, 1, shape)
        else:
            drawn = random.integers(0, 2 if dtype == "bool" else 4, shape)
        values.append(runtime.tensor(np.asarray(drawn).astype(_numpy_type(dtype)), device or "cpu"))
    return values


#: by bytes of an element, what another order of a sum may change, as a part of a result
_ROUNDING = {1: 2**-2, 2: 2**-6}


def _compare(function, baseline, shapes: list, device: str) -> bool:
    """True if both functions give the same bits.

    Raises ValueError if they give other numbers than rounding explains.
    """
    one, other = arguments_of(shapes, device), arguments_of(shapes, device)
    function(*one)
    baseline(*other)
    has_same_bits = True
    for place, (found, expected) in enumerate(zip(one, other, strict=True)):
        a, b = found.numpy(), expected.numpy()
        if a.tobytes() == b.tobytes():
            continue
        has_same_bits = False
        wide = [each.astype("float64") for each in (a, b)]
        most = _ROUNDING.get(a.dtype.itemsize, 1e-3)
        is_near = np.isclose(*wide, rtol=most, atol=most, equal_nan=True)
        if a.dtype.kind in "iub" or not is_near.all():
            where = np.argwhere(wide[0] != wide[1] if is_near.all() else ~is_near)[0].tolist()
            raise ValueError(
                f"argument {place} has other numbers than after the default schedule, first at {where}"
            )
    return has_same_bits


class Measurer:
    """Measures libraries in turns with a baseline, so that noise of the machine meets both."""

    def __init__(self):
        self._baseline = (None, None)

    def measure(
        self, code: bytes, name: str, baseline: tuple | None, shapes: list, options: dict, is_confirming: bool
    ) -> dict:
        """{"seconds": [...], "baseline": [...], "has_same_bits"}: times per call of both, in as many rounds."""
        runtime.set_num_threads(options["num_threads"])
        function = runtime.load_bytes(code)[name]
        functions, found = {"seconds": function}, {"seconds": [], "baseline": [], "has_same_bits": True}
        if baseline is not None:
            key, other_code = baseline
            if key != self._baseline[0]:
                self._baseline = (key, runtime.load_bytes(other_code)[name])
            functions["baseline"] = self._baseline[1]
            found["has_same_bits"] = _compare(function, self._baseline[1], shapes, options["device"])
        args = arguments_of(shapes, options["device"])
        for round_ in range(ROUNDS if is_confirming else options["rounds"]):
            # who comes first changes, so that it does not count
            for which, each in list(functions.items())[:: -1 if round_ % 2 else 1]:
                found[which] += _core.time_function(
                    each,
                    *args,
                    number=1,
                    repeat=1,
                    min_repeat_ms=options["min_repeat_ms"],
                    cache_flush_bytes=options["cache_flush_bytes"],
                ).results
            if self._is_enough(found, options, is_confirming):
                break
        return found

    @staticmethod
    def _is_enough(found: dict, options: dict, is_confirming: bool) -> bool:
        """True if more rounds would change little: it is sure who is faster, or the candidate is far slower."""
        seconds, baseline = found["seconds"], found["baseline"]
        if not baseline:
            return False
        if is_confirming:
            return is_decided(seconds, baseline)
        return seconds[0] > options["hopeless"] * baseline[0]


def _is_first_to_be_killed() -> None:
    """Where the machine lacks memory, the kernel ends this process, not the program that tunes."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _end_with(parent: int) -> None:
    """Ends this process when its parent has ended, also while a candidate hangs."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    _is_first_to_be_killed()
    reading, writing = map(int, os.environ["TILEWRIGHT_TUNE_FDS"].split(","))
    limit = int(os.environ["TILEWRIGHT_TUNE_MEMORY_MB"])
    if limit:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit << 20, limit << 20))
    measurer = Measurer()
    with os.fdopen(reading, "rb") as jobs, os.fdopen(writing, "wb") as answers:
        while header := jobs.read(8):
            kind, *args = pickle.loads(jobs.read(struct.unpack("<Q", header)[0]))
            answers.write(b"b")
            answers.flush()
            try:
                answer = (False, getattr(measurer, kind)(*args))
            except Exception as error:
                answer = (True, reason_of(error))
            data = pickle.dumps(answer)
            answers.write(struct.pack("<Q", len(data)) + data)
            answers.flush()


if __name__ == "__main__":
    main()
