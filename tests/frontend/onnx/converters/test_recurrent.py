"""RNN, GRU and LSTM against onnxruntime, against torch, and against loops in numpy where neither has the case."""

import itertools

import numpy as np
import onnxruntime
import pytest
import torch
from onnx import helper, numpy_helper

import tilewright

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
NUM_ACTIVATIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
NAMES = ["x", "w", "r", "b", "lengths", "h0", "c0", "p"]


def arrays(kind, time, batch, inputs, hidden, directions=1, dtype="float32", layout=0, seed=0, **given):
    """Values of all inputs by name; `given` says which optional ones there are."""
    rng = np.random.default_rng(seed)

    def random(*shape):
        return (rng.standard_normal(shape) * 0.5).astype(dtype)

    gates = GATES[kind] * hidden
    state = (batch, directions, hidden) if layout else (directions, batch, hidden)
    values = {
        "x": random(batch, time, inputs) if layout else random(time, batch, inputs),
        "w": random(directions, gates, inputs),
        "r": random(directions, gates, hidden),
        "b": random(directions, 2 * gates),
        "lengths": rng.integers(0, time + 1, batch).astype("int32"),
        "h0": random(*state),
        "c0": random(*state),
        "p": random(directions, 3 * hidden),
    }
    optional = {"b": True, "lengths": False, "h0": True, "c0": kind == "LSTM", "p": False} | given
    return {name: value for name, value in values.items() if optional.get(name, True)}


def model_of(kind, values, shapes=None, fed=("x", "lengths", "h0", "c0"), outputs=None, opset=22, **attrs):
    """One node; the inputs that are not fed are initializers."""
    dtype = helper.np_dtype_to_tensor_dtype
    last = max(NAMES.index(name) for name in values)
    shown = ["y", "yh", "yc"][: 3 if kind == "LSTM" else 2] if outputs is None else outputs
    hidden = values["r"].shape[2]
    node = helper.make_node(
        kind,
        [name if name in values else "" for name in NAMES[: last + 1]],
        shown,
        hidden_size=hidden,
        **attrs,
    )
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(
                name, dtype(values[name].dtype), (shapes or {}).get(name, values[name].shape)
            )
            for name in fed
            if name in values
        ],
        [helper.make_tensor_value_info(name, dtype(values["x"].dtype), None) for name in shown if name],
        [numpy_helper.from_array(value, name) for name, value in values.items() if name not in fed],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def run(model, values, fed=("x", "lengths", "h0", "c0"), **options):
    main = tilewright.VirtualMachine(tilewright.compile(model, **options))["main"]
    result = main(*[values[name] for name in fed if name in values])
    return [each.numpy() for each in result] if isinstance(result, tuple) else [result.numpy()]


def by_onnxruntime(model, values, fed=("x", "lengths", "h0", "c0")):
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {name: values[name] for name in fed if name in values})


