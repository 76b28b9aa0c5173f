"""bind_symbolic_vars: dimensions become numbers."""

import numpy as np
from graph_testing import random, run
from refusals import refusal

from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


@I.ir_module
class Symbolic:
    @R.function
    def main(x: R.Tensor(("n", 7), "float32"), y: R.Tensor(("n", "m"), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.reshape(x, R.shape([n * 7]))
            b = R.matmul(R.permute_dims(x), y)
            gv = (a, b)
            R.output(gv)
        return gv


@I.ir_module
class Bound:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), y: R.Tensor((5, "m"), "float32")):
        with R.dataflow():
            a = R.reshape(x, R.shape([35]))
            b = R.matmul(R.permute_dims(x), y)
            gv = (a, b)
            R.output(gv)
        return gv


def test_dimensions_become_numbers():
    step = transform.bind_symbolic_vars(binding_map={"n": 5})
    result = step(Symbolic)
    assert_structural_equal(result, Bound)
    both = transform.bind_symbolic_vars(binding_map={"n": 5, "m": 127}, func_name="main")(Symbolic)
    assert "n" not in {dim.name_hint for dim in relax.analysis.free_symbolic_vars(both["main"])}
    assert 'R.Tensor((7, 127), dtype="float32") = R.matmul' in both["main"].script()
    inputs = random(5, 7), random(5, 127)
    for module in (result, both):
        for a, b in zip(run(Symbolic, *inputs), run(module, *inputs), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)  # another order of sums
    assert transform.bind_symbolic_vars()(Symbolic) is Symbolic


def test_bind_symbolic_vars_names_what_is_wrong():
    assert refusal(transform.bind_symbolic_vars(binding_map={"nn": 5}), Symbolic) == (
        'error: bind_symbolic_vars: no parameter has a dimension called "nn"\nhelp: did you mean n?'
    )
    assert refusal(transform.bind_symbolic_vars(binding_map={"n": -1}), Symbolic) == (
        'error: bind_symbolic_vars: dimension "n" cannot be -1'
    )
    assert refusal(transform.bind_symbolic_vars(binding_map={"n": 1.5}), Symbolic) == (
        'error: bind_symbolic_vars: the extent of dimension "n" is not an integer'
    )
    legal = transform.legalize_ops()(Symbolic)
    name = next(var.name_hint for var in legal.functions if var.name_hint != "main")
    step = transform.bind_symbolic_vars(binding_map={"n": 5}, func_name=name)
    assert refusal(step, legal) == f'error: bind_symbolic_vars: "{name}" is not a graph function'
