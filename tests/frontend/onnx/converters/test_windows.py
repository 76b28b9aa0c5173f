"""Windows and the matrix of mel bands against onnx's reference."""

import numpy as np
import pytest
from onnx_peer import by_reference, check, model_of, refusal

import tilewright

WINDOWS = ["HannWindow", "HammingWindow", "BlackmanWindow"]


@pytest.mark.parametrize("op", WINDOWS)
@pytest.mark.parametrize("periodic", [0, 1])
@pytest.mark.parametrize("size", [2, 5, 128])
def test_window(op, periodic, size):
    check(op, [np.array(size)], by_reference, constants=[0], opset=17, periodic=periodic, atol=1e-6)


@pytest.mark.parametrize("op", WINDOWS)
def test_no_element_and_one(op):
    # a symmetric window of one element divides 0 by 0 in the standard; it is 1 in numpy
    first = {"HannWindow": 0, "HammingWindow": 25 / 46 - 21 / 46, "BlackmanWindow": 0}[op]
    for size, periodic, expected in [(0, 1, []), (1, 1, [first]), (1, 0, [1])]:
        for constants in ([0], []):
            model = model_of(op, [np.array(size)], constants=constants, opset=17, periodic=periodic)
            main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
            found = main() if constants else main(tilewright.tensor(np.array(size)))
            np.testing.assert_allclose(found.numpy(), np.array(expected, "float32"), atol=1e-7)


@pytest.mark.parametrize("op", WINDOWS)
@pytest.mark.parametrize("periodic", [0, 1])
def test_size_from_data(op, periodic):
    model = model_of(op, [np.array(1)], opset=17, periodic=periodic)
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    for size in (2, 7, 100):
        expected = by_reference(model, {"x0": np.array(size)})[0]
        np.testing.assert_allclose(main(tilewright.tensor(np.array(size))).numpy(), expected, atol=1e-6)


def test_other_dtypes():
    model = model_of("HannWindow", [np.array(8)], constants=[0], opset=17, output_datatype=11)
    found = tilewright.VirtualMachine(tilewright.compile(model))["main"]().numpy()
    np.testing.assert_allclose(found, np.sin(np.pi * np.arange(8) / 8) ** 2, atol=1e-15)


@pytest.mark.parametrize("numbers", [(8, 16, 8192, 0, 4096), (13, 512, 16000, 20, 7600), (3, 9, 100, 1, 50)])
def test_mel(numbers):
    *counts, low, high = numbers
    inputs = [*map(np.array, counts), np.array(low, "float32"), np.array(high, "float32")]
    check("MelWeightMatrix", inputs, by_reference, constants=range(5), opset=17)


def test_refusals():
    assert "size is -1, expected at least 0" in refusal("HannWindow", [np.array(-1)], constants=[0], opset=17)
    assert "size has 2 elements, expected 1" in refusal(
        "HannWindow", [np.array([1, 2])], constants=[0], opset=17
    )
    numbers = [8, 16, 8192, np.float32(0), np.float32(4096)]
    for place, value, text in [
        (0, -1, "num_mel_bins is -1, expected 0 to 2147483647"),
        (1, 0, "dft_length is 0, expected 1 to 2147483647"),
        (2, [1, 2], "sample_rate has 2 elements, expected 1"),
        (3, np.float32(9000), "bands from 9000 to 4096 hertz, expected numbers from 0 on, in order"),
        (1, 2**30, "a matrix of 536870913 x 8 numbers is made when a model is imported"),
    ]:
        changed = [np.asarray(value if n == place else each) for n, each in enumerate(numbers)]
        assert text in refusal("MelWeightMatrix", changed, constants=range(5), opset=17)
