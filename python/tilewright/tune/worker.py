"""The program of a child process: reads jobs, answers with results."""

import os
import pickle
import struct

import numpy as np

from .. import _core, runtime


def arguments_of(shapes: list) -> list:
    """Random arguments for parameters given as (shape, dtype), the same in every process."""
    random = np.random.default_rng(0)
    values = []
    for shape, dtype in shapes:
        if dtype.startswith("bfloat") or "float8" in dtype or "float4" in dtype:
            values.append(runtime.empty(tuple(shape), dtype))
        elif dtype.startswith("float"):
            values.append(runtime.tensor(random.uniform(-1, 1, shape).astype(dtype)))
        elif dtype == "bool":
            values.append(runtime.tensor(random.integers(0, 2, shape).astype(bool)))
        else:
            values.append(runtime.tensor(random.integers(0, 4, shape).astype(dtype)))
    return values


class Measurer:
    """Measures libraries in turns with a baseline, so that noise of the machine meets both."""

    def __init__(self):
        self._baselines: dict = {}

    def measure(self, code: bytes, name: str, baseline: tuple | None, shapes: list, options: dict) -> dict:
        """{"seconds": [...], "baseline": [...]}: times per call of both, in as many rounds."""
        function = runtime.load_bytes(code)[name]
        other = None
        if baseline is not None:
            key, other_code = baseline
            if key not in self._baselines:
                self._baselines = {key: runtime.load_bytes(other_code)[name]}
            other = self._baselines[key]
        args = arguments_of(shapes)
        runtime.set_num_threads(options.get("num_threads", 0))

        def times(each, repeat):
            return _core.time_function(
                each,
                *args,
                number=1,
                repeat=repeat,
                min_repeat_ms=options["min_repeat_ms"],
                cache_flush_bytes=options["cache_flush_bytes"],
            ).results

        found = {"seconds": list(times(function, 1)), "baseline": []}
        if other is not None:
            found["baseline"] += times(other, 1)
            # hopeless: far slower than the baseline, of which no second round will change much
            if found["seconds"][0] > options["hopeless"] * found["baseline"][0]:
                return found
        for _ in range(options["rounds"] - 1):
            found["seconds"] += times(function, 1)
            if other is not None:
                found["baseline"] += times(other, 1)
        return found


def main() -> None:
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
                answer = (True, f"{type(error).__name__}: {error}")
            data = pickle.dumps(answer)
            answers.write(struct.pack("<Q", len(data)) + data)
            answers.flush()


if __name__ == "__main__":
    main()
