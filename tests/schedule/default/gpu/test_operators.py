"""The kernels of operators, scheduled for GPUs and run by the interpreter thread by thread, compute what they did before.

`check` also asks that no loop nest is left without threads.  Extents are small and odd, or open; what `verify` draws for those
are several sizes.
"""

import numpy as np
import pytest
from gpu_checking import check, kernels, operator, scheduled
from gpu_operators import ELEMENTS, PRODUCTS, ROWS

import tilewright
from tilewright import relax

op = relax.op


@pytest.mark.parametrize("name", [*ELEMENTS, *ROWS, *PRODUCTS])
def test_the_numbers_stay(name):
    function, *arguments = (ELEMENTS | ROWS | PRODUCTS)[name]
    check(operator(function, *arguments))


@pytest.mark.parametrize(
    "name", ["softmax", "layer_norm", "matmul", "conv_last", "permute", "sum_of_columns"]
)
@pytest.mark.parametrize(
    "target",
    ["opencl -max_threads_per_block=64 -max_shared_memory_per_block=4096", "metal", "nvidia/tesla-k80"],
)
def test_the_numbers_stay_on_other_gpus(name, target):
    function, *arguments = (ELEMENTS | ROWS | PRODUCTS)[name]
    check(operator(function, *arguments), target)


def rules(name):
    """The rules that were applied to the blocks of an operator's kernel, by its trace."""
    function, *arguments = (ELEMENTS | ROWS | PRODUCTS)[name]
    (sch,) = [scheduled(func) for _, func in kernels(operator(function, *arguments))]
    return str(sch.trace)


@pytest.mark.parametrize(
    "name",
    [
        "matmul",
        "matmul_open",
        "matmul_of_open_batches",
        "matmul_of_open_rows",
        "conv",
        "conv_open",
        "conv_last_open",
    ],
)
def test_products_are_tiles(name):
    assert "pad_einsum" in rules(name)


@pytest.mark.parametrize(
    "name", ["softmax", "softmax_open", "softmax_of_open_rows", "layer_norm_open", "rms_norm"]
)
def test_rows_are_one_kernel(name):
    trace = rules(name)
    assert trace.count('"blockIdx.x"') == 1
    assert trace.count('"threadIdx.x"') >= 2


def test_quantized_numbers_stay():
    """Of a scale that is a number, where `verify` draws 0."""
    scale, zero = relax.const(0.5, "float32"), relax.const(3, "int8")
    module = operator(lambda x: op.quantize(x, scale, zero, axis=-1, out_dtype="int8"), (5, 8))
    ((_, func),) = kernels(module)
    sch = scheduled(func)
    (name,) = [var.name_hint for var in sch.mod.get_global_vars()]
    x = np.linspace(-80, 80, 40, dtype="float32").reshape(5, 8)
    arguments = [x, np.array(0.5, "float32"), np.array(3, "int8")][: len(func.params) - 1]
    before, after = np.zeros((5, 8), "int8"), np.zeros((5, 8), "int8")
    tilewright.tir.interpret(func, *arguments, before)
    tilewright.tir.interpret(sch.mod[name], *arguments, after)
    np.testing.assert_array_equal(after, before)
    np.testing.assert_array_equal(after, np.clip(np.round(x / 0.5) + 3, -128, 127).astype("int8"))
