"""tilewright diff: the first operator that differs from a reference, what is written of it, watching for NaN, and dumps."""

import os
import sys

import numpy as np
import pytest

import tilewright
from tilewright import models
from tilewright.models import differences, runs, subgraphs
from tilewright.models.numbers import distance, range_text

onnx = pytest.importorskip("onnx")
FLOAT = onnx.TensorProto.FLOAT
X = np.linspace(-2, 2, 35, dtype="float32").reshape(5, 7)


@pytest.fixture(autouse=True)
def this_python(monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))


@pytest.fixture
def chain(save_model, tmp_path):
    """y = tanh(exp(x @ w)) + log(x @ w) of nodes product, power, bounded, logarithm and sum; x.npz has its input."""
    node = onnx.helper.make_node
    w = np.random.default_rng(0).standard_normal((7, 3)).astype("float32")
    np.savez(tmp_path / "x.npz", x=X)
    nodes = [
        node("MatMul", ["x", "w"], ["a"], name="product"),
        node("Exp", ["a"], ["b"], name="power"),
        node("Tanh", ["b"], ["c"], name="bounded"),
        node("Log", ["a"], ["d"], name="logarithm"),
        node("Add", ["c", "d"], ["y"], name="sum"),
    ]
    return save_model(nodes, {"x": (FLOAT, ["n", 7])}, {"y": (FLOAT, None)}, {"w": w})


def values_of(path):
    model = models.ModelFile(path)
    names = runs.comparable(model)
    return runs.run_tilewright(model.part(model.nodes, names), {"x": X}, names)


@pytest.mark.parametrize("reference", ["interpreter", "onnxruntime"])
def test_a_model_that_agrees(command, chain, reference):
    done = command("diff", chain, "--reference", reference, "--input", "x.npz")
    assert (done.code, done.out, done.err) == (0, f"5 values of 5 nodes agree with {reference}\n", "")


def test_the_first_operator_that_differs(command, chain, tmp_path):
    values = values_of(tmp_path / chain)
    values["c"] = values["c"] + np.float32(0.25)
    values["y"] = values["y"] + np.float32(0.25)
    np.savez(tmp_path / "right.npz", **values)
    done = command("diff", chain, "--reference", "right.npz", "--input", "x.npz", "-o", "found")
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[0].startswith('Tanh node "bounded": c: max abs 0.25')
    assert lines[1].startswith("  input b: float32[5, 3] from ")
    assert lines[2] == "  smallest part that differs: bounded"
    assert lines[3] == "wrote found/model.onnx, inputs.npz and expected.npz; again:"
    with np.load(tmp_path / "found/inputs.npz") as inputs:
        assert list(inputs) == ["b"]
        np.testing.assert_array_equal(inputs["b"], values["b"])
    nodes = onnx.load(tmp_path / "found/model.onnx").graph.node
    assert [node.name for node in nodes] == ["bounded"]
    again = command(*lines[4].split()[1:])
    assert again.code == 1
    assert again.out.splitlines()[:3] == lines[:3]


def test_a_reference_of_another_shape(command, chain, tmp_path):
    np.savez(tmp_path / "right.npz", a=np.zeros((5, 4), "float32"))
    done = command("diff", chain, "--reference", "right.npz", "--input", "x.npz")
    assert done.out.splitlines()[0] == 'MatMul node "product": a: float32[5, 3], expected float32[5, 4]'


def test_kernels_that_differ_only_when_fused(chain, tmp_path, monkeypatch):
    """Where `b` is no output, `c` is off by one, as if the kernel of both were wrong."""

    def wrong(data, inputs, names):
        found = right(data, inputs, names)
        made = [value for node in models.ModelFile(data).nodes for value in node.outputs]
        if "c" in made and "b" in made and "b" not in names:
            for name in {"c", "y"} & set(found):
                found[name] = found[name] + np.float32(1)
        return found

    right = runs.run_tilewright
    monkeypatch.setattr(differences, "run_tilewright", wrong)
    found = models.diff(tmp_path / chain, {"x": X}, "onnxruntime", folder=str(tmp_path / "found"))
    assert found.is_fused
    assert (found.node, found.value, found.chain) == ('Tanh node "bounded"', "c", ["power", "bounded"])
    assert "fused kernels differ" in str(found)
    model = models.ModelFile(tmp_path / "found/model.onnx")
    assert (model.inputs, model.outputs) == (["a"], ["c"])


