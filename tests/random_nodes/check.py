"""Runs a node here, by onnx's ReferenceEvaluator and by onnxruntime, and says what is wrong."""

import dataclasses
import warnings

import numpy as np
from campaign import Campaign

import tilewright

from .model import Spec, generate

#: by dtype: parts of numbers that may differ
COARSE = {"float16": 2e-2, "bfloat16": 5e-2}


@dataclasses.dataclass
class Result:
    seed: int
    op: str
    problem: str = ""
    refused: str = ""  # why the node was not run
    references: int = 0  # how many computed it


def evaluator(spec: Spec) -> list:
    from onnx.reference import ReferenceEvaluator

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [np.asarray(each) for each in ReferenceEvaluator(spec.model()).run(None, spec.inputs())]


def runtime(spec: Spec) -> list:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(
        spec.model().SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, spec.inputs())


def expected(spec: Spec) -> list[list]:
    """The results of the references that take the node."""
    found = []
    for reference in (evaluator, runtime):
        try:
            found.append(reference(spec))
        except Exception:
            continue
    return found


def difference(got: list, right: list, spec: Spec) -> str:
    """ "" if they are equal; else what is not."""
    for a, b in zip(got, right, strict=True):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return f"{a.dtype}{list(a.shape)}, expected {b.dtype}{list(b.shape)}"
        if a.dtype.kind in "iub":
            off = (
                np.abs(a.astype("int64") - b.astype("int64")).max(initial=0)
                if a.dtype.kind != "b"
                else (a != b).any()
            )
            if off > int(spec.op == "QuantizeLinear"):
                return f"{a.ravel()[:6]}, expected {b.ravel()[:6]}"
        else:
            loose = max(spec.loose, COARSE.get(a.dtype.name, 0))
            if not np.allclose(a.astype("float64"), b.astype("float64"), loose, loose, equal_nan=True):
                return f"{a.ravel()[:6]}, expected {b.ravel()[:6]}"
    return ""


def check(seed: int) -> Result:
    """The node is right if it computes what a reference does, or is refused where both refuse it."""
    spec = generate(seed)
    result = Result(seed, spec.op)
    right = expected(spec)
    result.references = len(right)
    try:
        main = tilewright.VirtualMachine(tilewright.compile(spec.model().SerializeToString()))["main"]
        got = main(*spec.inputs().values())
    except tilewright.Unsupported as error:
        result.refused = str(error).partition("\n")[0]
        return result
    except tilewright.UserError as error:
        if right:
            result.problem = f"refused: {str(error)[:300]}"
        return result
    except Exception as error:
        result.problem = f"{type(error).__name__}: {str(error)[:300]}"
        return result
    got = [each.numpy() for each in (got if isinstance(got, tuple | list) else [got])]
    differences = [difference(got, each, spec) for each in right]
    if differences and all(differences):
        result.problem = f"{differences[0]}: {spec.text()}"
    return result


def check_safely(seed: int) -> Result:
    try:
        return check(seed)
    except Exception as error:
        return Result(seed, generate(seed).op, f"{type(error).__name__}: {error}")


CAMPAIGN = Campaign(
    check=lambda seed, tell: check_safely(seed),
    crashed=lambda seed, stage, how: Result(seed, generate(seed).op, f"the process ended: {how}"),
    today=5000,
)
