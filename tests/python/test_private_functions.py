"""Functions that only the module calls: inlined, with fewer parameters and results; bindings in another order; other programs."""

import numpy as np
import pytest
from graph_testing import check, random, run

import tilewright
from tilewright import tir
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812

# ---- inline_private_functions


@I.ir_module
class Calls:
    @R.function(private=True)
    def inner(a: R.Tensor(("k", 7), "float32")) -> R.Tensor(("k", 7), "float32"):
        with R.dataflow():
            lv = R.exp(a)
            gv = R.negative(lv)
            R.output(gv)
        return gv

    @R.function(private=True)
    def outer(a: R.Tensor(("m", 7), "float32")) -> R.Tensor(("m", 7), "float32"):
        cls = Calls
        b = cls.inner(a)
        c = cls.inner(b)
        return c

    @R.function
    def main(x: R.Tensor(("n", 7), "float32")) -> R.Tensor(("n", 7), "float32"):
        cls = Calls
        with R.dataflow():
            y = cls.outer(x)
            gv = R.add(y, x)
            R.output(gv)
        return gv


@I.ir_module
class Inlined:
    @R.function
    def main(x: R.Tensor(("n", 7), "float32")) -> R.Tensor(("n", 7), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.negative(a)
            c = R.exp(b)
            d = R.negative(c)
            gv = R.add(d, x)
            R.output(gv)
        return gv


def test_calls_are_what_they_compute():
    result = transform.inline_private_functions()(Calls)
    assert_structural_equal(transform.canonicalize_bindings()(result), Inlined)
    assert transform.inline_private_functions()(result) is result
    np.testing.assert_array_equal(run(result, random(5, 7)), run(Calls, random(5, 7)))


@I.ir_module
class StayCalls:
    @R.function(private=True)
    def again(n: R.Tensor((), "int64"), a: R.Tensor((7,), "float32")) -> R.Tensor((7,), "float32"):
        cls = StayCalls
        c = R.less(n, R.const(1, "int64"))
        if c:
            r = R.exp(a)
        else:
            m = R.subtract(n, R.const(1, "int64"))
            r = cls.again(m, a)
        return r

    @R.function(private=True)
    def branches(c: R.Tensor((), "bool"), a: R.Tensor((7,), "float32")) -> R.Tensor((7,), "float32"):
        if c:
            r = R.exp(a)
        else:
            r = R.negative(a)
        return r

    @R.function
    def public(a: R.Tensor((7,), "float32")) -> R.Tensor((7,), "float32"):
        b = R.exp(a)
        return b

    @R.function
    def main(n: R.Tensor((), "int64"), c: R.Tensor((), "bool"), x: R.Tensor((7,), "float32")):
        cls = StayCalls
        with R.dataflow():
            a = cls.again(n, x)
            b = cls.branches(c, a)
            gv = cls.public(b)
            R.output(gv)
        return gv


def test_recursive_public_and_branching_functions_stay():
    assert transform.inline_private_functions()(StayCalls) is StayCalls
    plain = transform.to_non_dataflow()(StayCalls)
    inlined = transform.inline_private_functions()(plain)
    assert [var.name_hint for var in inlined.functions] == ["again", "public", "main"]
    inputs = np.array(3, "int64"), np.array(True), random(7)
    np.testing.assert_array_equal(run(inlined, *inputs), run(StayCalls, *inputs))


# ---- parameters and results


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


@I.ir_module
class Fields:
    @R.function(private=True)
    def helper(a: R.Tensor((5, 7), "float32"), b: R.Tensor((7,), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            c = R.add(a, b)
            R.output(c)
        return c

    @R.function
    def main(
        x: R.Tensor((5, 7), "float32"),
        y: R.Tensor((7,), "float32"),
        z: R.Tensor((3,), "float32"),
        v: R.Tensor((2,), "float32"),
    ):
        cls = Fields
        s = cls.helper(x, y)
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


@I.ir_module
class Unused:
    @R.function(private=True)
    def helper(
        a: R.Tensor((5,), "float32"), b: R.Tensor(("n",), "float32"), c: R.Tensor((3,), "float32")
    ) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        gv = R.full(R.shape([n]), R.const(2.0, "float32"), dtype="float32")
        return gv

    @R.function
    def main(a: R.Tensor((5,), "float32"), b: R.Tensor(("n",), "float32"), c: R.Tensor((3,), "float32")):
        cls = Unused
        gv = cls.helper(a, b, c)
        return gv


@I.ir_module
class Needed:
    @R.function(private=True)
    def helper(b: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        gv = R.full(R.shape([n]), R.const(2.0, "float32"), dtype="float32")
        return gv

    @R.function
    def main(a: R.Tensor((5,), "float32"), b: R.Tensor(("n",), "float32"), c: R.Tensor((3,), "float32")):
        cls = Needed
        gv = cls.helper(b)
        return gv


def test_a_parameter_that_says_a_dimension_stays():
    check([transform.remove_unused_parameters()], Unused, Needed, random(5), random(127), random(3))


@I.ir_module
class Pair:
    @R.function(private=True)
    def helper(a: R.Tensor((5,), "float32")):
        b = R.exp(a)
        c = R.negative(a)
        d = R.add(b, c)
        return (b, c, d)

    @R.function
    def main(x: R.Tensor((5,), "float32")):
        cls = Pair
        r = cls.helper(x)
        s = r[2]
        q = r[0]
        gv = R.add(s, q)
        return gv


@I.ir_module
class ShorterPair:
    @R.function(private=True)
    def helper(a: R.Tensor((5,), "float32")):
        b = R.exp(a)
        c = R.negative(a)
        d = R.add(b, c)
        return (b, d)

    @R.function
    def main(x: R.Tensor((5,), "float32")):
        cls = ShorterPair
        r = cls.helper(x)
        s = r[1]
        q = r[0]
        gv = R.add(s, q)
        return gv


def test_results_that_nobody_uses():
    check([transform.remove_unused_outputs()], Pair, ShorterPair, random(5))


# ---- topological_sort


@I.ir_module
class Unsorted:
    @R.function
    def main(x: R.Tensor((5,), "float32"), y: R.Tensor((5,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.exp(y)
            c = R.negative(a)
            d = R.negative(b)
            gv = R.add(c, d)
            R.output(gv)
        return gv


def order(module) -> str:
    return "".join(binding.var.name_hint for binding in module["main"].body.blocks[0].bindings)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "acbdgv"),
        ({"order": "breadth-first"}, "abcdgv"),
        ({"direction": "from-outputs"}, "acbdgv"),
        ({"order": "breadth-first", "direction": "from-outputs"}, "abcdgv"),
    ],
)
def test_bindings_in_another_order(options, expected):
    step = transform.topological_sort(**options)
    result = step(Unsorted)
    assert order(result) == expected
    assert step(result) is result
    np.testing.assert_array_equal(run(result, random(5), random(5)), run(Unsorted, random(5), random(5)))


def test_orders_that_there_are_not():
    for options, text in [
        ({"order": "random"}, 'order is "random", expected "depth-first" or "breadth-first"'),
        ({"direction": "up"}, 'direction is "up", expected "from-inputs" or "from-outputs"'),
    ]:
        with pytest.raises(tilewright.UserError) as error:
            transform.topological_sort(**options)(Unsorted)
        assert str(error.value) == "error: topological_sort: " + text


# ---- alter_op_impl


@I.ir_module
class Add:
    @T.prim_func(private=True)
    def add(a: T.Buffer((3, 8), "float32"), b: T.Buffer((3, 8), "float32"), c: T.Buffer((3, 8), "float32")):
        T.func_attr({"operator_name": "mine.add"})
        for i, j in T.grid(3, 8):
            with T.block("c"):
                vi, vj = T.axis.remap("SS", [i, j])
                c[vi, vj] = a[vi, vj] + b[vi, vj]

    @R.function
    def main(x: R.Tensor((3, 8), "float32"), y: R.Tensor((3, 8), "float32")):
        cls = Add
        with R.dataflow():
            gv = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((3, 8), "float32"))
            R.output(gv)
        return gv


@T.prim_func(private=True)
def blocked(
    a: T.Buffer((2, 3, 4), "float32"), b: T.Buffer((3, 8), "float32"), c: T.Buffer((2, 3, 4), "float32")
):
    for o, i, j in T.grid(2, 3, 4):
        with T.block("c"):
            vo, vi, vj = T.axis.remap("SSS", [o, i, j])
            c[vo, vi, vj] = a[vo, vi, vj] + b[vi, vo * 4 + vj]


def blocks_of_4():
    return tir.index_map(lambda i, j: (j // 4, i, j % 4))


def test_programs_are_replaced_in_the_layout_that_they_want():
    step = transform.alter_op_impl(
        op_impl_map={"mine.add": blocked},
        op_buffer_transforms={"mine.add": [blocks_of_4(), None, blocks_of_4()]},
    )
    result = step(Add)
    text = result["main"].script()
    assert (
        text.count("R.reshape") == 2 and text.count("R.permute_dims") == 2 and "mine_add_replacement" in text
    )
    assert step(result) is result
    np.testing.assert_array_equal(
        run(result, random(3, 8), random(3, 8)), run(Add, random(3, 8), random(3, 8))
    )


def test_replacements_that_do_not_fit():
    third = tir.index_map(lambda i, j: (j // 3, i, j % 3))
    for impl, maps, text in [
        (
            {"mine.add": blocked},
            {"mine.add": [third, None, None]},
            "unsupported: alter_op_impl: the layout lambda i, j: (j // 3, i, j % 3) of a tensor [3, 8] is not made by splitting and permuting"
            " dimensions\nhelp: give each dimension whole, or as i // c and i % c with c a divisor of its extent",
        ),
        (
            {"mine.add": blocked},
            {"mine.add": [None]},
            'error: alter_op_impl: the transforms of "mine.add" are no list with one for each of 3 buffers',
        ),
        (
            {"mine.add": blocked},
            {"mine.add": [1, None, None]},
            'error: alter_op_impl: a transform of "mine.add" is neither an index map nor None',
        ),
        ({"mine.add": 1}, {}, 'error: alter_op_impl: the replacement of "mine.add" is not a loop program'),
    ]:
        with pytest.raises(tilewright.errors.Error) as error:
            transform.alter_op_impl(op_impl_map=impl, op_buffer_transforms=maps)(Add)
        assert str(error.value) == text
    other = transform.alter_op_impl(op_impl_map={"other.add": blocked})
    assert other(Add) is Add


@I.ir_module
class TwoOutputs:
    @T.prim_func(private=True)
    def both(a: T.Buffer((3,), "float32"), b: T.Buffer((3,), "float32"), c: T.Buffer((3,), "float32")):
        T.func_attr({"operator_name": "mine.both"})
        for i in range(3):
            with T.block("b"):
                vi = T.axis.spatial(3, i)
                b[vi] = a[vi]
                c[vi] = a[vi]

    @R.function
    def main(x: R.Tensor((3,), "float32"), y: R.Tensor(ndim=1, dtype="float32")):
        cls = TwoOutputs
        gv = R.call_tir(cls.both, (x,), out_sinfo=[R.Tensor((3,), "float32"), R.Tensor((3,), "float32")])
        return gv


@I.ir_module
class UnknownShape:
    @T.prim_func(private=True)
    def add(a: T.Buffer((3, 8), "float32"), b: T.Buffer((3, 8), "float32"), c: T.Buffer((3, 8), "float32")):
        T.func_attr({"operator_name": "mine.add"})
        for i, j in T.grid(3, 8):
            with T.block("c"):
                vi, vj = T.axis.remap("SS", [i, j])
                c[vi, vj] = a[vi, vj] + b[vi, vj]

    @R.function
    def main(x: R.Tensor(ndim=2, dtype="float32"), y: R.Tensor((3, 8), "float32")):
        cls = UnknownShape
        gv = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((3, 8), "float32"))
        return gv


@T.prim_func(private=True)
def only_one(a: T.Buffer((3,), "float32")):
    for i in range(3):
        with T.block("a"):
            vi = T.axis.spatial(3, i)
            a[vi] = T.float32(0)


def first_lines(step, module) -> str:
    with pytest.raises(tilewright.errors.Error) as error:
        step(module)
    return str(error.value).splitlines()[0]


def test_calls_that_cannot_be_replaced():
    maps = {"mine.add": [blocks_of_4(), None, None]}
    step = transform.alter_op_impl(op_impl_map={"mine.add": blocked}, op_buffer_transforms=maps)
    assert (
        first_lines(step, UnknownShape)
        == "unsupported: alter_op_impl: another layout of a tensor of unknown shape"
    )
    step = transform.alter_op_impl(op_impl_map={"mine.both": blocked})
    assert (
        first_lines(step, TwoOutputs)
        == 'unsupported: alter_op_impl: the replacement of "mine.both", which has several outputs'
    )
    step = transform.alter_op_impl(op_impl_map={"mine.add": only_one})
    assert (
        first_lines(step, Add)
        == 'error: alter_op_impl: the replacement of "mine.add" has 1 parameters, but 3 are passed'
    )
