"""ONNX's own test cases, which the package `onnx` brings, and what becomes of each: passed, refused with a reason, or wrong.

Inputs that must be known when a model is imported (shapes, axes) become constants of the model.
"""

import contextlib
import dataclasses
import datetime
import functools
import random
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx_refusals import DIFFERENT, reason_of

import tilewright
from tilewright.frontend.onnx import from_onnx

KINDS = ("node", "node-expanded", "simple", "pytorch-converted", "pytorch-operator", "light")
KNOWN_LATER = re.compile(r'input "([^"]*)" is known only at run time')
EXPANDED = re.compile(r"_expanded(_ver\d+)?$")
#: the row of cases with several nodes that expand no operator
SEVERAL = "graphs of several nodes"


@dataclasses.dataclass
class Case:
    """One test: a model, or the folder that has it, and what it computes."""

    name: str
    kind: str
    operator: str  # of node cases
    test: object  # as onnx has it

    @functools.cached_property
    def model(self):
        return self.test.model if self.test.model else onnx.load(self.path)

    @property
    def path(self) -> Path:
        if self.kind == "light":
            return Path(onnx.__file__).parent.parent / self.test.url
        return Path(self.test.model_dir) / "model.onnx"

    @functools.cached_property
    def data_sets(self) -> list:
        """Pairs of inputs and results, as numpy arrays, lists of them for sequences, and None for what is left out."""
        if self.test.data_sets:
            return [tuple([value_of(each) for each in side] for side in pair) for pair in self.test.data_sets]
        return [light_data(self)] if self.kind == "light" else list(stored_data(self))


@dataclasses.dataclass(order=True)
class Outcome:
    """What became of a case."""

    name: str
    kind: str
    operator: str
    result: str  # "passed", "refused", "different" or "wrong"
    reason: str = ""
    constants: int = 0  # inputs that became constants of the model
    is_folded: bool = False  # no input was left: nothing was left to compiled code


# ---- the cases


@functools.cache
def cases() -> list[Case]:
    """All cases of KINDS, by name."""
    from onnx.backend.test.loader import load_model_tests

    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nodes = load_model_tests(kind="node")
        operators = {test.name: operator_of(test) for test in nodes}
        for test in nodes:
            is_expanded = bool(EXPANDED.search(test.name))
            operator = operators.get(EXPANDED.sub("", test.name), SEVERAL)
            found.append(Case(test.name, "node-expanded" if is_expanded else "node", operator, test))
        for kind in KINDS[2:5]:
            found += [Case(test.name, kind, kind, test) for test in load_model_tests(kind=kind)]
        for test in load_model_tests(kind="real"):
            found.append(Case(f"{test.name}_light", "light", "light", test))
    return sorted(found, key=lambda case: (KINDS.index(case.kind), case.name))


def operator_of(test) -> str:
    nodes = test.model.graph.node
    if len(nodes) != 1:
        return SEVERAL
    return f"{nodes[0].domain}::{nodes[0].op_type}" if nodes[0].domain else nodes[0].op_type


def of_today(count: int) -> list[Case]:
    """Another sample each day."""
    day = datetime.datetime.now(tz=datetime.UTC).toordinal()
    return sorted(random.Random(day).sample(cases(), count), key=lambda case: case.name)


def value_of(value):
    """A numpy array; a list of them of a sequence; None of an optional value that is left out."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, onnx.SequenceProto):
        return [value_of(each) for each in numpy_helper.to_list(value)]
    if isinstance(value, onnx.OptionalProto):
        return value_of(numpy_helper.to_optional(value))
    if value is None:
        return None
    return [value_of(each) for each in value] if isinstance(value, list) else np.asarray(value)


def light_data(case: Case) -> tuple:
    """The inputs that onnx's runner makes of the shapes, and the results beside the model."""
    stored = {tensor.name for tensor in case.model.graph.initializer}
    inputs = []
    for value in case.model.graph.input:
        if value.name not in stored:
            shape = [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim]
            count = int(np.prod(shape))
            inputs.append((np.arange(count).reshape(shape) / count).astype("float32"))
    results = sorted(case.path.parent.glob(f"{case.path.stem}_output_*.pb"))
    return inputs, [numpy_helper.to_array(onnx.load_tensor(str(file))) for file in results]


