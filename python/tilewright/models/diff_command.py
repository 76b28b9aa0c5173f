"""The program behind `tilewright diff`."""

from types import SimpleNamespace

import numpy as np

from ..errors import UserError
from .differences import diff, first_strange
from .file import ModelFile
from .numbers import range_text
from .program import dims_of, run_program, threads_set
from .runs import Reference, comparable, inputs_for, random_inputs, read_arrays, run_tilewright
from .subgraphs import nodes_inside, not_compared
from .tensors import without_objects


def _inputs(model: ModelFile, asked: SimpleNamespace) -> dict:
    if asked.input:
        return inputs_for(model, read_arrays(asked.input), asked.input)
    return random_inputs(model, asked.seed, dims_of(asked.dim, "--dim"))


def _values_of(model: ModelFile, name: str) -> list[str]:
    """The values that a name stands for: the outputs of the node called so, or the value itself.

    Raises UserError with near names if there is neither
    """
    import difflib

    for node in model.nodes:
        if node.name == name:
            return [each for each in node.outputs if each]
    if name in model.values():
        return [name]
    for node in model.nodes:
        if any(name == each.name or name in each.outputs for each in nodes_inside(node)):
            raise UserError(
                f'--dump: "{name}" is inside of {node.shown}\n'
                "help: only values of the main graph can be written; --reference compares what such a node ran first"
            )
    known = [*filter(None, (node.name for node in model.nodes)), *model.values()]
    near = difflib.get_close_matches(name, known, 1)
    help_text = (
        f"did you mean {near[0]}?" if near else "tilewright inspect model.onnx --coverage --json lists nodes"
    )
    raise UserError(f'--dump: there is no node or value "{name}"\nhelp: {help_text}')


def _dump(model: ModelFile, inputs: dict, asked: SimpleNamespace) -> None:
    names = [value for name in asked.dump for value in _values_of(model, name)]
    found = run_tilewright(model.part(model.nodes, names), inputs, names)
    right = Reference(asked.reference).values(model, inputs) if asked.reference else {}
    arrays = found | {f"{name}@reference": right[name] for name in names if name in right}
    try:
        with open(asked.output, "wb") as file:  # noqa: PTH123  savez would append .npz to another name
            np.savez(file, **without_objects(arrays))
    except OSError as error:
        raise UserError(
            f'"{asked.output}" cannot be written: {error.strerror}\nhelp: name another file'
        ) from None
    for name, array in arrays.items():
        print(f"{name}: {range_text(array)}")
    print(f"wrote {asked.output}")


def _say_what_is_left(model: ModelFile, what: str) -> None:
    """Values inside of branches and bodies are no values of the main graph."""
    left = not_compared(model)
    if left:
        print(f"not {what}: {left}")


def _watch(model: ModelFile, inputs: dict, kinds: str) -> int:
    names = comparable(model)
    found = run_tilewright(model.part(model.nodes, names), inputs, names)
    strange = first_strange(model, found, kinds)
    if strange is None:
        print(
            f"no {'NaN' if kinds == 'nan' else 'NaN or Inf'} in {len(found)} values of {len(model.nodes)} nodes"
        )
        _say_what_is_left(model, "looked at")
        return 0
    node, name = strange
    print(f"{node.shown}: {name}: {range_text(found[name])}")
    arrays = inputs | found
    for each in node.inputs:
        array = arrays.get(each) if each in arrays else model.constant(each) if each else None
        if array is not None:
            print(f"  input {each}: {range_text(array)}")
    return 1


def _run(asked: SimpleNamespace) -> int:
    model = ModelFile(asked.model)
    inputs = _inputs(model, asked)
    with threads_set(asked.threads):
        if asked.dump:
            _dump(model, inputs, asked)
            return 0
        if asked.watch:
            return _watch(model, inputs, asked.watch)
        reference = asked.reference or "interpreter"
        found = diff(
            model, inputs, reference, rtol=asked.rtol, atol=asked.atol, folder=asked.output or "diff"
        )
    if found is None:
        print(f"{len(comparable(model))} values of {len(model.nodes)} nodes agree with {reference}")
        _say_what_is_left(model, "compared one by one")
        return 0
    print(found)
    print(f"wrote {found.folder}/model.onnx, inputs.npz and expected.npz; again:")
    print(
        f"  tilewright diff {found.folder}/model.onnx --input {found.folder}/inputs.npz --reference {found.folder}/expected.npz"
    )
    return 1


def main(options: str) -> int:
    """Runs the command with its options as JSON, which tilewright/cli/commands/diff.cc writes; returns the exit code."""
    return run_program(_run, options)
