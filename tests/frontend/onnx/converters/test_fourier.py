"""DFT and STFT against numpy: lengths, axes, halves, inverses, open extents."""

import numpy as np
import pytest
from onnx_peer import by_us, feeds, model_of, refusal

import tilewright

rng = np.random.default_rng(0)


def signal(*shape):
    return rng.standard_normal(shape).astype("float32")


def pairs(values):
    return np.stack([values.real, values.imag], -1)


def as_complex(x):
    return x[..., 0] + 1j * x[..., 1] if x.shape[-1] == 2 else x[..., 0]


def run(op, inputs, constants=(), opset=20, **attrs):
    inputs = [None if each is None else np.asarray(each) for each in inputs]
    model = model_of(op, inputs, opset=opset, constants=constants, **attrs)
    return by_us(model, feeds(inputs, constants))[0]


def close(found, expected):
    scale = np.abs(expected).max(initial=1)
    np.testing.assert_allclose(found / scale, expected / scale, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("length", [1, 2, 5, 7, 16, 127, 192, 200, 512, 600, 1000, 1009, 1024])
@pytest.mark.parametrize("parts", [1, 2])
def test_lengths(length, parts):
    x = signal(3, length, parts)
    close(run("DFT", [x]), pairs(np.fft.fft(as_complex(x), axis=1)))
    close(run("DFT", [x], inverse=1), pairs(np.fft.ifft(as_complex(x), axis=1)))
    if parts == 1:
        close(run("DFT", [x], onesided=1), pairs(np.fft.rfft(x[..., 0], axis=1)))


def test_what_cancels_out_is_zero():
    """In float32 the sums of a ramp keep errors of 1e-4."""
    x = np.arange(128, dtype="float32").reshape(8, 16, 1)
    np.testing.assert_allclose(run("DFT", [x]), pairs(np.fft.fft(x[..., 0], axis=1)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, 2, -2, -4])
def test_axes(axis):
    x = signal(3, 5, 7, 2)
    place = axis + 4 if axis < 0 else axis
    expected = pairs(np.fft.fft(as_complex(x), axis=place))
    close(run("DFT", [x, None, np.array(axis)], constants=[2]), expected)
    close(run("DFT", [x], opset=17, axis=axis), expected)


@pytest.mark.parametrize("length", [3, 7, 12, 600])
def test_given_length(length):
    """Longer signals are cut, shorter ones end with zeros."""
    x = signal(2, 7, 2)
    close(run("DFT", [x, np.array(length)], constants=[1]), pairs(np.fft.fft(as_complex(x), length, axis=1)))


@pytest.mark.parametrize("length", [None, 4, 9, 14, 20])
def test_inverse_of_half_a_spectrum(length):
    x = signal(2, 6, 2)
    given = [] if length is None else [np.array(length)]
    found = run("DFT", [x, *given], constants=[1][: len(given)], inverse=1, onesided=1)
    close(found, np.fft.irfft(as_complex(x), length, axis=1)[..., None])


def test_dtypes():
    x = signal(3, 17, 1)
    wide = run("DFT", [x.astype("float64")])
    np.testing.assert_allclose(wide, pairs(np.fft.fft(x[..., 0], axis=1)), atol=1e-12)
    half = run("DFT", [x.astype("float16")])
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, pairs(np.fft.fft(x[..., 0].astype("float16"), axis=1)), atol=2e-2)


@pytest.mark.parametrize("attrs", [{}, {"onesided": 1}, {"inverse": 1}])
def test_open_length(attrs):
    model = model_of("DFT", [signal(1, 1, 1)], opset=20, shapes={0: ["b", "n", 1]}, **attrs)
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    transform = np.fft.rfft if "onesided" in attrs else np.fft.ifft if attrs else np.fft.fft
    for shape in [(1, 1, 1), (2, 6, 1), (3, 31, 1), (0, 4, 1)]:
        x = signal(*shape)
        close(main(tilewright.tensor(x)).numpy(), pairs(transform(x[..., 0], axis=1)))


