"""legalize_ops: operators become calls of loop programs; some stay, some become calls of the runtime."""

import numpy as np
from graph_testing import check, random, run

from tilewright.relax import transform
from tilewright.script import ir as I
from tilewright.script import relax as R
from tilewright.script import tir as T


@I.ir_module
class Sums:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), y: R.Tensor((7,), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.add(a, y)
            gv = R.reshape(b, R.shape([7, 5]))
            R.output(gv)
        return gv


@I.ir_module
class Programs:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), y: R.Tensor((7,), "float32")):
        cls = Programs
        with R.dataflow():
            a = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((5, 7), "float32"))
            b = R.call_tir(cls.add, (a, y), out_sinfo=R.Tensor((5, 7), "float32"))
            gv = R.reshape(b, R.shape([7, 5]))
            R.output(gv)
        return gv

    @T.prim_func(private=True)
    def add(
        A: T.Buffer((T.int64(5), T.int64(7)), "float32"),
        B: T.Buffer((T.int64(7),), "float32"),
        T_add: T.Buffer((T.int64(5), T.int64(7)), "float32"),
    ):
        T.func_attr({"tir.noalias": True})
        for i0, i1 in T.grid(T.int64(5), T.int64(7)):
            with T.block("T_add"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T_add[v_i0, v_i1] = A[v_i0, v_i1] + B[v_i1]


def test_equal_programs_are_kept_once_and_views_stay():
    check([transform.legalize_ops()], Sums, Programs, random(5, 7), random(7))


def test_legal_modules_stay():
    assert transform.legalize_ops()(Programs) is Programs


def test_operators_that_are_kept():
    result = transform.legalize_ops(keep=["relax.add"])(Sums)
    assert result is Sums


@I.ir_module
class Sorted:
    @R.function
    def main(x: R.Tensor((5, 7), "float32")):
        with R.dataflow():
            gv = R.sort(x, axis=1)
            R.output(gv)
        return gv


def test_what_the_runtime_does_is_a_call_of_it():
    result = transform.legalize_ops()(Sorted)
    assert "R.sort" not in result.script() and "R.call_dps_packed(" in result.script()
    x = random(5, 7)
    np.testing.assert_array_equal(run(result, x), np.sort(x, 1))


@I.ir_module
class Open:
    @R.function
    def main(x: R.Tensor(("n", 7), "float32"), y: R.Tensor(("m", 7), "float32")):
        with R.dataflow():
            gv = R.matmul(x, R.permute_dims(y))
            R.output(gv)
        return gv


def test_open_extents_are_parameters_of_programs():
    result = transform.legalize_ops()(Open)
    x, y = random(5, 7), random(127, 7)
    np.testing.assert_allclose(run(result, x, y), x @ y.T, rtol=1e-4, atol=1e-5)