def test_the_first_nan(command, chain, tmp_path):
    done = command("diff", chain, "--input", "x.npz", "--watch", "nan")
    lines = done.out.splitlines()
    assert done.code == 1
    assert lines[0].startswith('Log node "logarithm": d: float32[5, 3] from ') and lines[0].endswith(" NaN")
    assert lines[1].startswith("  input a: float32[5, 3] from -")
    np.savez(tmp_path / "x.npz", x=np.zeros((1, 7), "float32"))
    done = command("diff", chain, "--input", "x.npz", "--watch", "nan")
    assert (done.code, done.out) == (0, "no NaN in 5 values of 5 nodes\n")
    done = command("diff", chain, "--input", "x.npz", "--watch", "inf")
    assert done.out.startswith('Log node "logarithm": d: float32[1, 3], 3 Inf\n')


def test_values_by_the_name_of_a_node_or_their_own(command, chain, tmp_path):
    done = command("diff", chain, "--input", "x.npz", "--dump", "bounded", "--dump", "a")
    assert done.code == 0 and done.out.splitlines()[-1] == "wrote dump.npz"
    values = values_of(tmp_path / chain)
    with np.load(tmp_path / "dump.npz") as found:
        assert sorted(found) == ["a", "c"]
        np.testing.assert_array_equal(found["c"], values["c"])
    words = ("diff", chain, "--input", "x.npz", "--reference", "onnxruntime", "--dump", "product")
    assert command(*words, "-o", "both").code == 0
    with np.load(tmp_path / "both") as found:
        assert sorted(found) == ["a", "a@reference"]
        np.testing.assert_allclose(found["a"], found["a@reference"], rtol=1e-5, atol=1e-6)
    done = command("diff", chain, "--input", "x.npz", "--dump", "boundd")
    assert (done.code, done.err) == (
        2,
        'error: --dump: there is no node or value "boundd"\nhelp: did you mean bounded?\n',
    )
    done = command("diff", chain, "--input", "x.npz", "--dump", "1234567")
    assert done.err.endswith("help: tilewright inspect model.onnx --coverage --json lists nodes\n")
    done = command("diff", chain, "--input", "x.npz", "--dump", "a", "-o", "no/where.npz")
    assert (
        done.err
        == 'error: "no/where.npz" cannot be written: No such file or directory\nhelp: name another file\n'
    )


def test_random_inputs_are_those_of_the_seed(command, chain):
    words = ("diff", chain, "--random", 3, "--dim", "n=2", "--dump", "a")
    first = command(*words)
    assert first.code == 0 and "a: float32[2, 3] from " in first.out
    assert command(*words).out == first.out
    done = command("diff", chain, "--random", 3, "--dim", "two")
    assert done.err == 'error: --dim is "two", expected a name and a number, e.g. batch=1\n'


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ["--reference", "torch"],
            'error: --reference is "torch"\nhelp: it is onnxruntime, interpreter, or an .npz file of results\n',
        ),
        (
            ["--reference", "no.npz"],
            'error: "no.npz" cannot be read: No such file or directory\nhelp: check the path\n',
        ),
        (
            ["--reference", "model.npz"],
            'error: "model.npz" is no .npz file of arrays\nhelp: numpy.savez writes one\n',
        ),
        (["--input", "z.npz"], 'error: "z.npz" has no array called "x"\nhelp: the inputs are x\n'),
    ],
)
def test_what_is_refused(command, chain, tmp_path, words, text):
    (tmp_path / "model.npz").write_text("no arrays")
    np.savez(tmp_path / "z.npz", z=X)
    done = command("diff", chain, *(["--input", "x.npz"] if "--input" not in words else []), *words)
    assert (done.code, done.out, done.err) == (2, "", text)


def test_a_library_has_no_operators(command, affine):
    command("compile", affine, "-o", "model.so")
    done = command("diff", "model.so")
    assert done.err == (
        'error: "model.so" is compiled already\nhelp: give the ONNX model it was compiled from\n'
    )


def test_a_model_that_onnxruntime_cannot_run(chain, tmp_path, monkeypatch):
    model = onnx.load(tmp_path / chain)
    model.graph.node[1].op_type = "Missing"
    with pytest.raises(tilewright.UserError, match=r"^onnxruntime cannot run the model: "):
        models.diff(model.SerializeToString(), {"x": X}, "onnxruntime")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(tilewright.UserError) as error:
        models.diff(tmp_path / chain, {"x": X}, "onnxruntime")
    assert str(error.value) == (
        "--reference onnxruntime needs the package onnxruntime\nhelp: pip install onnxruntime, or take --reference interpreter"
    )


