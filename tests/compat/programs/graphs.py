"""Graphs as programs for TVM read and change them: visitors, mutators, patterns, analysis, struct info."""

import numpy as np
import tvm
from tvm import relax
from tvm.relax.dpl import is_op, rewrite_call, wildcard
from tvm.script import relax as R


@tvm.script.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), y: R.Tensor((5, 7), "float32")):
        with R.dataflow():
            lv0 = relax.op.multiply(x, y)
            lv1 = relax.op.add(lv0, y)
            gv = relax.op.nn.relu(lv1)
            R.output(gv)
        return gv


@relax.expr_functor.visitor
class Names(relax.PyExprVisitor):
    def __init__(self):
        super().__init__()
        self.names = []

    def visit_call_(self, call):
        super().visit_call_(call)
        self.names.append(call.op.name)


names = Names()
names.visit_expr(Module["main"])
assert names.names == ["relax.multiply", "relax.add", "relax.nn.relu"]


class Depth(relax.expr_functor.ExprFunctor):
    """How many calls stand behind each other."""

    def visit_var_(self, var):
        return self.depths.get(var, 0)

    visit_dataflow_var_ = visit_var_

    def visit_call_(self, call):
        return 1 + max(self.visit_expr(arg) for arg in call.args)

    def visit_var_binding_(self, binding):
        self.depths[binding.var] = self.visit_expr(binding.value)

    def visit_dataflow_block_(self, block):
        for binding in block.bindings:
            self.visit_binding(binding)

    def visit_function_(self, func):
        self.depths = {}
        for block in func.body.blocks:
            self.visit_binding_block(block)
        return self.visit_expr(func.body.body)


assert Depth().visit_expr(Module["main"]) == 3
try:
    Depth().visit_expr(relax.const(1.0))
except NotImplementedError as error:
    assert str(error) == "Depth.visit_constant_ is not written: it is called for a Constant"


@relax.expr_functor.mutator
class ReluToMaximum(relax.PyExprMutator):
    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        if call.op != tvm.ir.Op.get("relax.nn.relu"):
            return call
        zeros = relax.op.zeros(call.struct_info.shape, call.struct_info.dtype)
        return relax.Call(tvm.ir.Op.get("relax.maximum"), [call.args[0], zeros], None, None)


func = ReluToMaximum().visit_expr(Module["main"])
x, y = wildcard(), wildcard()
func = rewrite_call(
    is_op("relax.add")(x, y), lambda call, found: relax.op.subtract(found[x], -found[y]), func
)
assert relax.analysis.well_formed(tvm.IRModule({"main": func}))
assert isinstance(func.body, relax.SeqExpr) and isinstance(func.params[0], relax.Var)
assert isinstance(func.struct_info, relax.FuncStructInfo) and isinstance(
    func.ret_struct_info, relax.TensorStructInfo
)

assert relax.ShapeStructInfo([1, 2]).ndim == 2 and relax.ShapeStructInfo(ndim=3).ndim == 3
assert (
    relax.FuncStructInfo([relax.TensorStructInfo((5,), "int8")], relax.ObjectStructInfo()).params[0].ndim == 1
)
assert relax.PrimStructInfo("int64").dtype == "int64"

vm = relax.VirtualMachine(relax.build(tvm.IRModule({"main": func}), target="llvm"), tvm.cpu())
a, b = (np.random.rand(5, 7).astype("float32") - 0.5 for _ in range(2))
np.testing.assert_allclose(
    vm["main"](tvm.nd.array(a), tvm.nd.array(b)).numpy(), np.maximum(a * b + b, 0), rtol=1e-6, atol=1e-7
)
print("ok")
