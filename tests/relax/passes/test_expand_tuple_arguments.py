"""expand_tuple_arguments and its kin: tuples of parameters and results are taken apart."""

import numpy as np
from graph_testing import random, run

from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812


@I.ir_module
class Tuples:
    @R.function(private=True)
    def helper(
        t: R.Tuple(
            R.Tensor((5, 7), "float32"), R.Tuple(R.Tensor((7,), "float32"), R.Tensor((3,), "float32"))
        ),
        z: R.Tensor((2,), "float32"),
    ):
        with R.dataflow():
            a = t[0]
            u = t[1]
            b = u[0]
            c = R.add(a, b)
            d = R.exp(z)
            gv = (c, d)
            R.output(gv)
        return gv

    @R.function
    def main(
        x: R.Tensor((5, 7), "float32"),
        y: R.Tensor((7,), "float32"),
        z: R.Tensor((3,), "float32"),
        v: R.Tensor((2,), "float32"),
    ):
        cls = Tuples
        p = (y, z)
        r = cls.helper((x, p), v)
        s = r[0]
        return s


def test_tuples_parameters_and_results_that_nobody_needs():
    steps = [
        transform.expand_tuple_arguments(),
        transform.canonicalize_bindings(),
        transform.to_non_dataflow(),
        transform.canonicalize_bindings(),
        transform.to_dataflow(),
        transform.remove_unused_outputs(),
        transform.canonicalize_bindings(),
        transform.dead_code_elimination(),
        transform.remove_unused_parameters(),
    ]
    module, inputs = Tuples, (random(5, 7), random(7), random(3), random(2))
    expected = run(Tuples, *inputs)
    for step in steps:
        module = step(module)
        np.testing.assert_array_equal(run(module, *inputs), expected, err_msg=str(step))
    assert [len(func.params) for func in module.functions.values()] == [2, 4]
    for name in ("expand_tuple_arguments", "remove_unused_outputs", "remove_unused_parameters"):
        assert getattr(transform, name)()(module) is module, name
