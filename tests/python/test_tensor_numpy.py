"""Tensors where numpy is at home, and tensors of torch that cannot be shared."""

import subprocess
import sys

import numpy as np
import pytest

import tilewright as tw


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
            f"error: a Python Tensor gives its elements to nobody: {reason}\nhelp: {help}"
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
