"""topi.utils and topi.tag, what old spellings refuse, and the modules that imports name; where `import tvm` is tilewright."""

import numpy as np
import pytest
import tvm
from refusals import refusal
from tvm import te, tir, topi
from tvm.topi import tag, util, utils
from tvm.topi.sort import argsort
from tvm.topi.utils import get_const_tuple

N = te.var("n")
X = te.placeholder((5, 7), "float32", "x")
I = te.placeholder((5, 7), "int32", "i")


def test_modules_and_functions_of_one_name():
    assert topi.sort is tvm.topi.sort and callable(topi.sort)
    assert argsort is topi.argsort
    assert topi.math.exp is topi.exp and topi.transform.take is topi.take


def test_constants():
    assert utils.get_const_int(tir.const(3, "int32") * 2) == 6
    assert utils.get_const_int(4) == 4
    assert utils.get_const_float(tir.const(0.5, "float32")) == 0.5
    assert utils.get_float_tuple((0.5, tir.const(2.0, "float32"))) == (0.5, 2.0)
    assert utils.equal_const_int(tir.const(3, "int32"), 3) and not utils.equal_const_int(N, 3)
    fixed, open_ = get_const_tuple([tir.const(3, "int32"), N + 0])
    assert fixed == 3 and open_.same_as(N)
    assert refusal(utils.get_const_int, N) == "n is no constant integer"
    assert refusal(utils.get_const_float, N) == "n is no constant float"


def test_shapes():
    assert util.prod((3, 4)) == 12 and int(utils.prod(())) == 1
    assert utils.ravel_index((1, 2), (3, 4)) == 6
    assert utils.unravel_index(6, (3, 4)) == [1, 2]
    assert utils.get_max_power2_factor(24) == 8 and utils.get_max_power2_factor(24, 4) == 4
    assert utils.get_shape((2, 8, 5, 7), "NCHW", "NCHW4c") == (2, 2, 5, 7, 4)
    assert utils.is_empty_shape((3, 0)) and not utils.is_empty_shape((3, N))
    assert utils.ceil_div(7, 4) == 2 and int(utils.ceil_div(tir.const(8, "int32"), 4)) == 2
    assert utils.swap([0, 1, 2], 0) == [2, 1, 0]
    assert utils.is_dynamic_shape((3, N)) and not utils.is_dynamic_shape((3, 4))
    assert utils.nchw_pack_layout("NCHW4n4c") and not utils.nchw_pack_layout("NCHW")
    assert utils.nchw_xc_layout("NCHW16c") and not utils.nchw_xc_layout("NCHWc")
    assert issubclass(topi.InvalidShapeError, ValueError)


@pytest.mark.parametrize("numbers", [np.array([3, -1, 4], "int32"), np.array([[1, 2], [3, 5]], "float32")])
def test_tensors_of_constants(numbers):
    made = (utils.const_vector if numbers.ndim == 1 else utils.const_matrix)(numbers)
    result = tvm.nd.array(np.zeros_like(numbers))
    tvm.build(te.create_prim_func([made]))(result)
    np.testing.assert_array_equal(result.numpy(), numbers)


def test_inlining_before_the_last_step():
    x = te.placeholder((5, 7), name="x")
    total = topi.sum(topi.exp(topi.add(x, 1.0)), axis=1)
    schedule, seen = te.create_schedule(total.op), []
    utils.traverse_inline(schedule, total.op, lambda op: seen.append(op.name))
    assert seen == ["T_sum", "T_exp", "T_add", "T_full"]
    numbers, result = np.random.rand(5, 7).astype("float32"), tvm.nd.array(np.zeros(5, "float32"))
    tvm.build(schedule, [x, total], "llvm")(tvm.nd.array(numbers), result)
    np.testing.assert_allclose(result.numpy(), np.exp(numbers + 1).sum(1), rtol=1e-5)


def test_tags():
    assert (
        tag.is_broadcast("elemwise")
        and tag.is_broadcast("broadcast,fused")
        and not tag.is_broadcast("injective")
    )
    assert tag.is_injective("injective,strided_set") and tag.is_injective(tag.ELEMWISE)
    assert not tag.is_injective(tag.COMM_REDUCE)


def test_numbers_without_tensors():
    assert int(topi.add(3, 4)) == 7
    assert str(topi.maximum(N, 4)) == "T.max(n, 4)"
    assert str(topi.left_shift(N, 2)) == "T.shift_left(n, 2)"


REFUSED = {
    "a sum of nothing": (lambda: topi.elemwise_sum([]), "elemwise_sum: no tensors are given"),
    "other dimensions": (
        lambda: topi.expand_like(X, X, [0]), "expand_like: 2 dimensions and 1 new ones are not the 2 of shape_like",
    ),
    "a slice in another mode": (
        lambda: topi.strided_slice(X, [0], [1], slice_mode="last"), 'strided_slice: slice_mode is "last", expected "end" or "size"',
    ),
    "bounds of another dtype": (
        lambda: topi.strided_set(X, X, X, I), "strided_set: begin is float32 with 2 dimensions, expected int32 with 1",
    ),
    "a mask of a vector": (
        lambda: topi.sequence_mask(te.placeholder((3,)), te.placeholder((3,), "int32")),
        "sequence_mask: data has 1 dimension, expected at least 2",
    ),
    "a mask along a third axis": (
        lambda: topi.sequence_mask(X, te.placeholder((5,), "int32"), axis=2), "sequence_mask: axis is 2, expected 0 or 1",
    ),
    "diagonals in another order": (
        lambda: topi.matrix_set_diag(X, X, (1, 0)), "matrix_set_diag: k is (1, 0), expected the lower one first",
    ),
    "an unknown number of elements": (
        lambda: topi.topk(X, N), "topk: k is n, expected a number\nhelp: the extent of the result is part of the program",
    ),
    "a spectrum of two dtypes": (
        lambda: topi.dft(X, te.placeholder((5, 7), "float64")), "dft: parts are float32 and float64, expected floats of one dtype",
    ),
    "a window that is too long": (
        lambda: topi.stft(X, 2, 1, 3, te.placeholder((3,)), False, True), "stft: the window has 3 elements, but n_fft is 2",
    ),
    "a table of different elements": (lambda: topi.unique(X), "unique: data has 2 dimensions, expected 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name):
    call, text = REFUSED[name]
    assert refusal(call) == text
