"""Tensors where numpy is at home, and tensors of torch that cannot be shared."""

import subprocess
import sys

import numpy as np
import pytest

import tilewright as tw
from tilewright.script import parse


@pytest.fixture
def tensor():
    return tw.runtime.tensor(np.arange(6, dtype="float32").reshape(2, 3))


def test_numpy_sees_the_elements(tensor):
    assert np.asarray(tensor).shape == (2, 3)
    assert np.asarray(tensor, "int64").dtype == "int64"
    assert np.argmax(tensor) == 5
    np.testing.assert_array_equal(tensor, tensor.numpy())


def test_elements_and_comparison(tensor):
    assert tensor[1, 2] == 5
    assert tensor[0].tolist() == [0, 1, 2]
    assert (tensor == np.arange(6).reshape(2, 3)).all()
    assert not (tensor == np.zeros(3)).all()


def test_numbers():
    one = tw.runtime.tensor(np.float32(3.5).reshape(()))
    assert one.shape == ()
    assert float(one) == 3.5
    assert int(one) == 3
    assert bool(one)


def test_a_read_only_number_keeps_its_shape():
    number = np.array(2.5)
    number.flags.writeable = False
    assert tw.runtime.tensor(number).shape == ()


@pytest.mark.peers
def test_torch_tensors_that_cannot_be_shared():
    torch = pytest.importorskip("torch")
    for value, reason, help in [
        (
            torch.rand(3, requires_grad=True),
            "Can't export tensors that require gradient, use tensor.detach()",
            "pass x.detach()",
        ),
        (torch.rand(3, device="meta"), "Cannot pack tensors on meta", "pass a dense tensor on the CPU"),
    ]:
        with pytest.raises(tw.UserError) as error:
            tw.runtime.tensor(value)
        assert str(error.value) == (
            f"error: a Python Tensor does not share its elements: {reason}\nhelp: {help}"
        )


FORKING = """
import os, threading, tilewright
running = True
def work():
    while running:
        for n in range(1, 30):
            tilewright.empty((n << 18,), "float32")
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(25):
    child = os.fork()
    if child == 0:
        tilewright.empty((1 << 20,), "float32")
        os._exit(0)
    os.waitpid(child, 0)
running = False
"""


def test_a_child_that_is_forked_while_threads_take_memory_gets_some():
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKING], check=True, timeout=60)


def test_it_iterates_over_its_rows(tensor):
    assert [row.tolist() for row in tensor] == [[0, 1, 2], [3, 4, 5]]
    first, second = tensor
    assert second.tolist() == [3, 4, 5]
    assert [int(a + b) for a, b in zip(tw.tensor([1, 2]), tw.tensor([3, 4]), strict=True)] == [4, 6]
    assert list(tw.tensor([1.5, 2.5])) == [1.5, 2.5]
    assert list(tw.empty((0, 3))) == []
    assert max(tw.tensor([1, 3, 2])) == 3 and sum(tw.tensor([1, 3, 2])) == 6
    assert 3 in tensor and 7 not in tensor
    assert [row.tolist() for row in reversed(tensor)] == [[3, 4, 5], [0, 1, 2]]


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "bfloat16", "float8_e5m2", "int4", "uint64", "int8", "bool"]
)
def test_numbers_of_python(dtype):
    pytest.importorskip("ml_dtypes")
    tensor = tw.empty((2, 1), dtype)
    tensor.copy_from(np.array([[1], [0]]).astype(tensor.numpy().dtype))
    kind = bool if dtype == "bool" else float if "float" in dtype else int
    assert tensor.tolist() == [[1], [0]]
    assert all(type(number) is kind for (number,) in tensor.tolist())
    for shape in [(1,), (), (1, 1)]:
        one = tw.empty(shape, dtype)
        one.copy_from(np.ones(shape).astype(one.numpy().dtype))
        assert one.item() == 1 and type(one.item()) is kind
        assert (float(one), int(one), bool(one)) == (1.0, 1, True)
    assert len(tensor) == 2


