"""What the suites share: a program runs and gives its numbers, or says why it does not."""

import numpy as np
import pytest
import tvm


def check(program, target: str, device) -> None:
    """`program` gives (schedule, arguments, arrays, what the last of them hold afterwards)."""
    s, args, arrays, expected = program()
    run(tvm.build(s, args, target, name=program.__name__), arrays, expected, device)


def check_lowered(program) -> None:
    """The same of what tvm.lower gives, which tvm.build takes."""
    s, args, arrays, expected = program()
    module = tvm.build(tvm.lower(s, args, name="lowered"), target="llvm")
    run(module["lowered"], arrays, expected, tvm.cpu(0))


def run(func, arrays, expected, device) -> None:
    """Calls `func` on tensors of `arrays` and compares the last ones."""
    tensors = [tvm.nd.array(array, device) for array in arrays]
    func(*tensors)
    for tensor, values in zip(tensors[-len(expected) :], expected, strict=True):
        np.testing.assert_allclose(tensor.numpy(), values, rtol=1e-4, atol=1e-4)


def refusal(action) -> str:
    """The text of the error that `action` raises."""
    with pytest.raises(tvm.TVMError) as error:
        action()
    return str(error.value)
