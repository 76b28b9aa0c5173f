"""Operators of relay and names around its graphs, each against numpy."""

import numpy as np
import tvm
from tvm import relay
from tvm.contrib import graph_executor

a = np.random.default_rng(0).uniform(-1, 1, (5, 7)).astype("float32")
x = relay.var("x", shape=(5, 7))


def run(body):
    func = relay.Function(relay.analysis.free_vars(body), body)
    with relay.build_config(opt_level=3):
        lib = relay.build(tvm.IRModule.from_expr(func), target="llvm")
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    module.set_input("x", a)
    module.run()
    return [module.get_output(n).numpy() for n in range(module.get_num_outputs())]


order = a.argsort(1)
for body, *expected in (
    (relay.stack([x, x], axis=1), np.stack([a, a], 1)),
    (relay.stack(relay.Tuple([x, x])), np.stack([a, a])),
    (relay.repeat(x, 2, axis=1), a.repeat(2, 1)),
    (relay.tile(x, (2, 1)), np.tile(a, (2, 1))),
    (relay.reverse(x, axis=1), a[:, ::-1]),
    (relay.broadcast_to(relay.sum(x, 1, True), (5, 7)), a.sum(1, keepdims=True).repeat(7, 1)),
    (relay.add(x, relay.arange(7)), a + np.arange(7)),
    (relay.strided_slice(x, [1, 0], [5, 7], [2, 3]), a[1:5:2, ::3]),
    (relay.strided_slice(x, [2], [6], axes=[1]), a[:, 2:6]),
    (relay.strided_slice(x, [1, 2], [-1, 3], slice_mode="size"), a[1:, 2:5]),
    (relay.cumsum(x, axis=1), a.cumsum(1)),
    (relay.cumsum(x, axis=1, exclusive=True), a.cumsum(1) - a),
    (relay.cast(relay.argsort(x, axis=1), "float32"), order),
    (relay.cast(relay.argsort(x, axis=1, is_ascend=False), "float32"), order[:, ::-1]),
    (relay.topk(x, k=3).astuple(), np.sort(a, 1)[:, :-4:-1], order[:, :-4:-1]),
    (relay.topk(x, k=2, ret_type="values", is_ascend=True), np.sort(a, 1)[:, :2]),
    (relay.add(x, relay.zeros((5, 7))), a),
    (relay.add(x, relay.ones((7,), "float32")), a + 1),
    (relay.add(x, relay.full(relay.const(2.0), (5, 7), "float32")), a + 2),
    (relay.cast(relay.argmin(x, axis=[1]), "float32"), a.argmin(1)),
):
    for found, wanted in zip(run(body), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)

# makers of expressions are classes, too
func = relay.Function([x], relay.exp(x))
assert isinstance(func, relay.Function) and not isinstance(x, relay.Function)
assert isinstance(relay.Tuple([x]), relay.Tuple) and isinstance(relay.split(x, 5)[0], relay.TupleGetItem)
saved = relay.load_param_dict(relay.save_param_dict({"a": tvm.nd.array(a)}))
np.testing.assert_array_equal(saved["a"].numpy(), a)

# a layout beside which the one of weights is the usual one
image, weight = relay.var("image", shape=(1, 3, 8, 8)), relay.var("weight", shape=(4, 3, 3, 3))
with tvm.transform.PassContext(opt_level=3, config={"relay.backend.use_auto_scheduler": True}):
    mod = relay.transform.ConvertLayout({"nn.conv2d": ["NHWC", "default"]})(
        tvm.IRModule.from_expr(relay.nn.conv2d(image, weight))
    )
assert 'data_layout="NHWC"' in str(mod) and 'kernel_layout="HWIO"' in str(mod), mod

print("ok")
