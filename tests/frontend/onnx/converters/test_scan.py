"""Scans over slices, and over the sequences of a batch in opset 8, against onnxruntime."""

import numpy as np
import pytest
from onnx_testing import as_arrays, check_model, compare, parsed, refused

import tilewright

X = np.arange(14, dtype="float32").reshape(2, 7) / 9


def checked(text, *runs, rtol=1e-5, opset=18):
    """Compares with onnxruntime: ONNX's ReferenceEvaluator leaves out inputs and directions."""
    check_model(text, *runs, rtol=rtol, by_runtime=True, opset=opset)


def main_of(model):
    return tilewright.VirtualMachine(tilewright.compile(model))["main"]


SCAN = """
g (float[7] s, float[n, 7] x, float[7, n] z) => (float[7] y, float[P] all) {
  y, all = Scan <num_scan_inputs = 2, scan_input_axes = [0, 1], scan_input_directions = [D0, D1],
                 scan_output_axes = [AXIS], scan_output_directions = [OUT],
                 body = b (float[7] t, float[7] e, float[7] f) => (float[7] u, float[7] v) {
    p = Mul(e, f)
    u = Add(t, p)
    v = Tanh(u)
  }> (s, x, z)
}"""


@pytest.mark.parametrize("d0", [0, 1])
@pytest.mark.parametrize("d1", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("out", [0, 1])
def test_scans(d0, d1, axis, out):
    text = (
        SCAN.replace("D0", str(d0)).replace("D1", str(d1)).replace("AXIS", str(axis)).replace("OUT", str(out))
    )
    text = text.replace("[P]", "[n, 7]" if axis == 0 else "[7, n]")
    x = np.random.default_rng(5).standard_normal((5, 7)).astype("float32")
    checked(text, (X[0], x, x.T[::-1].copy()), rtol=1e-5)


def test_refuses_scans():
    text = SCAN.replace("[P]", "[n, 7]")
    for name, value in {"D0": 0, "D1": 0, "AXIS": 0, "OUT": 0}.items():
        text = text.replace(name, str(value))
    scan = 'Scan node that makes "y": '
    refused(
        text.replace("num_scan_inputs = 2", "num_scan_inputs = 4"),
        tilewright.UserError,
        scan + "num_scan_inputs is 4, the node has 3 inputs",
    )
    refused(
        text.replace("scan_input_axes = [0, 1]", "scan_input_axes = [0]"),
        tilewright.UserError,
        scan + 'attribute "scan_input_axes" has 1 number, expected 2',
    )
    refused(
        text.replace("y, all = Scan", "y = Scan")
        .replace(", float[n, 7] all)", ")")
        .replace("num_scan_inputs = 2", "num_scan_inputs = 1"),
        tilewright.UserError,
        scan + "2 states and 1 output",
    )


def test_scanned_inputs_have_one_extent():
    text = SCAN.replace("[P]", "[n, 7]").replace("float[7, n] z", "float[7, m] z")
    for name, value in {"D0": 0, "D1": 0, "AXIS": 0, "OUT": 0}.items():
        text = text.replace(name, str(value))
    main = main_of(parsed(text))
    x = np.ones((5, 7), "float32")
    with pytest.raises(
        tilewright.UserError,
        match='Scan node that makes "y": scans n = 5 slices of one input, m = 2 of another',
    ):
        main(X[0], x, x[:2].T.copy())


def test_states_keep_their_shape():
    """A state of one element would grow to seven by its sum with a slice: found by tests/open_models."""
    text = (
        SCAN.replace("[P]", "[n, 7]")
        .replace("float[7] s", "float[1] s")
        .replace("(float[7] y", "(float[1] y")
    )
    for name, value in {"D0": 0, "D1": 0, "AXIS": 0, "OUT": 0}.items():
        text = text.replace(name, str(value))
    refused(
        text,
        tilewright.UserError,
        'Scan node that makes "y": the state "t" is [1] before an iteration and [7] after it',
    )
    main = main_of(parsed(text.replace("float[1]", "float[m]")))
    x = np.ones((5, 7), "float32")
    compare(as_arrays(main(X[0], x, x.T.copy()))[0], X[0] + 5, 1e-6)
    with pytest.raises(tilewright.UserError, match='the state "t" is .* before an iteration and .* after it'):
        main(X[0, :1].copy(), x, x.T.copy())


# ---- opset 8: a batch of sequences

BATCH = """
g (LENGTHS float[b, 7] s, float[b, n, 7] x, float[b, n, 7] z) => (float[b, 7] y, float[b, n, 7] all) {
  y, all = Scan <num_scan_inputs = 2, directions = [D0, D1],
                 body = h (float[7] t, float[7] e, float[7] f) => (float[7] u, float[7] v) {
    p = Mul(e, f)
    u = Add(t, p)
    v = Tanh(u)
  }> (GIVEN, s, x, z)
}"""


def batch_text(lengths=False, d0=0, d1=0):
    text = BATCH.replace("LENGTHS", "int64[b] lengths," if lengths else "")
    text = text.replace("GIVEN", "lengths" if lengths else "")
    return text.replace("D0", str(d0)).replace("D1", str(d1))


def batch_of(b, n):
    rng = np.random.default_rng(b + n)
    return [rng.standard_normal(shape).astype("float32") for shape in ((b, 7), (b, n, 7), (b, n, 7))]


@pytest.mark.parametrize("d0", [0, 1])
@pytest.mark.parametrize("d1", [0, 1])
def test_batches(d0, d1):
    checked(batch_text(d0=d0, d1=d1), batch_of(3, 5), batch_of(1, 1), batch_of(2, 127), opset=8)


@pytest.mark.parametrize("direction", [0, 1])
def test_batches_with_lengths(direction):
    """Of a sequence of no elements the state stays; what is collected ends with zeros."""
    lengths = np.array([5, 2, 1], "int64")
    checked(batch_text(True, direction, 0), [lengths, *batch_of(3, 5)], opset=8)
    s, x, z = batch_of(2, 3)
    y, collected = as_arrays(main_of(parsed(batch_text(True), 8))(np.array([0, 3]), s, x, z))
    compare([y[0], collected[0]], [s[0], np.zeros((3, 7), "float32")])
    compare([y[1], collected[1]], [s[1] + (x * z)[1].sum(0), np.tanh(s[1] + np.cumsum((x * z)[1], 0))], 1e-5)


def test_refuses_lengths_outside():
    main = main_of(parsed(batch_text(True), 8))
    text = 'Scan node that makes "y": sequence_lens: element 1 is 4, expected 0 to 3'
    with pytest.raises(tilewright.UserError, match=text):
        main(np.array([1, 4]), *batch_of(2, 3))


def test_refuses_other_batches():
    scan = 'Scan node that makes "y": '
    text = batch_text()
    refused(
        parsed(
            text.replace("float[b, 7] s", "float[2, 7] s").replace("float[b, n, 7] x", "float[3, n, 7] x"), 8
        ),
        tilewright.UserError,
        scan + "input 2 has a batch of 3, another one of 2",
    )
    refused(
        parsed(
            text.replace("float[b, n, 7] x", "float[b, 5, 7] x").replace(
                "float[b, n, 7] z", "float[b, 3, 7] z"
            ),
            8,
        ),
        tilewright.UserError,
        scan + "input 3 has sequences of 3 elements, another one of 5",
    )
    refused(
        parsed(text.replace("float[b, n, 7] x", "float[b] x"), 8),
        tilewright.UserError,
        scan + "input 2 is [b], expected a batch of sequences",
    )
    main = main_of(parsed(text.replace("float[b, n, 7] z", "float[b, m, 7] z"), 8))
    s, x, z = batch_of(2, 5)
    with pytest.raises(
        tilewright.UserError, match="input 3 has sequences of m = 3 elements, another one of n = 5"
    ):
        main(s, x, z[:, :3].copy())
