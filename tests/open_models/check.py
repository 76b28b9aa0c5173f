"""Runs the calls of a model and says what is wrong: held against onnxruntime, whose refusals are ours."""

import dataclasses
import random

import numpy as np
from campaign import Campaign
from schedule_checking import guarded

import tilewright

from .generate import generate

LEGAL_CALLS, ILLEGAL_CALLS = 2, 4
#: operators that onnxruntime computes otherwise where an input is empty: it leaves empty parts of a Concat out and keeps
#: negative axes of reductions; the states of a Scan of opset 8 without elements are no numbers of any kind
EMPTY_IS_DIFFERENT = {"concat", "reduce", "scan_of_a_batch"}


@dataclasses.dataclass
class Result:
    seed: int
    operator: str
    checked: bool = False  # compiled with check_bounds
    unsupported: str = ""  # why it was not compiled
    legal: int = 0  # calls that were right
    illegal: int = 0  # calls that were refused
    problems: list[str] = dataclasses.field(default_factory=list)


def session(proto):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def expected(reference, arrays):
    """The results of onnxruntime, or why it refuses."""
    try:
        return reference.run(None, dict(arrays))
    except Exception as error:
        return str(error)


def check(model, say=lambda stage: None) -> Result:
    """say  is told what runs next: "ours" or "onnxruntime", so that a crash has a name."""
    say("onnxruntime")
    result = Result(model.seed, model.operator, checked=model.seed % 5 == 0)
    proto = model.proto()
    try:
        reference = session(proto)
    except Exception as error:
        result.unsupported = f"onnxruntime: {str(error)[:150]}"
        return result
    say("ours")
    try:
        level = random.Random(model.seed).choice([0, 2, 2])
        with tilewright.transform.PassContext(opt_level=level):
            main = compiled(proto, result.checked)
    except tilewright.Unsupported as error:
        result.unsupported = first_line(error)
        return result
    except Exception as error:
        result.problems.append(f"not compiled: {type(error).__name__}: {first_line(error)}")
        return result
    for call in model.calls(LEGAL_CALLS, ILLEGAL_CALLS):
        problem = problem_of(main, reference, call, model, result, say)
        if problem:
            result.problems.append(f"{call.kind}: {problem}")
    return result


def compiled(proto, check_bounds):
    executable = tilewright.compile(proto.SerializeToString(), check_bounds=check_bounds)
    return tilewright.VirtualMachine(executable)["main"]


def first_line(error) -> str:
    return str(error).partition("\n")[0][:300]


def problem_of(main, reference, call, model, result, say) -> str | None:
    say("ours")
    arrays = [guarded(array, at_end=True) for array in call.arrays.values()]
    try:
        got = main(*arrays)
    except tilewright.UserError as error:
        say("onnxruntime")
        want = expected(reference, call.arrays)
        if call.is_legal and not isinstance(want, str):
            return f"refused: {first_line(error)}"
        result.illegal += 1
        return None
    except Exception as error:
        return f"{type(error).__name__}: {first_line(error)}"
    if call.contradicts_names:
        return "two extents of one name differ, and numbers are returned"
    say("onnxruntime")
    want = expected(reference, call.arrays)
    if isinstance(want, str):
        if call.is_legal or is_strict(call, want):
            return None  # onnxruntime is stricter: nothing to hold it against
        return f"numbers of shapes {shapes(got)} where onnxruntime refuses: {want.strip().splitlines()[-1][-160:]}"
    if model.operator in EMPTY_IS_DIFFERENT and any(array.size == 0 for array in call.arrays.values()):
        return None
    result.legal += 1
    return difference(results(got), want, model.tolerance)


def is_strict(call, refusal: str) -> bool:
    """True if onnxruntime refuses what is empty, though no other extent contradicts it (0 beside 1 is 0, as numpy has it)."""
    is_empty = any(array.size == 0 for array in call.arrays.values())
    is_part_empty = (
        "Invalid num_outputs value" in refusal
    )  # fewer elements than parts: the last ones are empty
    return is_part_empty or (is_empty and (not call.is_shared or "operand cannot broadcast" in refusal))


def results(got) -> list[np.ndarray]:
    return [each.numpy() for each in (got if isinstance(got, tuple | list) else [got])]


def shapes(got) -> str:
    return ", ".join(str(each.shape) for each in results(got))


def difference(got, want, tolerance) -> str | None:
    for a, b in zip(got, want, strict=True):
        b = np.asarray(b)
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return f"{a.dtype} of shape {a.shape}, expected {b.dtype} of {b.shape}"
        if a.dtype.kind in "iub" and tolerance < 1:
            if not np.array_equal(a, b):
                return f"wrong integers: {a.ravel()[:6]}, expected {b.ravel()[:6]}"
        else:
            wide, right = a.astype("float64"), b.astype("float64")
            if not np.allclose(wide, right, rtol=tolerance, atol=tolerance, equal_nan=True):
                return f"wrong numbers: {a.ravel()[:6]}, expected {b.ravel()[:6]}"
    return None


def crashed(seed: int, stage: str, how: str) -> Result:
    result = Result(seed, generate(seed).operator)
    if stage == "ours":
        result.problems = [f"CRASH: {how}"]
    else:
        result.unsupported = f"onnxruntime: {how}"
    return result


CAMPAIGN = Campaign(
    check=lambda seed, tell: check(generate(seed), tell), crashed=crashed, batch=25, limit_s=120
)
