"""Arguments and names that apache-tvm 0.27 gave to relax, and the numbers behind them."""

import numpy as np
import tvm
from tvm import relax
from tvm.relax import dpl
from tvm.relax.frontend import nn
from tvm.relax.training.loss import CategoricalCrossEntropyLoss
from tvm.script import ir as I
from tvm.script import relax as R

RNG = np.random.default_rng(2)
matrix = relax.TensorType((3, 5), "float32")
x = relax.Var("x", matrix)
assert x.ty.shape.values[1] == 5
assert x.name == "x"


def numbers(mod, *inputs, name="main"):
    return relax.VirtualMachine(tvm.compile(mod), tvm.cpu(dev_id=0))[name](*map(tvm.runtime.tensor, inputs))


def module_of(make, *types):
    params = [relax.Var(f"x{n}", type) for n, type in enumerate(types)]
    builder = relax.BlockBuilder()
    with builder.function(name="main", params=params):
        with builder.dataflow():
            result = builder.emit_output(output=make(builder, *params))
        builder.emit_func_output(result)
    return builder.get()


# builders
def cast(builder, given):
    whole = builder.match_cast(given, ty=matrix)
    return builder.emit(relax.op.atan2(whole, relax.op.nn.relu(data=whole)))


mod = module_of(cast, relax.TensorType(None, "float32", ndim=2))
a = RNG.standard_normal((3, 5)).astype("float32")
np.testing.assert_allclose(numbers(mod, a).numpy(), np.arctan2(a, np.maximum(a, 0)), rtol=1e-5)
builder = relax.BlockBuilder(mod)
var = builder.add_func(func=mod["main"], func_name="again")
builder.update_func(gv=var, updated_func=mod["main"].with_attrs({"mine": 1}))
assert builder.get()["again"].attrs["mine"] == 1
call = mod["main"].body.blocks[0].bindings[1].value
call.show()
assert call.script() == "R.nn.relu(whole)" or "R." in call.script()
assert "R.output" in mod["main"].body.script()
closure = relax.op.call_pure_packed("test.f", x, ty_args=matrix)
assert closure.ty_args == [matrix]
assert mod["main"].ret_ty == matrix

# analysis
assert relax.analysis.check_well_formed(obj=mod, check_ty=True)
assert relax.analysis.type_lca(matrix, relax.TensorType((3, 7), "float32")) == relax.TensorType(
    None, "float32", ndim=2
)
assert relax.analysis.erase_to_well_defined(ty=matrix) == matrix
assert [each.name for each in relax.analysis.used_vars(relax.op.add(x, x))] == ["x"]

# patterns: matrices of one shape
left, right = dpl.wildcard(), dpl.wildcard()
product = dpl.is_op(op_name="relax.multiply")(left, right)
left.same_shape_as(right)


def products(builder, p, q):
    first = builder.emit(relax.op.multiply(p, q))
    return builder.emit(relax.op.multiply(first, p))


found = []


def note(call, matched):
    found.append(matched[left].ty)
    return call


mixed = module_of(products, matrix, relax.TensorType((1, 5), "float32"))
dpl.rewrite_call(product, note, mixed["main"])
assert found == [matrix]
first = dpl.ExprPatternRewriter(
    dpl.is_op("relax.multiply")(left.dup(), right.dup()), lambda call, _: relax.op.add(*call.args)
)
both = dpl.OrRewriter(first, first)
sums = tvm.IRModule({"main": both(mixed["main"])})
assert "R.add" in sums.script() and "R.multiply" not in sums.script()
assert dpl.TupleGetItemPattern(tuple_value=dpl.wildcard(), index=0).match(
    relax.TupleGetItem(relax.Tuple([x, x]), 0)
)
pattern = dpl.make_fused_bias_activation_pattern("relax.matmul", with_bias=True, allow_reshape=True)


def biased(builder, p, w, b):
    return builder.emit(relax.op.add(relax.op.matmul(p, w), relax.op.reshape(b, (1, 7))))


linear = module_of(biased, matrix, relax.TensorType((5, 7), "float32"), relax.TensorType((7,), "float32"))
fused = relax.transform.FuseOpsByPattern([("my.linear", pattern)], entry_functions=["main"])(linear)
assert "my.linear" in fused.script()
assert (
    "my.linear"
    not in relax.transform.FuseOpsByPattern([("my.linear", pattern)], entry_functions=["f"])(linear).script()
)


# passes
@tvm.transform.module_pass(opt_level=0)
def check_text(mod, ctx):
    assert "R.matmul" in mod.script()
    return mod