def test_an_input_without_an_array(chain, tmp_path):
    with pytest.raises(tilewright.UserError) as error:
        models.diff(tmp_path / chain, {})
    assert str(error.value) == 'there is no array for the input "x"\nhelp: the inputs are x'


def test_a_reproducer_that_cannot_be_written(command, chain, tmp_path):
    np.savez(tmp_path / "right.npz", a=np.zeros((5, 3), "float32"))
    (tmp_path / "file").touch()
    done = command("diff", chain, "--reference", "right.npz", "--input", "x.npz", "-o", "file/folder")
    assert (done.code, done.err) == (
        2,
        'error: "file/folder" cannot be written: Not a directory\nhelp: name another folder\n',
    )


def test_distances():
    one = np.array([1, 2, np.nan, np.inf, 0], "float32")
    far = distance(one, one)
    assert (far.max_abs, far.max_ulp, far.is_far) == (0, 0, False)
    two = one.copy()
    two[1] = np.nextafter(np.float32(2), np.float32(3))
    far = distance(two, one)
    assert (far.at, far.max_ulp, far.is_far) == ((1,), 1, False)
    assert str(far) == "max abs 2.38e-07 at [1], max rel 1.19e-07, 1 ULP"
    two[3] = 1
    assert distance(two, one).is_far and distance(two, one).max_abs == np.inf
    assert distance(np.array([-0.0], "float32"), np.array([0.0], "float32")).max_ulp == 0
    assert distance(np.float16([1, 1.006]), np.float16([1, 1])).is_far
    assert not distance(np.float16([1, 1.002]), np.float16([1, 1])).is_far
    assert distance(np.int8([3]), np.int8([-128])).max_abs == 131
    assert str(distance(np.zeros(3, "int8"), np.zeros(2, "int8"))) == "int8[3], expected int8[2]"
    assert not distance(np.zeros(0, "float32"), np.zeros(0, "float32")).is_far


def test_ranges():
    assert (
        range_text(np.array([[1, -np.inf, np.nan]], "float32")) == "float32[1, 3] from 1 to 1, 1 NaN, 1 Inf"
    )
    assert range_text(np.zeros((0, 3), "int8")) == "int8[0, 3]"


@pytest.fixture
def texts(save_model, tmp_path):
    """b = a or "ö" where a is "dog", c = b + b; x.npz has a."""
    node, text = onnx.helper.make_node, onnx.TensorProto.STRING
    np.savez(tmp_path / "x.npz", a=np.array(["dog", "é", ""]))
    nodes = [
        node("Equal", ["a", "dog"], ["is_dog"]),
        node("Where", ["is_dog", "other", "a"], ["b"], name="choice"),
        node("StringConcat", ["b", "b"], ["c"], name="twice"),
    ]
    constants = {
        name: onnx.helper.make_tensor(name, text, [1], [value.encode()])
        for name, value in [("dog", "dog"), ("other", "ö")]
    }
    name = save_model(nodes, {"a": (text, ["n"])}, {"c": (text, None)}, constants)
    model = onnx.load(tmp_path / name)
    model.opset_import[0].version = 20
    onnx.save(model, tmp_path / name)
    return name


@pytest.mark.parametrize("reference", ["interpreter", "onnxruntime"])
def test_strings_that_agree(command, texts, reference):
    done = command("diff", texts, "--reference", reference, "--input", "x.npz")
    assert (done.code, done.out, done.err) == (0, f"3 values of 3 nodes agree with {reference}\n", "")


def test_strings_that_differ(command, texts, tmp_path):
    np.savez(tmp_path / "right.npz", b=np.array(["ö", "é", "-"]), c=np.array(["öö", "éé", "--"]))
    done = command("diff", texts, "--reference", "right.npz", "--input", "x.npz", "-o", "found")
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines()[0] == 'Where node "choice": b: 1 of 3 strings differ'
    with np.load(tmp_path / "found/expected.npz") as expected:
        assert expected["b"].tolist() == ["ö", "é", "-"]


def test_no_random_strings(command, texts):
    done = command("diff", texts)
    assert (done.code, done.err) == (
        2,
        'error: input "a" holds strings, of which there are no random ones\nhelp: give the inputs with --input\n',
    )


