"""Running a model and taking every value of it: by tilewright, by its interpreter, by onnxruntime, or from a file."""

import numpy as np

from ..build import compile
from ..errors import UserError
from ..runtime.vm import VirtualMachine, VMInstrumentReturnKind
from ..tir._interpreter import interpret
from ..transform import PassContext
from .file import ModelFile
from .tensors import with_objects

#: operators whose results are no tensors
_NO_TENSORS = {
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceMap",
    "SplitToSequence",
    "Optional",
}


def arrays_of(results, names: list[str]) -> dict:
    """{name: numpy array} of what a graph gave."""
    results = results if isinstance(results, tuple | list) and len(names) > 1 else (results,)
    arrays = [value if isinstance(value, np.ndarray) else np.array(value.numpy()) for value in results]
    return dict(zip(names, arrays, strict=True))


def run_tilewright(data: bytes, inputs: dict, names: list[str]) -> dict:
    """The outputs `names` of a model, as compiled code computes them."""
    machine = VirtualMachine(compile(data))
    return arrays_of(machine["main"](*_in_order(machine, inputs)), names)


def run_interpreter(data: bytes, inputs: dict, names: list[str]) -> dict:
    """The same by the interpreter of loop programs: each operator alone, in plain loops, every access checked."""
    with PassContext(opt_level=0):
        executable = compile(data)
    machine = VirtualMachine(executable)
    programs = executable.legalized

    def instead(function, name, before_run, result, *args):
        if before_run and name in programs:
            tensors = {n: arg.numpy() for n, arg in enumerate(args) if hasattr(arg, "numpy")}
            copies = [np.array(tensors[n]) if n in tensors else arg for n, arg in enumerate(args)]
            interpret(programs, *copies, name=name, max_steps=1 << 40)
            for n, before in tensors.items():
                if copies[n].tobytes() != before.tobytes():  # a result: what is only read may be read-only
                    args[n].copy_from(copies[n])
            return VMInstrumentReturnKind.SKIP_RUN
        return VMInstrumentReturnKind.NO_OP

    machine.set_instrument(instead)
    return arrays_of(machine["main"](*_in_order(machine, inputs)), names)


def run_onnxruntime(data: bytes, inputs: dict, names: list[str]) -> dict:
    """The same by onnxruntime, without its graph optimisations."""
    try:
        import onnxruntime
    except ImportError:
        raise UserError(
            "--reference onnxruntime needs the package onnxruntime\nhelp: pip install onnxruntime, or take --reference interpreter"
        ) from None
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        read = {value.name for value in session.get_inputs()}
        found = session.run(names, {name: array for name, array in inputs.items() if name in read})
    except Exception as error:  # its classes are of many kinds
        text = str(error).strip().splitlines()
        raise UserError(
            f"onnxruntime cannot run the model: {text[0] if text else type(error).__name__}"
        ) from None
    return dict(zip(names, found, strict=True))


def _in_order(machine: VirtualMachine, inputs: dict) -> list:
    names = [each.name for each in machine.inputs]
    missing = [name for name in names if name not in inputs]
    if missing:
        raise UserError(
            f'there is no array for the input "{missing[0]}"\nhelp: the inputs are {", ".join(names)}'
        )
    return [np.asarray(inputs[name], order="C") for name in names]


def comparable(model: ModelFile) -> list[str]:
    """The values of a model that are tensors, as far as its operators say."""
    return [name for node in model.nodes if node.op not in _NO_TENSORS for name in node.outputs if name]


class Reference:
    """What is taken to be right.

    source  "onnxruntime", "interpreter", or the path of an .npz file with arrays by the names of values
    """

    def __init__(self, source: str):
        runs = {"onnxruntime": run_onnxruntime, "interpreter": run_interpreter}
        self.name, self._run, self._stored = source, runs.get(source), {}
        if self._run is None:
            if not source.endswith(".npz"):
                raise UserError(
                    f'--reference is "{source}"\nhelp: it is onnxruntime, interpreter, or an .npz file of results'
                )
            self._stored = read_arrays(source)

    def values(self, model: ModelFile, inputs: dict) -> dict:
        """{name: array} of every value of the model that the reference has."""
        if self._run is None:
            return {name: array for name, array in self._stored.items() if name in model.values()}
        names = comparable(model)
        return self._run(model.part(model.nodes, names), inputs, names)


def read_arrays(path: str) -> dict:
    """{name: array} of an .npz file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: with_objects(array) for name, array in file.items()}
    except OSError as error:
        raise UserError(f'"{path}" cannot be read: {error.strerror or error}\nhelp: check the path') from None
    except (ValueError, TypeError, AttributeError):
        raise UserError(f'"{path}" is no .npz file of arrays\nhelp: numpy.savez writes one') from None


def inputs_for(model: ModelFile, arrays: dict, path: str) -> dict:
    """The arrays of the model's inputs."""
    missing = [name for name in model.inputs if name not in arrays]
    if missing:
        raise UserError(
            f'"{path}" has no array called "{missing[0]}"\nhelp: the inputs are {", ".join(model.inputs)}'
        )
    return {name: arrays[name] for name in model.inputs}


def random_inputs(model: ModelFile, seed: int, dims: dict[str, int]) -> dict:
    """Floats in [0, 1), whole numbers 0 and 1; open extents are those of `dims`, else 1."""
    generator, inputs = np.random.default_rng(seed), {}
    for name in model.inputs:
        dtype, shape = model.input_type(name)
        extents = [each if isinstance(each, int) else dims.get(each, 1) for each in shape or []]
        if dtype.kind == "O":
            raise UserError(
                f'input "{name}" holds strings, of which there are no random ones\nhelp: give the inputs with --input'
            )
        if dtype.kind in "iub":
            inputs[name] = generator.integers(0, 2, extents).astype(dtype)
        else:
            inputs[name] = generator.random(extents, "float32").astype(dtype)
    return inputs
