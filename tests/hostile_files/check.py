"""Reads hostile files in forked children and says what was not refused with an error, or took too much memory."""

import contextlib
import dataclasses
import os
import resource
from pathlib import Path

from campaign import Campaign

from .generate import generate

#: of a process with Python, numpy, onnx and tilewright in it
MOST_KB = 1 << 20


@dataclasses.dataclass
class Result:
    """What a file did: "" in `problem` if an error of ours, or a model, came of it."""

    seed: int
    kind: str
    problem: str = ""
    is_refused: bool = False


def check(seed: int, folder: Path) -> Result:
    """Imports the file of a seed, and compiles every tenth that is a model."""
    import tilewright
    from tilewright.frontend.onnx import from_onnx

    made = generate(seed)
    result = Result(seed, made.kind)
    path = folder / f"{os.getpid()}.onnx"
    path.write_bytes(made.data)
    try:
        module = from_onnx(path)
        if made.must_fail:
            result.problem = "it was imported"
        elif seed % 10 == 0:
            with contextlib.suppress(tilewright.UserError, tilewright.Unsupported):
                tilewright.compile(module)
    except (tilewright.UserError, tilewright.Unsupported):
        result.is_refused = True
    except BaseException as error:
        result.problem = f"{type(error).__name__}: {str(error)[:300]}"
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if most > MOST_KB and not result.problem:
        result.problem = f"{most >> 10} MB of memory"
    return result


def campaign(folder: Path) -> Campaign:
    """Checks files that are written to `folder`."""
    return Campaign(
        check=lambda seed, tell: check(seed, folder),
        crashed=lambda seed, stage, how: Result(seed, generate(seed).kind, f"the process ended: {how}"),
        is_last=lambda result: "of memory" in result.problem,  # the others begin with little memory again
        today=20_000,
    )
