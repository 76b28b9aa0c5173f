"""sink_reshapes: elementwise work stands before the views of products, where it can stand in one kernel with them."""

import numpy as np
import pytest
from graph_testing import check, kernels, random, run

import tilewright
from tilewright import relax
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import parse
from tilewright.script import relax as R  # noqa: N812

STEPS = [transform.sink_reshapes(), transform.remove_identities(), transform.dead_code_elimination()]


@I.ir_module
class Layers:
    @R.function
    def main(
        x: R.Tensor((1, 7, 5), "float32"),
        w: R.Tensor((5, 3), "float32"),
        b: R.Tensor((3,), "float32"),
        u: R.Tensor((3, 5), "float32"),
    ) -> R.Tensor((1, 7, 5), "float32"):
        with R.dataflow():
            rows = R.reshape(x, R.shape([7, 5]))
            product = R.matmul(rows, w)
            image = R.reshape(product, R.shape([1, 7, 3]))
            shifted = R.add(image, b)
            bent = R.tanh(R.multiply(shifted, R.const(0.5, "float32")))
            gated = R.multiply(shifted, bent)
            again = R.reshape(gated, R.shape([7, 3]))
            second = R.matmul(again, u)
            result = R.reshape(second, R.shape([1, 7, 5]))
            gv = R.add(x, result)
            R.output(gv)
        return gv


@I.ir_module
class LayersOfMatrices:
    @R.function
    def main(
        x: R.Tensor((1, 7, 5), "float32"),
        w: R.Tensor((5, 3), "float32"),
        b: R.Tensor((3,), "float32"),
        u: R.Tensor((3, 5), "float32"),
    ) -> R.Tensor((1, 7, 5), "float32"):
        with R.dataflow():
            rows = R.reshape(x, R.shape([7, 5]))
            product = R.matmul(rows, w)
            shifted = R.add(product, b)
            halved = R.multiply(shifted, R.const(0.5, "float32"))
            bent = R.tanh(halved)
            gated = R.multiply(shifted, bent)
            second = R.matmul(gated, u)
            residual = R.reshape(x, R.shape([7, 5]))
            total = R.add(residual, second)
            gv = R.reshape(total, R.shape([1, 7, 5]))
            R.output(gv)
        return gv


def test_layers_work_on_matrices():
    check(STEPS, Layers, LayersOfMatrices, random(1, 7, 5), random(5, 3), random(3), random(3, 5))
    assert transform.sink_reshapes()(LayersOfMatrices) is LayersOfMatrices


@pytest.mark.parametrize(
    ("rows", "view"), [((1, 6), (6, 3)), ((2, 3), (6, 3)), ((6,), (1, 6, 3)), ((6,), (6, 1, 3))]
)
def test_any_view(rows, view):
    """Found: views that only dropped leading dimensions were read where matrices were wanted."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((*rows, 5), "float32"))
    w, b = random(5, 3), random(3)
    with builder.function("main", [x]):
        with builder.dataflow():
            product = builder.emit(relax.op.matmul(x, relax.const(w)))
            seen = builder.emit(relax.op.reshape(product, view))
            out = builder.emit_output(relax.op.nn.relu(relax.op.add(seen, relax.const(b))))
        builder.emit_func_output(out)
    once = transform.sink_reshapes()(builder.get())
    assert transform.sink_reshapes()(once) is once
    assert kernels(tilewright.compile(builder.get()).legalized) == ["fused_matmul_add_relu"]
    data = random(*rows, 5)
    np.testing.assert_allclose(
        run(once, data), np.maximum(data @ w + b, 0).reshape(view), rtol=1e-5, atol=1e-6
    )


def test_layers_have_a_kernel_for_each_product():
    assert kernels(tilewright.compile(Layers).legalized) == [
        "fused_matmul_add_multiply_tanh_multiply",
        "fused_matmul_add",
    ]


# lines of a function of x, y, w, s, t, a and n whose work on the view stays where it is
LEFT_ALONE = {
    "a shape that is asked for": """
