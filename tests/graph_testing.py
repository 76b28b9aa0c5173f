"""Shared by the tests of graph passes: running modules, constants, the calls that a pass leaves."""

import re

import numpy as np

import tilewright
from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform

FUSION = ["legalize_ops", "dead_code_elimination", "fuse_ops", "fuse_tir", "dead_code_elimination"]


def run(module, *inputs, opt_level=0):
    with tilewright.transform.PassContext(opt_level=opt_level):
        main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    result = main(*(tilewright.tensor(x) for x in inputs))
    return [item.numpy() for item in result] if isinstance(result, (list, tuple)) else result.numpy()


def graph_module(build, **shapes):
    """A module whose main takes parameters of `shapes` and gives what `build` makes of them."""
    builder = relax.BlockBuilder()
    params = [relax.Var(name, relax.TensorType(shape, "float32")) for name, shape in shapes.items()]
    with builder.function("main", params):
        with builder.dataflow():
            result = builder.emit_output(build(*params))
        builder.emit_func_output(result)
    return builder.get()


def compile_graph(build, precision=None, target="llvm", **shapes):
    """The executable of graph_module."""
    return tilewright.compile(graph_module(build, **shapes), target=target, precision=precision)


def run_graph(executable, *inputs):
    """Calls main of a compiled graph with arrays."""
    return tilewright.VirtualMachine(executable)["main"](
        *[tilewright.tensor(each) for each in inputs]
    ).numpy()


def check(passes, before, after, *inputs):
    """Asserts that the passes make `after` of `before`, do nothing more to it, and that both compute the same."""
    result = before
    for step in passes:
        result = step(result)
    assert_structural_equal(result, after)
    for step in passes:
        assert step(result) is result
    np.testing.assert_array_equal(run(before, *inputs), run(result, *inputs))


def random(*shape):
    return np.random.default_rng(7).standard_normal(shape, dtype="float32")


def constants_of(module, *except_names):
    """Random constants for the parameters of main, those in `except_names` excepted."""
    values = {}
    for n, param in enumerate(module["main"].params):
        if param.name_hint in except_names:
            continue
        shape = [int(extent.value) for extent in param.type.shape.values]
        values[param.name_hint] = (np.random.default_rng(n).random(shape) + 0.5).astype("float32")
    return {name: tilewright.tensor(value) for name, value in values.items()}


def bound(module, *except_names):
    return transform.BindParams("main", constants_of(module, *except_names))(module)


def operators(module):
    """The operators of main, in order."""
    lines = [line.split(" = ")[1] for line in module["main"].script().splitlines() if " = R." in line]
    return [line[: line.index("(")] for line in lines]


def fused(module, **options):
    for name in FUSION:
        module = getattr(transform, name)(**(options if name == "fuse_ops" else {}))(module)
    return module


def kernels(module):
    """The loop programs that main calls, in order."""
    return re.findall(r"cls\.(\w+),", module.script())


def check_fused(module, names, *inputs):
    result = fused(module)
    assert kernels(result) == names
    assert fused(result) is result
    for a, b in zip(flat(run(result, *inputs)), flat(run(module, *inputs)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)  # products and sums of one program may be contracted


def flat(result):
    return result if isinstance(result, list) else [result]


def same_numbers(a, b, *inputs):
    """Asserts that two modules compute the same, but for rounding."""
    got, expected = run(a, *inputs), run(b, *inputs)
    if not isinstance(got, list):
        got, expected = [got], [expected]
    for left, right in zip(got, expected, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-5)