def test_open_length_of_pairs_and_halves():
    for attrs, transform in [({}, np.fft.fft), ({"inverse": 1, "onesided": 1}, np.fft.irfft)]:
        model = model_of("DFT", [signal(1, 3, 2)], opset=20, shapes={0: ["b", "n", 2]}, **attrs)
        main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
        for shape in [(1, 3, 2), (2, 6, 2)]:
            x = signal(*shape)
            expected = transform(as_complex(x), axis=1)
            close(main(tilewright.tensor(x)).numpy(), expected[..., None] if attrs else pairs(expected))


def frames(x, length, step):
    count = (x.shape[1] - length) // step + 1
    return np.stack([x[:, n * step : n * step + length] for n in range(count)], 1)


@pytest.mark.parametrize(("length", "step"), [(16, 4), (16, 5), (31, 31), (512, 128)])
def test_short_time(length, step):
    x, window = signal(2, 1100, 1), signal(length)
    cut = frames(x[..., 0], length, step)
    given = [x, np.array(step), window, np.array(length)]
    close(run("STFT", given, constants=[1, 3]), pairs(np.fft.rfft(cut * window)))
    close(run("STFT", given[:3], constants=[1], onesided=0), pairs(np.fft.fft(cut * window)))
    bare = run("STFT", [x, np.array(step), None, np.array(length)], constants=[1, 3])
    close(bare, pairs(np.fft.rfft(cut)))


def test_short_time_of_pairs():
    x, window = signal(2, 40, 2), signal(8)
    expected = pairs(np.fft.fft(frames(as_complex(x), 8, 3) * window))
    close(run("STFT", [x, np.array(3), window], constants=[1]), expected)


def test_short_time_of_open_length():
    x, window = signal(2, 40, 1), signal(16)
    shapes = {0: ["b", "n", 1]}
    model = model_of("STFT", [x, np.array(4), window], opset=17, constants=[1, 2], shapes=shapes)
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    for shape in [(1, 16, 1), (3, 57, 1)]:
        x = signal(*shape)
        expected = pairs(np.fft.rfft(frames(x[..., 0], 16, 4) * window))
        close(main(tilewright.tensor(x)).numpy(), expected)
    with pytest.raises(tilewright.UserError) as refused:
        main(tilewright.tensor(signal(1, 15, 1)))
    assert "signal has n = 15 elements, fewer than frame_length, which is 16" in str(refused.value)


def test_refuses_an_open_last_dimension():
    text = refusal("DFT", [signal(2, 7, 2)], opset=20, shapes={0: [2, 7, "p"]})
    assert (
        "the input is [2, 7, p], whose last dimension is known only at run time: it says whether numbers are pairs"
    ) in text


def test_refusals():
    x = signal(2, 7, 2)
    for op, inputs, attrs, text in [
        ("DFT", [x], {"onesided": 1}, "onesided is 1, but the input is [2, 7, 2], complex"),
        (
            "DFT",
            [signal(2, 7, 3)],
            {},
            "the input is [2, 7, 3], expected a last dimension of 1 or 2: real numbers, or pairs",
        ),
        ("DFT", [x, np.array(0)], {}, "the length of the transform is 0, expected at least 1"),
        (
            "DFT",
            [x, np.array(2**40)],
            {},
            "the length of the transform is 1099511627776, supported are at most 16777216",
        ),
        (
            "DFT",
            [x, np.array(16777213)],
            {},
            "a table of 469761964 numbers is made when a model is imported, supported are at most 268435456",
        ),
        ("DFT", [x, np.array([3, 4])], {}, "dft_length has 2 elements, expected 1"),
        ("DFT", [x, None, np.array(2)], {}, "axis 2 is the last one, which holds real and imaginary parts"),
        ("DFT", [x, None, np.array([0, 1])], {}, "axis has 2 elements, expected 1"),
        (
            "STFT",
            [x, np.array(0), None, np.array(3)],
            {},
            "frame_step is 0 and frame_length 3, expected at least 1",
        ),
        ("STFT", [x, np.array(2), signal(4), np.array(3)], {}, "window is [4], but frames have 3 elements"),
        (
            "STFT",
            [x, np.array(2), None, np.array(9)],
            {},
            "signal has 7 elements, fewer than frame_length, which is 9",
        ),
    ]:
        known = [n for n, each in enumerate(inputs) if n in (1, 3) and each is not None]
        known += [2] if op == "DFT" and len(inputs) > 2 else []
        assert text in refusal(op, inputs, opset=20, constants=known, **attrs)
