"""A number of numpy is a number, wherever a number of Python is."""

import numpy as np
import pytest

import tilewright as tw
from tilewright import relax, te, tir
from tilewright.script import relax as R

FLOATS = [np.float16(2.5), np.float32(2.5), np.float64(2.5), np.longdouble(2.5)]
INTS = [
    np.int8(3),
    np.uint8(3),
    np.int16(3),
    np.uint16(3),
    np.int32(3),
    np.uint32(3),
    np.int64(3),
    np.uint64(3),
]
NUMBERS = [*FLOATS, *INTS, np.bool_(True)]


def plain(number):
    return {"f": float, "b": bool}.get(number.dtype.kind, int)(number)


names = pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number.dtype.name)


@names
def test_argument_and_result_of_a_packed_function(number):
    tw.register_func("test.scalar_back", lambda x: x, override=True)
    assert tw.get_global_func("test.scalar_back")(number) == plain(number)


KERNEL = """
@T.prim_func
def fill(n: T.{dtype}, A: T.Buffer((1,), "float64")):
    A[0] = T.Cast("float64", n)
"""


@names
def test_argument_of_a_kernel(number):
    dtype = "float64" if number.dtype.kind == "f" else "int64"
    out = tw.empty((1,), "float64")
    tw.build(tw.script.parse(KERNEL.format(dtype=dtype)))["fill"](number, out)
    assert out.item() == float(number)


MODEL = """
@R.function
def main(n: R.Prim("{dtype}"), x: R.Tensor((3,), "float32")):
    return (n, x)
"""


@names
def test_argument_of_a_model(number):
    dtype = {"f": "float64", "b": "bool"}.get(number.dtype.kind, "int64")
    main = tw.VirtualMachine(tw.compile(tw.script.parse(MODEL.format(dtype=dtype))))["main"]
    assert main(number, np.zeros(3, "float32"))[0] == plain(number)


@names
def test_constants_and_attributes_of_graphs(number):
    same = plain(number)
    assert R.prim_value(number).value.value == same
    assert tw.ir.structural_equal(R.prim_value(number), R.prim_value(same))
    x = relax.Var("x", relax.TensorType((3,), "float64"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit(relax.op.add(x, relax.const(number, "float64"))))
    main = tw.VirtualMachine(tw.compile(bb.get()))["main"]
    np.testing.assert_array_equal(main(np.zeros(3)).numpy(), np.full(3, float(same)))


def test_a_long_double_is_a_double():
    assert relax.const(np.longdouble(2.5)).data.dtype == "float64"


@pytest.mark.parametrize("number", [*FLOATS[:3], *INTS], ids=lambda number: number.dtype.name)
def test_a_constant_takes_the_dtype_of_the_number(number):
    assert relax.const(number).data.dtype == number.dtype.name
    assert R.const(number).data.dtype == number.dtype.name
    assert relax.const(number).data.item() == plain(number)


@names
def test_operands_of_expressions(number):
    x = tir.Var("x", "float32")
    assert tw.ir.structural_equal(x + number, x + plain(number))
    assert tw.ir.structural_equal(number * x, plain(number) * x)


@names
def test_operands_of_graph_expressions(number):
    x = relax.Var("x", relax.TensorType((3,), "float32"))
    for found, expected in [(x + number, x + plain(number)), (number * x, plain(number) * x)]:
        assert tw.ir.structural_equal(found, expected)


@pytest.mark.parametrize("number", INTS, ids=lambda number: number.dtype.name)
def test_extents_and_attributes(number):
    x = relax.Var("x", relax.TensorType((3, 3), "float32"))
    assert tw.ir.structural_equal(relax.op.reshape(x, (number, number)), relax.op.reshape(x, (3, 3)))
    assert tw.ir.structural_equal(
        relax.op.full((number,), number, "float32"), relax.op.full((3,), 3, "float32")
    )
    assert tw.ir.structural_equal(relax.op.arange(number), relax.op.arange(3))
    assert (
        tw.empty((number, 2)).shape == tuple(relax.TensorType((number, 2), "float32").shape.values) == (3, 2)
    )
    assert te.placeholder((number,)).shape[0].value == 3


@names
def test_operands_in_tensor_expressions(number):
    a = te.placeholder((3,), "float32", name="A")
    b = te.compute((3,), lambda i: a[i] * number + number)
    lib = tw.build(te.create_prim_func([a, b]))
    out = tw.empty((3,))
    lib["main"](np.ones(3, "float32"), out)
    assert out.tolist() == [2 * float(number)] * 3


@names
def test_values_of_the_surrounding_program_in_scripts(number):
    from tilewright.script import tir as T

    @T.prim_func
    def scaled(A: T.Buffer((3,), "float32")):
        for i in range(3):
            A[i] = T.Cast("float32", number)

    out = tw.empty((3,))
    tw.build(scaled)["scaled"](out)
    assert out.tolist() == [float(number)] * 3


@names
def test_attributes_of_functions(number):
    func = tw.script.parse(KERNEL.format(dtype="int64"))
    assert func.with_attr("scale", number).attrs["scale"] == plain(number)