def close(found, expected, tolerance=2e-5):
    assert len(found) == len(expected)
    for each, wanted in zip(found, expected, strict=True):
        assert (each.dtype, each.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(
            each.astype("float64"), wanted.astype("float64"), rtol=tolerance, atol=tolerance
        )


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def by_loops(kind, values, layout=0, direction="forward", linear_before_reset=0):
    """With the default activations, in float64."""
    v = {name: value.astype("float64") for name, value in values.items()}
    x = v["x"].transpose(1, 0, 2) if layout else v["x"]
    time, batch, _ = x.shape
    directions, hidden = v["r"].shape[0], v["r"].shape[2]
    gates = GATES[kind]
    y = np.zeros((time, directions, batch, hidden))
    last = []
    for d in range(directions):
        state = np.zeros((batch, hidden)) if "h0" not in v else (v["h0"][:, d] if layout else v["h0"][d])
        cell = np.zeros((batch, hidden)) if "c0" not in v else (v["c0"][:, d] if layout else v["c0"][d])
        bias = v["b"][d] if "b" in v else np.zeros(2 * gates * hidden)
        wb, rb = np.split(bias, 2)
        backward = direction == "reverse" or d == 1
        for t in reversed(range(time)) if backward else range(time):
            xs = np.split(x[t] @ v["w"][d].T + wb, gates, 1)
            hs = np.split(state @ v["r"][d].T + rb, gates, 1)
            if kind == "RNN":
                state = np.tanh(xs[0] + hs[0])
            elif kind == "GRU":
                z, r = sigmoid(xs[0] + hs[0]), sigmoid(xs[1] + hs[1])
                share = r * hs[2]
                if not linear_before_reset:
                    share = (r * state) @ v["r"][d][2 * hidden :].T + rb[2 * hidden :]
                state = (1 - z) * np.tanh(xs[2] + share) + z * state
            else:
                i, o, f = (sigmoid(xs[n] + hs[n]) for n in range(3))
                cell = f * cell + i * np.tanh(xs[3] + hs[3])
                state = o * np.tanh(cell)
            y[t, d] = state
        last.append((state, cell))
    finals = [np.stack(each, 1 if layout else 0) for each in zip(*last, strict=True)]
    whole = y.transpose(2, 0, 1, 3) if layout else y
    return [each.astype(values["x"].dtype) for each in [whole, *finals[: 2 if kind == "LSTM" else 1]]]


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize(("time", "batch"), [(1, 1), (3, 2), (7, 5)])
def test_directions(kind, direction, time, batch):
    values = arrays(kind, time, batch, 5, 7, directions=1 + (direction == "bidirectional"))
    model = model_of(kind, values, direction=direction)
    close(run(model, values), by_onnxruntime(model, values))


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_the_size_127(kind):
    values = arrays(kind, 5, 3, 127, 127)
    for name in ("w", "r"):
        values[name] /= 10
    model = model_of(kind, values)
    close(run(model, values), by_onnxruntime(model, values))


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("time", [2, 7])
def test_sequences_of_different_lengths(kind, direction, time):
    values = arrays(
        kind, time, 5, 3, 5, directions=1 + (direction == "bidirectional"), lengths=True, seed=time
    )
    values["lengths"][:] = [time, 1, time - 1, 2, 1]
    model = model_of(kind, values, direction=direction)
    close(run(model, values), by_onnxruntime(model, values))


def test_an_empty_sequence_keeps_its_state():
    values = arrays("LSTM", 7, 2, 3, 5, lengths=True)
    values["lengths"][:] = [0, 7]
    y, yh, yc = run(model_of("LSTM", values), values)
    assert np.array_equal(yh[0, 0], values["h0"][0, 0]) and np.array_equal(yc[0, 0], values["c0"][0, 0])
    assert not y[:, 0, 0].any() and y[:, 0, 1].all()


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_layout_1(kind, direction):
    values = arrays(kind, 7, 2, 3, 5, directions=1 + (direction == "bidirectional"), layout=1)
    model = model_of(kind, values, direction=direction, layout=1)
    close(run(model, values), by_loops(kind, values, layout=1, direction=direction))


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 2e-3), ("float64", 1e-12)])
@pytest.mark.parametrize("time", [1, 7])
@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_other_dtypes(kind, dtype, tolerance, time):
    values = arrays(kind, time, 2, 3, 5, dtype=dtype)
    found = run(model_of(kind, values), values)
    close(found, by_loops(kind, values), tolerance)


