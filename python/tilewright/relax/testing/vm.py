"""Registered functions test.vm.* that tests of the virtual machine call, and a check of saved functions."""

import numpy

from ... import runtime


def move(src):
    """src."""
    return src


def add(a, b):
    """a + b as a new tensor."""
    return runtime.tensor(a.numpy() + b.numpy())


def mul(a, b):
    """a * b as a new tensor."""
    return runtime.tensor(a.numpy() * b.numpy())


def equal_zero(a):
    """True if the only element of a is 0."""
    return runtime.tensor(a.numpy() == 0)


def subtract_one(a):
    """a - 1 as a new tensor."""
    return runtime.tensor(numpy.subtract(a.numpy(), 1))


def identity(a, b) -> None:
    """Writes a to b."""
    numpy.from_dlpack(b)[...] = a.numpy()


def tile(a, b) -> None:
    """Writes a to b, twice along its second dimension."""
    numpy.from_dlpack(b)[...] = numpy.tile(a.numpy(), (1, 2))


def add_scalar(a, b):
    """a + b of two numbers."""
    return a + b


def get_device_id(device) -> int:
    """The number of a device."""
    return device.device_id


def check_saved_func(vm, func_name: str, *inputs) -> None:
    """Compares a function with what save_function makes of it and these inputs."""
    vm.save_function(func_name, f"saved_{func_name}", *inputs)
    numpy.testing.assert_array_equal(vm[f"saved_{func_name}"]().numpy(), vm[func_name](*inputs).numpy())


for _function in (move, add, mul, equal_zero, subtract_one, identity, tile, add_scalar, get_device_id):
    runtime.register_func(f"test.vm.{_function.__name__}", _function, override=True)