def stored_data(case: Case):
    """The pairs in the folders beside the model."""
    for folder in sorted(case.path.parent.glob("test_data_set_*")):
        pair = []
        for side, values in (("input", case.model.graph.input), ("output", case.model.graph.output)):
            read = []
            for n, value in enumerate(values):
                file = folder / f"{side}_{n}.pb"
                if file.exists():
                    read.append(stored_value(file, value.type))
            pair.append(read)
        yield tuple(pair)


def stored_value(file: Path, kind):
    classes = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}
    proto = classes.get(kind.WhichOneof("value"), onnx.TensorProto)()
    proto.ParseFromString(file.read_bytes())
    return value_of(proto)


# ---- running one


def imported(model, inputs: dict, path: Path):
    """The module; inputs that must be known now go from `inputs` into the model."""
    while True:
        onnx.save(model, path)
        try:
            return from_onnx(path)
        except tilewright.Unsupported as problem:
            name = KNOWN_LATER.search(str(problem))
            if not name or not isinstance(inputs.get(name[1]), np.ndarray):
                raise
        model.graph.initializer.append(numpy_helper.from_array(inputs.pop(name[1]), name[1]))
        kept = [value for value in model.graph.input if value.name != name[1]]
        del model.graph.input[:]
        model.graph.input.extend(kept)


def require_equal(found, right, case: Case) -> None:
    if right is None or isinstance(right, list):
        assert (found is None) == (right is None)
        assert len(found or ()) == len(right or ())
        for pair in zip(found or (), right or (), strict=True):
            require_equal(*pair, case)
        return
    found = found.numpy() if hasattr(found, "numpy") else np.asarray(found)
    assert (found.dtype, found.shape) == (right.dtype, right.shape)
    if right.dtype == bool or right.dtype.kind not in "fV":
        np.testing.assert_array_equal(found, right)
        return
    # the reference rounds sums of halves after each term, we at the end
    rtol = max(case.test.rtol, {"bfloat16": 2**-5, "float16": 2**-8}.get(right.dtype.name, 0))
    np.testing.assert_allclose(
        found.astype("float64"), right.astype("float64"), rtol=rtol, atol=max(case.test.atol, 1e-6)
    )


def run_data_set(case: Case, given: list, right: list, path: Path) -> tuple[int, bool]:
    """The number of inputs that became constants, and whether none was left."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    stored = {tensor.name for tensor in model.graph.initializer}
    names = [value.name for value in model.graph.input if value.name not in stored]
    inputs = dict(zip(names, given, strict=False))
    module = imported(model, inputs, path)
    found = tilewright.VirtualMachine(tilewright.compile(module))["main"](*inputs.values())
    found = found if len(model.graph.output) > 1 else (found,)
    assert len(found) == len(right)
    for pair in zip(found, right, strict=True):
        require_equal(*pair, case)
    return len(given) - len(inputs), not inputs


def outcome(case: Case) -> Outcome:
    """Runs a case.  An error that the table of refusals does not know makes it wrong."""
    made = Outcome(case.name, case.kind, case.operator, "passed")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for given, right in case.data_sets:
                made.constants, made.is_folded = run_data_set(case, given, right, Path(folder) / "model.onnx")
        except tilewright.Unsupported as problem:
            made.reason = reason_of(str(problem))
            made.result = "refused" if made.reason else "wrong"
            made.reason = made.reason or f"no row of REASONS has this refusal: {problem}"
        except Exception as problem:
            made.result = "different" if case.name in DIFFERENT else "wrong"
            made.reason = DIFFERENT.get(case.name, f"{type(problem).__name__}: {problem}")
    return made


def outcomes(chosen: list[Case], processes: int = 2) -> list[Outcome]:
    """Runs cases beside each other; that the process of one ends is an outcome, too."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    def pool(count: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(count, multiprocessing.get_context("fork"), single_thread)

    found, left = [], []
    with pool(processes) as executor:
        for case, future in [(case, executor.submit(outcome_of, case.name)) for case in chosen]:
            try:
                found.append(future.result())
            except BrokenProcessPool:
                left.append(case)
    for case in left:
        with pool(1) as executor:
            made = Outcome(case.name, case.kind, case.operator, "wrong", "the process ended")
            with contextlib.suppress(BrokenProcessPool):
                made = executor.submit(outcome_of, case.name).result()
            found.append(made)
    return found


def single_thread() -> None:
    tilewright.runtime.set_num_threads(1)


def outcome_of(name: str) -> Outcome:
    return outcome(by_name()[name])


@functools.cache
def by_name() -> dict[str, Case]:
    return {case.name: case for case in cases()}
