"""Graphs built by tvm.script.ir_builder.relax are those that the same text gives."""

import tvm
from tvm import relax, tir
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import ir as I
from tvm.script.ir_builder import relax as R


def check(built, text):
    tvm.ir.assert_structural_equal(
        built, tvm.script.from_source("from tvm.script import ir as I, relax as R\n" + text)
    )


# ---- a function with plain bindings and a cast

with IRBuilder() as ib, R.function():
    R.func_name("foo")
    R.func_attr({"Primitive": 1})
    x = R.arg("x", relax.TensorStructInfo(ndim=-1, dtype="float32"))
    y = R.arg("y", relax.TensorStructInfo(ndim=-1, dtype="float32"))
    m, n = tir.Var("m", dtype="int64"), tir.Var("n", dtype="int64")
    x0 = R.emit_match_cast(x, relax.TensorStructInfo((m,), "float32"))
    y0 = R.emit_match_cast(y, relax.TensorStructInfo((n,), "float32"))
    IRBuilder.name_many(["x0", "y0"], [x0, y0])
    z = R.emit(R.call_dps_packed("extern_func", [x0, y0], relax.TensorStructInfo((m, n * 2), "float32")))
    IRBuilder.name("z", z)
    w = R.emit(R.add(z, z), relax.TensorStructInfo(ndim=2, dtype="float32"))
    R.func_ret_struct_info(relax.TensorStructInfo(ndim=2, dtype="float32"))
    R.func_ret_value(w)
foo = ib.get()
assert [binding.var.name_hint for binding in foo.body.blocks[0].bindings][:3] == ["x0", "y0", "z"]
check(
    foo,
    """
@R.function
def foo(x: R.Tensor("float32"), y: R.Tensor("float32")) -> R.Tensor("float32", ndim=2):
    R.func_attr({"Primitive": 1})
    m = T.int64()
    n = T.int64()
    x0 = R.match_cast(x, R.Tensor((m,), "float32"))
    y0 = R.match_cast(y, R.Tensor((n,), "float32"))
    z = R.call_dps_packed("extern_func", (x0, y0), R.Tensor((m, n * 2), "float32"))
    w: R.Tensor("float32", ndim=2) = R.add(z, z)
    return w
""".replace("@R", "from tvm.script import tir as T\n@R"),
)

# ---- a dataflow block, in a module

with IRBuilder() as ib, I.ir_module():
    with R.function(is_private=True):
        R.func_name("main")
        x = R.arg("x", relax.TensorStructInfo((128, 128), "float32"))
        with R.dataflow() as df:
            lv0 = R.emit(R.exp(x))
            IRBuilder.name("lv0", lv0)
            gv = R.emit(R.nn.relu(lv0))
            IRBuilder.name("gv", gv)
            R.output(gv)
        (gv,) = df.output_vars
        R.func_ret_value(gv)
module = ib.get()
check(
    module,
    """
@I.ir_module
class Module:
    @R.function(private=True)
    def main(x: R.Tensor((128, 128), "float32")):
        with R.dataflow():
            lv0 = R.exp(x)
            gv = R.nn.relu(lv0)
            R.output(gv)
        return gv
""",
)
assert [binding.var.name_hint for binding in module["main"].body.blocks[0].bindings] == ["lv0", "gv"]

# ---- a branch

with IRBuilder() as ib, R.function():
    R.func_name("choose")
    c, x = R.arg("c", R.Tensor((), "bool")), R.arg("x", R.Tensor((3,), "float32"))
    with R.If(c) as choice:
        with R.Then():
            a = R.emit(R.add(x, x))
            IRBuilder.name("w", R.emit(R.multiply(a, x)))
        with R.Else():
            IRBuilder.name("w", R.emit(R.exp(x)))
    R.func_ret_value(choice.var)
check(
    ib.get(),
    """
@R.function
def choose(c: R.Tensor((), "bool"), x: R.Tensor((3,), "float32")):
    if c:
        a = R.add(x, x)
        w = R.multiply(a, x)
    else:
        w = R.exp(x)
    return w
""",
)

print("ok")