@pytest.fixture
def branches(save_model, tmp_path):
    """y = a Loop over three iterations of an If of x + 1, and what is made of it; x.npz has its input."""
    node, graph, value = onnx.helper.make_node, onnx.helper.make_graph, onnx.helper.make_tensor_value_info
    kinds = {"bool": onnx.TensorProto.BOOL, "int": onnx.TensorProto.INT64}
    then = graph([node("Exp", ["a"], ["t0"], name="power"), node("Mul", ["t0", "k"], ["t"], name="scaled")],
                 "then", [], [value("t", FLOAT, None)])  # fmt: skip
    other = graph([node("Neg", ["a"], ["e"], name="less")], "else", [], [value("e", FLOAT, None)])
    body = graph(
        [
            node("Identity", ["go"], ["on"]),
            node("Tanh", ["v"], ["v1"], name="bounded"),
            node("Mul", ["v1", "b"], ["v2"], name="product"),
        ],
        "body",
        [value("i", kinds["int"], []), value("go", kinds["bool"], []), value("v", FLOAT, [5, 7])],
        [value("on", kinds["bool"], []), value("v2", FLOAT, [5, 7])],
    )
    nodes = [
        node("Add", ["x", "one"], ["a"], name="more"),
        node("If", ["yes"], ["b"], name="either", then_branch=then, else_branch=other),
        node("Loop", ["three", "", "a"], ["y"], name="again", body=body),
    ]
    constants = {"one": np.float32(1), "k": np.float32(0.5), "yes": np.array(True), "three": np.int64(3)}
    constants = {name: np.asarray(array) for name, array in constants.items()}
    np.savez(tmp_path / "x.npz", x=X)
    return save_model(nodes, {"x": (FLOAT, [5, 7])}, {"y": (FLOAT, [5, 7])}, constants)


LEFT = '3 nodes inside of If node "either", 3 nodes inside of Loop node "again"'


def test_says_what_is_inside_of_nodes(command, branches):
    done = command("diff", branches, "--reference", "onnxruntime", "--input", "x.npz")
    assert (done.code, done.out) == (
        0, f"3 values of 3 nodes agree with onnxruntime\nnot compared one by one: {LEFT}\n",
    )  # fmt: skip
    done = command("diff", branches, "--input", "x.npz", "--watch", "nan")
    assert (done.code, done.out) == (0, f"no NaN in 3 values of 3 nodes\nnot looked at: {LEFT}\n")
    done = command("diff", branches, "--input", "x.npz", "--dump", "scaled")
    assert (done.code, done.err) == (
        2,
        'error: --dump: "scaled" is inside of If node "either"\n'
        "help: only values of the main graph can be written; --reference compares what such a node ran first\n",
    )


@pytest.mark.parametrize(
    ("op", "place", "value"),
    [
        ("Mul", 'then_branch of If node "either": Mul node "scaled"', "t"),
        ("Tanh", 'body, first iteration of Loop node "again": Tanh node "bounded"', "v1"),
    ],
)
def test_the_first_operator_inside_that_differs(branches, tmp_path, monkeypatch, op, place, value):
    """Ours computes `op` wrong: what it makes is off by one wherever it is an output, or what a node with graphs makes."""
    right = runs.run_tilewright

    def wrong(data, inputs, names):
        model = models.ModelFile(data)
        found = right(data, inputs, names)
        for each in model.nodes:
            inside = [name for inner in subgraphs.nodes_inside(each) for name in [inner.op]]
            for name in each.outputs:
                if name in found and found[name].dtype == np.float32 and (each.op == op or op in inside[-2:]):
                    found[name] = found[name] + np.float32(1)
        return found

    monkeypatch.setattr(differences, "run_tilewright", wrong)
    found = models.diff(tmp_path / branches, {"x": X}, "onnxruntime")
    assert isinstance(found.inside, models.Difference)
    assert (found.inside.node, found.inside.value) == (place, value)
    assert f"\n  {place}: {value}: max abs 1" in str(found)


def test_what_cannot_be_compared_inside(command, branches, tmp_path):
    values = {"a": X + 1, "b": np.exp(X + 1), "y": X}
    np.savez(tmp_path / "right.npz", **values)
    done = command("diff", branches, "--reference", "right.npz", "--input", "x.npz")
    assert done.code == 1
    assert '  not compared: values inside of If node "either", which right.npz does not have\n' in done.out
    model = models.ModelFile(tmp_path / branches)
    assert subgraphs.graph_that_ran(model, model.nodes[2], {}) is None
    place, inner, inputs = subgraphs.graph_that_ran(model, model.nodes[1], {"a": X})
    assert (place, inner.inputs, inner.outputs) == ('then_branch of If node "either"', ["a"], ["t"])
    assert list(inputs) == ["a"]