ACTIVATIONS = {
    "Affine": ([0.7], [0.3]),
    "LeakyRelu": ([0.2], []),
    "ThresholdedRelu": ([0.1], []),
    "ScaledTanh": ([0.8], [1.3]),
    "HardSigmoid": ([0.3], [0.4]),
    "Elu": ([0.9], []),
    "Softsign": ([], []),
    "Softplus": ([], []),
    "Relu": ([], []),
    "Tanh": ([], []),
    "Sigmoid": ([], []),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    alpha, beta = ACTIVATIONS[name]
    constants = {"activation_alpha": alpha, "activation_beta": beta}
    values = arrays("RNN", 5, 2, 3, 5)
    model = model_of(
        "RNN", values, activations=[name], **{key: value for key, value in constants.items() if value}
    )
    close(run(model, values), by_onnxruntime(model, values))


def test_names_of_activations_in_small_letters():
    values = arrays("RNN", 5, 2, 3, 5)
    small, large = (run(model_of("RNN", values, activations=[name]), values) for name in ("relu", "Relu"))
    close(small, large, 0)


def test_activations_of_gates_and_directions():
    """The lists of constants have one for each function that has one."""
    attrs = {
        "activations": ["HardSigmoid", "ScaledTanh", "LeakyRelu", "Sigmoid", "Elu", "Affine"],
        "activation_alpha": [0.2, 0.9, 0.1, 0.7, 0.6],
        "activation_beta": [0.5, 1.1, 0.2],
        "direction": "bidirectional",
    }
    values = arrays("LSTM", 5, 2, 3, 5, directions=2)
    model = model_of("LSTM", values, **attrs)
    close(run(model, values), by_onnxruntime(model, values))
    attrs |= {
        "activations": ["HardSigmoid", "Softsign", "Sigmoid", "Tanh"],
        "activation_alpha": [0.3],
        "activation_beta": [0.4],
    }
    values = arrays("GRU", 5, 2, 3, 5, directions=2)
    model = model_of("GRU", values, **attrs)
    close(run(model, values), by_onnxruntime(model, values))


def test_constants_with_an_entry_for_each_activation():
    values = arrays("GRU", 5, 2, 3, 5)
    given = {"activations": ["Sigmoid", "Elu"]}
    one = run(model_of("GRU", values, activation_alpha=[0.5], **given), values)
    each = run(model_of("GRU", values, activation_alpha=[9.0, 0.5], **given), values)
    close(one, each, 0)


@pytest.mark.parametrize(
    ("kind", "attrs"),
    [
        ("RNN", {"clip": 0.25}),
        ("GRU", {"clip": 0.25}),
        ("GRU", {"clip": 0.25, "linear_before_reset": 1}),
        ("LSTM", {"clip": 0.25}),
        ("LSTM", {"input_forget": 1}),
        ("LSTM", {"p": True}),
        ("LSTM", {"p": True, "clip": 0.5, "direction": "bidirectional"}),
        ("LSTM", {"p": True, "input_forget": 1}),
        ("GRU", {"linear_before_reset": 1}),
        ("GRU", {"linear_before_reset": 1, "b": False}),
        ("GRU", {"linear_before_reset": 1, "direction": "bidirectional"}),
        ("LSTM", {"b": False, "h0": False, "c0": False}),
        ("LSTM", {"c0": False}),
        ("RNN", {"b": False, "h0": False}),
    ],
)
def test_options(kind, attrs):
    attrs = dict(attrs)
    directions = 1 + (attrs.get("direction") == "bidirectional")
    given = {name: attrs.pop(name) for name in ("b", "h0", "c0", "p") if name in attrs}
    for time in (1, 5):
        values = arrays(kind, time, 2, 3, 5, directions=directions, **given)
        model = model_of(kind, values, **attrs)
        close(run(model, values), by_onnxruntime(model, values))


@pytest.mark.parametrize(
    ("kind", "outputs"),
    [
        (kind, list(outputs))
        for kind in GATES
        for outputs in itertools.product(*[(name, "") for name in ["y", "yh", "yc"][: 2 + (kind == "LSTM")]])
        if any(outputs)
    ],
)
def test_outputs_that_are_left_out(kind, outputs):
    for time in (1, 5):
        values = arrays(kind, time, 2, 3, 5)
        whole = run(model_of(kind, values), values)
        found = run(model_of(kind, values, outputs=outputs), values)
        close(found, [each for each, name in zip(whole, outputs, strict=True) if name], 1e-6)


@pytest.mark.parametrize("kind", GATES)
def test_the_output_sequence_of_early_opsets(kind):
    """Before opset 7 an attribute says whether the first result is given, as its name does."""
    values = arrays(kind, 5, 2, 3, 5)
    whole = run(model_of(kind, values), values)
    for opset in (1, 3, 6):
        close(run(model_of(kind, values, opset=opset, output_sequence=1), values), whole)
        found = run(model_of(kind, values, opset=opset, output_sequence=0, outputs=["", "yh"]), values)
        close(found, whole[1:2])
    with pytest.raises(tilewright.UserError, match='attribute "output_sequence" exists in opset 1 to 6'):
        tilewright.compile(model_of(kind, values, opset=7, output_sequence=1))


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("has_lengths", [False, True])
def test_open_batch_and_open_time(kind, direction, has_lengths):
    directions = 1 + (direction == "bidirectional")
    shapes = {
        "x": ("time", "batch", 3),
        "lengths": ("batch",),
        "h0": (directions, "batch", 5),
        "c0": (directions, "batch", 5),
    }
    sample = arrays(kind, 7, 5, 3, 5, directions=directions, lengths=has_lengths)
    model = model_of(kind, sample, shapes, direction=direction)
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    for time, batch in ((7, 5), (1, 1), (2, 3), (5, 1)):
        values = arrays(kind, time, batch, 3, 5, directions=directions, lengths=has_lengths, seed=9) | {
            name: sample[name] for name in ("w", "r", "b")
        }
        if has_lengths:
            values["lengths"][:] = np.arange(batch) % time + 1
        fed = [values[name] for name in ("x", "lengths", "h0", "c0") if name in values]
        close([each.numpy() for each in main(*fed)], by_onnxruntime(model, values))


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize(("time", "batch"), [(0, 2), (5, 0), (1, 0), (0, 0)])
def test_empty_batch_and_empty_time(kind, direction, time, batch):
    values = arrays(kind, time, batch, 3, 5, directions=1 + (direction == "bidirectional"))
    expected = by_loops(kind, values, direction=direction)
    close(run(model_of(kind, values, direction=direction), values), expected)
    shapes = {"x": ("time", "batch", 3)}
    close(run(model_of(kind, values, shapes, direction=direction), values), expected)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_weights_that_are_fed(kind):
    """As in ONNX's own cases; all in opset 7, too."""
    fed = ("x", "w", "r", "b", "lengths", "h0", "c0", "p")
    for time in (1, 7):
        values = arrays(kind, time, 2, 3, 5, p=kind == "LSTM")
        model = model_of(kind, values, fed=fed, opset=7)
        close(run(model, values, fed), by_onnxruntime(model, values, fed))


def torch_values(module, x, kind):
    order = {"LSTM": [0, 3, 1, 2], "GRU": [1, 0, 2], "RNN": [0]}[kind]
    hidden = module.hidden_size

    def arranged(name, suffix):
        value = getattr(module, name + suffix).detach().numpy()
        return np.concatenate([value[n * hidden : (n + 1) * hidden] for n in order])

    suffixes = ["_l0", "_l0_reverse"] if module.bidirectional else ["_l0"]
    return {
        "x": x,
        "w": np.stack([arranged("weight_ih", s) for s in suffixes]),
        "r": np.stack([arranged("weight_hh", s) for s in suffixes]),
        "b": np.stack([np.concatenate([arranged("bias_ih", s), arranged("bias_hh", s)]) for s in suffixes]),
    }


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_as_torch(kind, bidirectional):
    torch.manual_seed(0)
    module = getattr(torch.nn, kind)(5, 7, bidirectional=bidirectional)
    x = np.random.default_rng(0).standard_normal((5, 3, 5)).astype("float32")
    with torch.no_grad():
        expected = module(torch.tensor(x))[0].numpy()
    values = torch_values(module, x, kind)
    attrs = {"linear_before_reset": 1} if kind == "GRU" else {}
    model = model_of(
        kind, values, outputs=["y"], direction="bidirectional" if bidirectional else "forward", **attrs
    )
    (found,) = run(model, values)
    close([found.transpose(0, 2, 1, 3).reshape(expected.shape)], [expected])


def test_weights_made_by_operators_are_packed_like_constants():
    """Exporters cut and join PyTorch's gates; no step of the loop packs or moves weights."""
    values = arrays("LSTM", 9, 1, 32, 64)
    graph = model_of("LSTM", values).graph
    parts = [numpy_helper.from_array(part, f"r{n}") for n, part in enumerate(np.split(values["r"], 2, 1))]
    kept = [each for each in graph.initializer if each.name != "r"]
    del graph.initializer[:]
    graph.initializer.extend([*kept, *parts])
    graph.node.insert(0, helper.make_node("Concat", ["r0", "r1"], ["r"], axis=1))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    close(run(model, values), by_onnxruntime(model_of("LSTM", values), values))
    body = str(tilewright.frontend.onnx.from_onnx(model)["lstm_step"])
    assert "permute_dims" not in body and "R.const" in body or "metadata" in body


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"direction": "backward"},
            'direction is "backward"\nhelp: the names are forward, reverse, bidirectional',
        ),
        (
            {"activations": ["Tanh", "Relu"]},
            'attribute "activations" has 2 names, expected 1 for 1 direction',
        ),
        ({"activations": ["Swish"]}, 'attribute "activations" names "Swish"'),
        (
            {"direction": "bidirectional"},
            'R is [1, 5, 5], expected [2, 5, 5] for hidden_size 5 and direction "bidirectional"',
        ),
    ],
)
def test_what_is_wrong(change, text):
    values = arrays("RNN", 5, 2, 3, 5)
    with pytest.raises(tilewright.UserError) as error:
        tilewright.compile(model_of("RNN", values, **change))
    assert str(error.value).startswith(f'error: RNN node that makes "y": {text}')


