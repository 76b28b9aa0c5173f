"""Random inputs of the commands: integers that are indices are inside of what they index."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper

FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64
COMMANDS = [("run", "--random", 0), ("bench", "-n", 1), ("explain",)]


def node(op, *inputs, **attributes):
    return helper.make_node(op, inputs, ["y"], **attributes)


MODELS = {
    "Gather of an open table": ([node("Gather", "x", "i")], {"x": (FLOAT, ["n", 5]), "i": (INT, ["k"])}),
    "Gather of a table of one row": ([node("Gather", "x", "i")], {"x": (FLOAT, [1, 5]), "i": (INT, [7])}),
    "Gather of an open axis": (
        [node("Gather", "x", "i", axis=-1)],
        {"x": (FLOAT, [5, None]), "i": (INT, [7, 3])},
    ),
    "GatherElements": (
        [node("GatherElements", "x", "i", axis=0)],
        {"x": (FLOAT, ["n", "m"]), "i": (INT, ["k", "m"])},
    ),
    "GatherND": ([node("GatherND", "x", "i")], {"x": (FLOAT, ["n", "m"]), "i": (INT, ["k", 2])}),
    "ScatterElements": (
        [node("ScatterElements", "x", "i", "u")],
        {"x": (FLOAT, ["n"]), "i": (INT, ["n"]), "u": (FLOAT, ["n"])},
    ),
    "ScatterND": (
        [node("ScatterND", "x", "i", "u")],
        {"x": (FLOAT, ["n"]), "i": (INT, ["k", 1]), "u": (FLOAT, ["k"])},
    ),
    "Gather behind Cast, Reshape and Unsqueeze": (
        [
            helper.make_node("Cast", ["i"], ["j"], to=TensorProto.INT32),
            helper.make_node("Flatten", ["j"], ["k"]),
            node("Gather", "x", "k"),
        ],
        {"x": (FLOAT, ["n", 5]), "i": (TensorProto.UINT8, ["k", 3])},
    ),
    "ReverseSequence": (
        [node("ReverseSequence", "x", "i", time_axis=0, batch_axis=1)],
        {"x": (FLOAT, ["t", "b"]), "i": (INT, ["b"])},
    ),
}


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("name", MODELS)
def test_indices_are_legal(command, save_model, name, words):
    nodes, inputs = MODELS[name]
    model = save_model(nodes, inputs, {"y": (FLOAT, None)})
    done = command(words[0], model, *words[1:], "-q")
    assert done.code == 0, done.err


def test_a_library_knows_its_indices_too(command, save_model):
    model = save_model(
        [node("Gather", "x", "i")], {"x": (FLOAT, ["n", 5]), "i": (INT, ["k"])}, {"y": (FLOAT, None)}
    )
    assert command("compile", model, "-o", "model.so", "-q").code == 0
    assert command("run", "model.so", "--random", 3, "--dim", "k=50", "-q").code == 0


def test_indices_of_a_constant_table_reach_all_of_it(command, save_model, tmp_path):
    table = {"w": np.arange(7, dtype="float32")}
    model = save_model([node("Gather", "w", "i")], {"i": (INT, [200])}, {"y": (FLOAT, None)}, table)
    assert command("run", model, "--random", 0, "-q", "-o", "y.npy").code == 0
    assert sorted(set(np.load(tmp_path / "y.npy").tolist())) == [0, 1, 2, 3, 4, 5, 6]