def test_rows_are_copies(tensor):
    for row in tensor:
        row[:] = 100
    tensor[0][:] = 100
    assert tensor.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_comparisons(tensor):
    other = tensor.numpy()
    assert (tensor == tensor).all() and not (tensor != tensor).any()
    assert (tensor != 3).sum() == 5
    assert (other == tensor).all()
    assert (tensor < other + 1).all() and (tensor >= other).all()  # numpy compares
    assert (other <= tensor).all()


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (lambda t: t < 3, "tensors have no order\nhelp: x.numpy() < y compares element by element"),
        (lambda t: t <= t, "tensors have no order\nhelp: x.numpy() <= y compares element by element"),
        (lambda t: t > 3, "tensors have no order\nhelp: x.numpy() > y compares element by element"),
        (lambda t: t >= 3, "tensors have no order\nhelp: x.numpy() >= y compares element by element"),
        (
            bool,
            "a tensor of shape (2, 3) is neither true nor false\nhelp: x.numpy().any() or x.numpy().all()",
        ),
        *[
            (
                act,
                "a tensor of shape (2, 3) is not one number\nhelp: x.tolist() has all of them, x.numpy() is an array",
            )
            for act in (float, int, lambda t: t.item())
        ],
    ],
)
def test_what_a_tensor_is_not(tensor, act, text):
    with pytest.raises(tw.ArgumentError) as error:
        act(tensor)
    assert str(error.value) == text


@pytest.mark.parametrize(("act", "what"), [(len, "length"), (list, "rows"), (lambda t: [*t], "rows")])
def test_a_tensor_without_dimensions_has_no_rows(act, what):
    with pytest.raises(tw.ArgumentError) as error:
        act(tw.tensor(2.5))
    assert str(error.value) == f"a tensor without dimensions has no {what}\nhelp: x.item() is its number"


def test_numpy_without_a_copy(tensor):
    shared = np.asarray(tensor, copy=False)
    shared[0, 0] = 7
    assert tensor[0, 0] == 7
    np.asarray(tensor)[0, 0] = 8
    np.array(tensor)[0, 0] = 8
    assert tensor[0, 0] == 7
    assert np.asarray(tensor, dtype="float32", copy=False).dtype == "float32"
    with pytest.raises(ValueError, match="numpy cannot have a tensor of float32 as int8 without a copy"):
        np.asarray(tensor, dtype="int8", copy=False)
    with pytest.raises(ValueError, match="numpy cannot have a tensor of bfloat16 as bfloat16 without a copy"):
        np.asarray(tw.empty((2,), "bfloat16"), copy=False)


@pytest.mark.peers
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8", "bool", "float16", "bfloat16"])
def test_torch_takes_tensors(dtype):
    torch = pytest.importorskip("torch")
    tensor = tw.empty((2, 3), dtype)
    tensor.copy_from(np.ones((2, 3)).astype(tensor.numpy().dtype))
    shared = torch.from_dlpack(tensor)
    assert shared.shape == (2, 3) and str(shared.dtype) == f"torch.{dtype}" and bool((shared == 1).all())
    shared[0, 0] = 0
    assert tensor[0, 0] == 0
    if dtype != "bfloat16":
        assert torch.as_tensor(np.asarray(tensor)).tolist() == tensor.tolist()
        assert torch.tensor(tensor).tolist() == tensor.tolist()
        assert torch.as_tensor(tensor).tolist() == tensor.tolist()


@pytest.mark.peers
@pytest.mark.parametrize("dtype", ["float32", "int32", "int8", "bool", "float16", "bfloat16"])
def test_jax_takes_tensors(dtype):
    jax = pytest.importorskip("jax")
    tensor = tw.empty((2, 3), dtype)
    tensor.copy_from(np.arange(6).reshape(2, 3).astype(tensor.numpy().dtype))
    for found in (jax.numpy.asarray(tensor), jax.numpy.array(tensor), jax.numpy.from_dlpack(tensor)):
        assert found.dtype == dtype and found.shape == (2, 3)
        assert np.asarray(found).tolist() == tensor.tolist()
    assert jax.numpy.from_dlpack(tensor, copy=True).tolist() == tensor.tolist()


def test_a_dtype_that_numpy_lacks_prints_without_elements(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    assert repr(tw.empty((2,), "bfloat16")) == "Tensor(shape=(2,), dtype=bfloat16, device=cpu:0)"


@pytest.mark.parametrize("dtype", ["int4", "uint4", "float4_e2m1fn", "float8_e4m3fnuz", "float8_e8m0fnu"])
def test_small_elements_are_printed(dtype, capfd):
    """Found: of elements that share bytes the bytes were printed, and those after them."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    numbers = np.array([1, 2, 4, 1, 2], "float32") * (-1 if dtype in ("int4", "float4_e2m1fn") else 1)
    program = parse(f"""
@R.function(pure=False)
def main(x: R.Tensor((5,), "{dtype}")):
    y = R.print(x, format="{{}}")
    return x
""")
    tw.VirtualMachine(tw.compile(program))["main"](numbers.astype(getattr(ml_dtypes, dtype)))
    assert capfd.readouterr().out == str([int(number) for number in numbers]) + "\n"