def test_shapes_that_are_wrong_or_unknown():
    values = arrays("RNN", 5, 2, 3, 5)
    with pytest.raises(tilewright.UserError) as error:
        tilewright.compile(model_of("RNN", values, {"x": (5, 2, 3, 1)}))
    assert str(error.value) == 'error: RNN node that makes "y": input 0 has 4 dimensions, expected 3'
    with pytest.raises(tilewright.Unsupported) as error:
        tilewright.compile(model_of("RNN", values, {"r": (1, "n", 5)}, fed=("x", "r", "h0")))
    assert str(error.value) == (
        'unsupported: RNN node that makes "y": the shape of R is R.Tensor((1, n, 5), "float32")'
        ", expected three known extents\nhelp: give the weights shapes where the model is exported"
    )


@pytest.mark.parametrize("kind", GATES)
def test_output_sequence_of_early_opsets(kind):
    """It says whether the first output is made: which is plain from the node."""
    values = arrays(kind, 5, 2, 3, 4)
    feeds = [values[name] for name in ("x", "lengths", "h0", "c0") if name in values]
    found = []
    for attrs in ({"opset": 6, "output_sequence": 1}, {"opset": 7}):
        main = tilewright.VirtualMachine(tilewright.compile(model_of(kind, values, **attrs)))["main"]
        found.append([each.numpy() for each in main(*feeds)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_refuses_lengths_outside(direction):
    """Found by tests/open_models: a sequence may not be longer than the input."""
    values = arrays("GRU", 5, 2, 3, 4, lengths=True)
    main = tilewright.VirtualMachine(tilewright.compile(model_of("GRU", values, direction=direction)))["main"]
    lengths = np.array([5, 6], "int32")
    with pytest.raises(tilewright.UserError, match="sequence_lens: element 1 is 6, expected 0 to 5"):
        main(values["x"], lengths, values["h0"])
