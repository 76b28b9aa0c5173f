"""--fix of the commands and shapes= of Python: open dimensions become numbers."""

import json

import numpy as np
import pytest

import tilewright
from tilewright import UserError
from tilewright.frontend.onnx import from_onnx

onnx = pytest.importorskip("onnx")
FLOAT = onnx.TensorProto.FLOAT


@pytest.fixture
def model(save_model):
    """relu(x[n, 3, ?]) and the transposed y[?, n]."""
    nodes = [onnx.helper.make_node("Relu", ["x"], ["a"]), onnx.helper.make_node("Transpose", ["y"], ["b"])]
    inputs = {"x": (FLOAT, ["n", 3, None]), "y": (FLOAT, ["?", "n"])}
    return save_model(nodes, inputs, {"a": (FLOAT, None), "b": (FLOAT, None)})


def test_inspect_shows_numbers(command, model):
    done = command("inspect", model, "--fix", "n=2", "--fix", "x.2=5", "--json", "-q")
    shown = [each["type"] for each in json.loads(done.out)["inputs"]]
    assert shown == ["float32[2, 3, 5]", "float32[y.0, 2]"]


@pytest.mark.parametrize(
    "words",
    [("compile", "-o", "model.so"), ("run", "--random", 0), ("bench", "-n", 1), ("explain",)],
    ids=str,
)
def test_all_commands_take_it(command, model, words):
    done = command(words[0], model, *words[1:], "--fix", "n=2", "--fix", "y.0=4", "--fix", "x.2=5", "-q")
    assert done.code == 0


def test_a_library_takes_none(command, model):
    command("compile", model, "-o", "model.so", "-q")
    done = command("run", "model.so", "--fix", "n=2", "-q")
    assert (done.code, done.err) == (
        2,
        'error: --fix does not apply to "model.so", which is compiled already\nhelp: give the option to `tilewright compile`\n',
    )


@pytest.mark.parametrize(
    ("word", "error"),
    [
        ("m=2", 'error: the model has no open dimension "m"\nhelp: the names are n, x.2, y.0\n'),
        ("x.1=2", 'error: dimension "x.1" cannot be 2: the model says 3\n'),
        ("n", "error: --fix n: expected a name and a size, e.g. n=8\n"),
        ("n=0", "error: --fix n=0: the size 0 is below 1\n"),
    ],
)
def test_refused(command, model, word, error):
    done = command("inspect", model, "--fix", word, "-q")
    assert (done.code, done.err) == (2, error)


def test_a_model_without_open_dimensions(command, save_model):
    name = save_model(
        [onnx.helper.make_node("Relu", ["x"], ["a"])], {"x": (FLOAT, [2])}, {"a": (FLOAT, None)}
    )
    done = command("inspect", name, "--fix", "n=2", "-q")
    assert (done.code, done.err) == (
        2,
        'error: the model has no dimension "n"\nhelp: all its dimensions have numbers\n',
    )


def test_compile_takes_shapes(tmp_path, model):
    x, y = np.ones((2, 3, 5), "float32"), np.ones((4, 2), "float32")
    for source in (
        str(tmp_path / model),
        (tmp_path / model).read_bytes(),
        from_onnx(tmp_path / model),
    ):
        shapes = {"n": 2} if isinstance(source, tilewright.IRModule) else {"n": 2, "x.1": 3, "x.2": 5}
        main = tilewright.VirtualMachine(tilewright.compile(source, shapes=shapes))["main"]
        assert main(x, y)[1].shape == (2, 4)
        with pytest.raises(UserError, match="expected float32"):
            main(np.ones((1, 3, 5), "float32"), np.ones((4, 1), "float32"))


@pytest.mark.parametrize(
    ("shapes", "error"),
    [
        ([("n", 2)], 'shapes is a Python list, expected a dict\nhelp: e.g. {"batch": 1}'),
        ({"n": 2.5}, "shapes has 'n': 2.5, expected a name and a whole number\nhelp: e.g. {\"batch\": 1}"),
        ({"n": -2}, 'dimension "n" cannot be -2'),
    ],
    ids=str,
)
def test_wrong_shapes(tmp_path, model, shapes, error):
    with pytest.raises(UserError) as problem:
        tilewright.compile(str(tmp_path / model), shapes=shapes)
    assert str(problem.value).removeprefix("error: ") == error


def test_axes_without_names_are_called_alike_everywhere(command, model, tmp_path):
    """In `shapes=`, --fix and --dim, in what takes them, and in errors."""
    module = from_onnx(tmp_path / model)
    text = module.script()
    assert tilewright.ir.structural_equal(tilewright.script.parse(text), module)  # there it is x_2
    executable = tilewright.compile(module)
    assert [each.shape for each in executable.inputs] == [("n", 3, "x.2"), ("y.0", "n")]
    main = tilewright.VirtualMachine(executable)["main"]
    with pytest.raises(UserError) as error:
        main(np.zeros((2, 4, 5), "float32"), np.zeros((3, 2), "float32"))
    assert str(error.value) == (
        "error: main: x is float32[2, 4, 5], expected float32[n, 3, x.2]\n"
        "help: the function is main(x: float32[n, 3, x.2], y: float32[y.0, n]) -> a: float32[n, 3, x.2], b: float32[n, y.0]"
    )
    fixed = tilewright.compile(tmp_path / model, shapes={"x.2": 5, "y.0": 4})
    assert [each.shape for each in fixed.inputs] == [("n", 3, 5), (4, "n")]
    done = command("run", model, "--random", 0, "--dim", "x.2=5", "--dim", "y.0=4", "--dim", "n=2", "-q")
    assert done.code == 0
    assert "[2, 3, 5]" in done.out