tvm.transform.Sequential([tvm.ir.transform.PrintIR("before"), check_text])(linear)
wider = relax.transform.UpdateParamType(
    ty_func=lambda var: relax.TensorType((9, 5), "float32") if var.name == "x0" else None
)(linear)
assert wider["main"].ret_ty == relax.TensorType((9, 7), "float32")
steps = [
    *relax.pipeline.legalize_passes(tvm.target.Target("llvm")),
    *relax.pipeline.dataflow_lower_passes(None),
]
weights = RNG.standard_normal((5, 7)).astype("float32"), RNG.standard_normal(7).astype("float32")
lowered = tvm.transform.Sequential([*steps, *relax.pipeline.finalize_passes(None)])(linear)
np.testing.assert_allclose(numbers(lowered, a, *weights).numpy(), a @ weights[0] + weights[1], rtol=1e-4)

# losses
scores, targets = a, np.eye(5, dtype="float32")[[1, 0, 4]]
loss = tvm.IRModule(
    {"main": CategoricalCrossEntropyLoss(reduction="mean")(matrix, matrix).with_attr("global_symbol", "main")}
)
logs = scores - np.log(np.exp(scores).sum(1, keepdims=True))
np.testing.assert_allclose(numbers(loss, scores, targets).numpy(), -(logs * targets).mean(), rtol=1e-5)
loss = tvm.IRModule(
    {
        "main": CategoricalCrossEntropyLoss("sum", ignore_index=4)(matrix, matrix).with_attr(
            "global_symbol", "main"
        )
    }
)
np.testing.assert_allclose(numbers(loss, scores, targets).numpy(), -(logs[0, 1] + logs[1, 0]), rtol=1e-5)
assert relax.training.optimizer.SGD(lr=0.1).init([x]) is not None

# checkpoints
from tvm.relax.testing import emit_checkpoint_sequential  # noqa: E402


def layers(builder, p):
    functions = [lambda v: builder.emit(relax.op.sin(v)), lambda v: builder.emit(relax.op.exp(v))] * 2
    return builder.emit(relax.op.sum(emit_checkpoint_sequential(functions, 2, p)))


steps = module_of(layers, matrix)
assert steps.script().count("start_checkpoint") == 1
value, (grad,) = numbers(relax.transform.Gradient("main")(steps), a, name="main_adjoint")
s = np.exp(np.sin(a))
np.testing.assert_allclose(value.numpy(), np.exp(np.sin(s)).sum(), rtol=1e-4)
np.testing.assert_allclose(grad.numpy(), np.exp(np.sin(s)) * np.cos(s) * s * np.cos(a), rtol=1e-3, atol=1e-5)

# attention, and modules of diffusion models
attention = relax.testing.get_relax_attention_module(
    (1, 5, 2, 3), (1, 7, 2, 3), (1, 7, 2, 3), dtype="float32", bias_shape=(1, 2, 5, 7)
)
assert attention["main"].ret_ty == relax.TensorType((1, 5, 2, 3), "float32")
assert nn.modules.Attention(8, heads=2, dim_head=4).to_q.weight.shape == [8, 8]
assert nn.Tensor.from_ty(matrix).shape == [3, 5]

# images of one number for both extents
picture = relax.Var("p", relax.TensorType((1, 2, 5, 7), "float32"))
resized = module_of(lambda builder, p: builder.emit(relax.op.image.resize2d(p, size=4)), picture.ty)
assert resized["main"].ret_ty == relax.TensorType((1, 2, 4, 4), "float32")

# ONNX
try:
    import onnx
except ImportError:
    onnx = None
if onnx is not None:
    from tvm.relax.frontend import detach_params
    from tvm.relax.frontend.onnx import from_onnx

    float_type = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Gemm", ["x", "w", "b"], ["y"])],
        "g",
        [onnx.helper.make_tensor_value_info("x", float_type, ["n", 5])],
        [onnx.helper.make_tensor_value_info("y", float_type, None)],
        [onnx.numpy_helper.from_array(w, name) for w, name in zip(weights, "wb", strict=True)],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    imported = from_onnx(model, shape_dict={"x": [3, 5]}, keep_params_in_input=True)
    assert imported["main"].params[0].ty == matrix
    imported, params = detach_params(imported)
    result = numbers(imported, a, *(each.numpy() for each in params["main"]))
    np.testing.assert_allclose(result.numpy(), a @ weights[0] + weights[1], rtol=1e-4)


@I.ir_module
class Sequence:
    @R.function
    def main(x: R.Tensor((2, 5), "float32"), n: R.Tensor((2,), "int64")) -> R.Tensor((2, 5), "float32"):
        with R.dataflow():
            y: R.Tensor((2, 5), "float32") = R.reverse_sequence(x, n, seq_axis=1, batch_axis=0)
            R.output(y)
        return y


given = np.arange(10, dtype="float32").reshape(2, 5)
assert numbers(Sequence, given, np.array([2, 5])).numpy().tolist() == [[1, 0, 2, 3, 4], [9, 8, 7, 6, 5]]
print("ok")
