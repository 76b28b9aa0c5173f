"""Random numbers: from a published generator, the same for a seed, others in each call without one."""

import numpy as np
import onnx
import pytest
from onnx_peer import by_us, check_open, model_of, some

import tilewright

FLOAT, FLOAT16, DOUBLE, INT64 = (
    onnx.TensorProto.FLOAT,
    onnx.TensorProto.FLOAT16,
    onnx.TensorProto.DOUBLE,
    onnx.TensorProto.INT64,
)


def philox(first, second, key):
    """Philox2x32 with ten rounds, after Salmon et al., in Python's integers."""
    for step in range(10):
        product = 0xD256D193 * first
        first, second = (product >> 32) ^ (key + step * 0x9E3779B9) % 2**32 ^ second, product % 2**32
    return first, second


def test_the_reference_is_philox():
    """The known answers that come with the paper's library."""
    assert philox(0, 0, 0) == (0xFF1DAE59, 0x6CD10DF2)
    assert philox(0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF) == (0x2C3F628B, 0xAB4FD7AD)


def bits(count, seed):
    key = int(np.float32(seed).view("uint32"))
    return np.array([philox(n, 0, key) for n in range(count)], "uint64").T


def one(op, **attrs):
    return by_us(model_of(op, [], **attrs), [])[0]


def test_uniform_numbers_are_those_of_the_generator():
    found = one("RandomUniform", shape=[3, 5, 7], low=-2.0, high=3.0, seed=7.0)
    wanted = (bits(105, 7)[0] >> 8).astype("float32") * np.float32(2**-24) * np.float32(5) - np.float32(2)
    assert (found.dtype, found.shape) == (np.float32, (3, 5, 7))
    np.testing.assert_allclose(found.reshape(-1), wanted, rtol=1e-6, atol=1e-6)


def test_normal_numbers_are_those_of_box_and_muller():
    first, second = (word >> 8 for word in bits(127, 3))
    length = np.sqrt(-2 * np.log(1 - first * 2.0**-24))
    wanted = 1 + 2 * length * np.cos(2 * np.pi * second * 2.0**-24)
    found = one("RandomNormal", shape=[127], mean=1.0, scale=2.0, seed=3.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16, DOUBLE])
def test_distributions(dtype):
    numbers = one("RandomUniform", shape=[20000], dtype=dtype, seed=1.0).astype("float64")
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert abs(numbers.mean() - 0.5) < 0.01
    assert abs(numbers.var() - 1 / 12) < 0.005
    numbers = one("RandomNormal", shape=[20000], dtype=dtype, seed=1.0).astype("float64")
    assert abs(numbers.mean()) < 0.03
    assert abs(numbers.std() - 1) < 0.03
    assert abs((numbers**4).mean() - 3) < 0.3


@pytest.mark.parametrize("op", ["RandomUniform", "RandomNormal"])
def test_seeds(op):
    main = tilewright.VirtualMachine(tilewright.compile(model_of(op, [], shape=[127], seed=5.0)))["main"]
    np.testing.assert_array_equal(main().numpy(), main().numpy())
    main = tilewright.VirtualMachine(tilewright.compile(model_of(op, [], shape=[127])))["main"]
    assert (main().numpy() != main().numpy()).any()


def test_two_nodes_without_seed_differ():
    text = """<ir_version: 8, opset_import: ["": 18]> g (float[7] x) => (float[7] y) {
        a = RandomUniformLike(x)
        b = RandomUniformLike(x)
        y = Sub(a, b)
    }"""
    assert by_us(onnx.parser.parse_model(text), [some(7)])[0].any()


@pytest.mark.parametrize("is_open", [False, True])
def test_like_another_tensor(is_open):
    x = some(5, 7, dtype="float16")
    found = by_us(model_of("RandomNormalLike", [x], is_open=is_open, seed=2.0), [x])[0]
    assert (found.dtype, found.shape) == (x.dtype, x.shape)
    found = by_us(model_of("RandomUniformLike", [x[:0]], is_open=is_open, dtype=FLOAT), [x[:0]])[0]
    assert (found.dtype, found.shape) == (np.float32, (0, 7))


@pytest.mark.parametrize("is_open", [False, True])
def test_bernoulli(is_open):
    chance = np.repeat(np.array([[0], [0.3], [1]], "float32"), 5000, axis=1)
    found = by_us(model_of("Bernoulli", [chance], is_open=is_open, dtype=INT64, seed=1.0), [chance])[0]
    assert found.dtype == np.int64
    assert not found[0].any()
    assert abs(found[1].mean() - 0.3) < 0.02
    assert found[2].all()


@pytest.mark.parametrize("is_open", [False, True])
def test_multinomial(is_open):
    chances = np.array([[0.1, 0, 0.6, 0.3], [0, 1, 0, 0]], "float32")
    with np.errstate(divide="ignore"):
        weights = np.log(chances) + 2
    found = by_us(model_of("Multinomial", [weights], is_open=is_open, sample_size=5000, seed=1.0), [weights])[
        0
    ]
    assert (found.dtype, found.shape) == (np.int32, (2, 5000))
    for row, wanted in zip(found, chances, strict=True):
        np.testing.assert_allclose(np.bincount(row, minlength=4) / 5000, wanted, atol=0.03)
        assert set(row) <= set(np.flatnonzero(wanted))


def test_dropout_passes_on():
    x = some(2, 5, 7)
    check_open("Dropout", [x], expected=[x])
    check_open("Dropout", [x, np.float32(0.7)], outputs=2, expected=[x, np.ones(x.shape, bool)])
    check_open("Dropout", [x], outputs=2, opset=7, expected=[x, np.ones_like(x)])


@pytest.mark.parametrize("is_constant", [False, True])
def test_dropout_in_training(is_constant):
    x = RNG_X
    arrays = [x, np.float32(0.3), np.bool_(True)]
    model = model_of("Dropout", arrays, constants=[1, 2] if is_constant else [], outputs=2, seed=3)
    passed = arrays[:1] if is_constant else arrays
    y, mask = by_us(model, passed)
    assert mask.dtype == bool
    assert abs(mask.mean() - 0.7) < 0.02
    np.testing.assert_allclose(y, np.where(mask, x / np.float32(0.7), 0), rtol=1e-6)
    np.testing.assert_array_equal(by_us(model, passed)[1], mask)


RNG_X = some(100, 127)


def test_training_that_the_call_turns_off():
    arrays = [RNG_X, np.float32(0.3), np.bool_(False)]
    y, mask = by_us(model_of("Dropout", arrays, outputs=2, seed=3), arrays)
    assert mask.all()
    np.testing.assert_array_equal(y, RNG_X)


def test_a_dropout_of_ratio_0():
    arrays = [RNG_X, np.float32(0), np.bool_(True)]
    check_open("Dropout", arrays, constants=[1, 2], outputs=2, expected=[RNG_X, np.ones(RNG_X.shape, bool)])