v = R.reshape(R.matmul(x, w), R.shape([2, 3, 4]))
gv = R.broadcast_to(v, R.shape([2, 3, 4]))""",
    "a view of the same shape": "v = R.reshape(R.matmul(x, w), R.shape([6, 4]))\ngv = R.tanh(v)",
    "no product": "v = R.reshape(R.exp(x), R.shape([2, 3, 5]))\ngv = R.tanh(v)",
    "shapes that are not known": "v = R.reshape(R.matmul(y, w), R.shape([1, n, 4]))\ngv = R.tanh(v)",
    "a bias across the cut": "v = R.reshape(R.matmul(x, w), R.shape([2, 3, 4]))\ngv = R.add(v, s)",
    "a constant of all elements": "v = R.reshape(R.matmul(x, w), R.shape([24]))\ngv = R.add(v, R.const(C))",
    "what the product makes larger": "v = R.reshape(R.matmul(x, w), R.shape([1, 24]))\ngv = R.add(v, t)",
    "alpha of a dimension": "v = R.reshape(R.matmul(x, w), R.shape([6, 4, 1]))\ngv = R.nn.prelu(v, a, axis=1)",
    "what is made of the product": """
p = R.matmul(x, w)
v = R.reshape(p, R.shape([2, 3, 4]))
m = R.mean(v, axis=[2], keepdims=True)
f = R.broadcast_to(m, R.shape([2, 3, 4]))
gv = R.subtract(v, f)""",
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_left_alone(name):
    body = "\n".join(f"        {line}" for line in LEFT_ALONE[name].strip().splitlines())
    module = parse(
        f"""
@R.function
def main(x: R.Tensor((6, 5), "float32"), y: R.Tensor(("n", 5), "float32"), w: R.Tensor((5, 4), "float32"),
         s: R.Tensor((3, 1), "float32"), t: R.Tensor((5, 1), "float32"), a: R.Tensor((4,), "float32")):
    n = T.int64()
    with R.dataflow():
{body}
        R.output(gv)
    return gv
""".replace("R.const(C)", f'R.const({[1.0] * 24}, "float32")')
    )
    module = transform.to_dataflow()(tilewright.IRModule({"main": module}))
    assert transform.sink_reshapes()(module) is module


@pytest.mark.parametrize("seed", range(40))
def test_numbers_of_random_chains(seed):
    """Products, views and elementwise work in any order: never another number."""
    rng = np.random.default_rng(seed)
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((6, 4), "float32"))
    shapes = [(6, 4), (1, 6, 4), (2, 3, 4), (6, 1, 4), (24,), (4, 6), (2, 12)]
    ops = relax.op
    with builder.function("main", [x]):
        with builder.dataflow():
            values = [builder.emit(ops.exp(x))]
            for _ in range(14):
                value = values[rng.integers(max(0, len(values) - 3), len(values))]
                shape = [int(n) for n in value.type.shape]
                like = [other for other in values if [int(n) for n in other.type.shape] == shape]
                kind = rng.integers(6)
                if kind == 0 and shape[-1] == 4 and len(shape) > 1:
                    weight = (rng.integers(-1, 2, (4, 4)) / 2).astype("float32")
                    value = ops.matmul(value, relax.const(weight))
                elif kind == 1:
                    value = ops.add(value, like[rng.integers(len(like))])
                elif kind == 2:
                    ends = shape[rng.integers(len(shape)) :] if rng.integers(2) else [1] * rng.integers(1, 3)
                    value = ops.multiply(value, relax.const(rng.random(ends).astype("float32")))
                elif kind == 3:
                    value = ops.tanh(value)
                elif kind == 4 and len(shape) > 1:
                    value = ops.subtract(value, ops.mean(value, axis=[-1], keepdims=True))
                else:
                    value = ops.reshape(value, shapes[rng.integers(len(shapes))])
                values.append(builder.emit(value))
            result = builder.emit_output(ops.reshape(values[-1], (24,)))
        builder.emit_func_output(result)
    before = builder.get()
    data = random(6, 4)
    after = transform.sink_reshapes()(before)
    assert relax.analysis.well_formed(after)
    np.testing.assert_array_equal(run(after, data), run(before, data))
