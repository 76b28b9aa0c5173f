"""Small programs of relay, each operator against numpy or torch."""

import numpy as np
import tvm
from tvm import relay
from tvm.contrib import graph_executor

random = np.random.default_rng(0)


def numbers(*shape):
    return random.uniform(-1, 1, shape).astype("float32")


def run(body, **values):
    """The results of an expression on values of its variables."""
    func = relay.Function(relay.analysis.free_vars(body), body)
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(tvm.IRModule.from_expr(func), target="llvm")
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    module.set_input(**values)
    module.run()
    results = [module.get_output(n).numpy() for n in range(module.get_num_outputs())]
    return results[0] if len(results) == 1 else results


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


a, b = numbers(5, 7), numbers(5, 7)
x, y = relay.var("x", shape=(5, 7)), relay.var("y", relay.TensorType((5, 7), "float32"))

# numbers beside values take their dtype, and Python's operators are the same
close(run(relay.add(x, y), x=a, y=b), a + b)
close(run(relay.multiply(x, relay.const(2.0)) - y, x=a, y=b), 2 * a - b)
close(run(relay.maximum(x, 0.25), x=a), np.maximum(a, 0.25))
close(run(relay.exp(relay.negative(x)), x=a), np.exp(-a))
close(run(relay.sum(x, axis=1, exclude=True), x=a), a.sum(0))
close(run(relay.mean(x, axis=[0], keepdims=True), x=a), a.mean(0, keepdims=True))
close(run(relay.cast(relay.argmax(x, axis=1), "float32"), x=a), a.argmax(1))
close(run(relay.where(relay.less(x, y), x, y), x=a, y=b), np.minimum(a, b))
close(run(relay.clip(x, -0.5, 0.5), x=a), a.clip(-0.5, 0.5))

# forms
close(run(relay.reshape(x, (0, -1, 1)), x=a), a[:, :, None])
close(run(relay.reshape(x, (-3, 1)), x=a), a.reshape(35, 1))
close(run(relay.reshape(x, (5, -2)), x=a), a)
close(run(relay.reshape(relay.reshape(x, -1), (-4, -1, 7)), x=a), a)
close(run(relay.reshape(x, (-4, 5, -1, -2)), x=a), a[:, None])
close(run(relay.transpose(x), x=a), a.T)
close(run(relay.transpose(x, (1, 0)), x=a), a.T)
close(run(relay.expand_dims(x, 1, num_newaxis=2), x=a), a[:, None, None])
close(run(relay.squeeze(relay.expand_dims(x, 0), axis=[0]), x=a), a)
close(run(relay.concatenate([x, y], axis=1), x=a, y=b), np.concatenate([a, b], 1))
close(run(relay.concatenate(relay.Tuple([x, y]), axis=0), x=a, y=b), np.concatenate([a, b]))
close(run(relay.take(x, relay.const(np.array([4, 0], "int32")), axis=0), x=a), a[[4, 0]])
close(run(relay.take(x, relay.const(np.array([34, 0], "int32"))), x=a), a.ravel()[[34, 0]])
close(run(relay.add(x, relay.full(3.0, (5, 7))), x=a), a + 3)
left, right = relay.split(x, [3], axis=1)
close(run(relay.multiply(relay.sum(left), relay.sum(right)), x=a), a[:, :3].sum() * a[:, 3:].sum())
parts = relay.split(relay.concatenate([x, x], 0), 2)
assert len(parts) == 2
try:
    parts[2]
except IndexError as error:
    assert str(error) == "result 2 of 2 that there are", error
else:
    raise AssertionError("there are two")
for found in run(parts.astuple(), x=a):
    close(found, a)
for found, wanted in zip(run(relay.Tuple([x, relay.abs(x)]), x=a), (a, abs(a)), strict=True):
    close(found, wanted)

# networks
w, bias = numbers(3, 7), numbers(3)
weight, offset = relay.var("w", shape=(3, 7)), relay.var("b", shape=(3,))
product = relay.nn.bias_add(relay.nn.dense(x, weight, units=3), offset)
expected = a @ w.T + bias
close(run(product, x=a, w=w, b=bias), expected)
exps = np.exp(expected - expected.max(-1, keepdims=True))
close(run(relay.nn.softmax(product), x=a, w=w, b=bias), exps / exps.sum(-1, keepdims=True))
close(run(relay.nn.log_softmax(product), x=a, w=w, b=bias), np.log(exps / exps.sum(-1, keepdims=True)))
close(run(relay.nn.leaky_relu(x, alpha=0.1), x=a), np.where(a > 0, a, 0.1 * a))
close(run(relay.nn.pad(x, ((1, 0), (0, 2)), 1.0), x=a), np.pad(a, ((1, 0), (0, 2)), constant_values=1))
close(run(relay.nn.dropout(x), x=a), a)
stacks = numbers(2, 3, 4), numbers(2, 5, 4)
u, v = relay.var("u", shape=(2, 3, 4)), relay.var("v", shape=(2, 5, 4))
close(run(relay.nn.batch_matmul(u, v), u=stacks[0], v=stacks[1]), stacks[0] @ stacks[1].transpose(0, 2, 1))

image, kernel = numbers(2, 3, 9, 7), numbers(5, 3, 3, 3)
data, filters = relay.var("data", shape=(2, 3, 9, 7)), relay.var("k", shape=(5, 3, 3, 3))
windows = np.lib.stride_tricks.sliding_window_view(
    np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3)
)
convolved = np.einsum("nchwij,ocij->nohw", windows, kernel)
conv = relay.nn.conv2d(data, filters, padding=(1, 1), channels=5, kernel_size=(3, 3))
close(run(conv, data=image, k=kernel), convolved)
close(run(relay.nn.global_avg_pool2d(conv), data=image, k=kernel), convolved.mean((2, 3), keepdims=True))
close(run(relay.nn.global_max_pool2d(data), data=image), image.max((2, 3), keepdims=True))
close(run(relay.nn.batch_flatten(data), data=image), image.reshape(2, -1))
even = image[:, :, :8, :6].reshape(2, 3, 4, 2, 3, 2)
close(run(relay.nn.max_pool2d(data, pool_size=(2, 2), strides=(2, 2)), data=image), even.max((3, 5)))
close(run(relay.nn.avg_pool2d(data, pool_size=2, strides=2), data=image), even.mean((3, 5)))
statistics = [numbers(3), numbers(3), numbers(3), abs(numbers(3)) + 1]
norm = relay.nn.batch_norm(data, *(relay.const(each) for each in statistics))[0]
gamma, beta, mean, variance = (each.reshape(3, 1, 1) for each in statistics)
close(run(norm, data=image), (image - mean) / np.sqrt(variance + 1e-5) * gamma + beta)

# weights without shapes
layer = relay.nn.bias_add(relay.nn.dense(x, relay.var("w"), units=3), relay.var("b"))
assert [str(each.name_hint) for each in relay.analysis.free_vars(layer)] == ["x", "w", "b"]
close(run(layer, x=a, w=w, b=bias), expected)
late = relay.var("w")
sums = relay.sum(relay.nn.dense(x, late, units=3))
close(run(relay.add(sums, relay.sum(late)), x=a, w=w), (a @ w.T).sum() + w.sum())
assert len(relay.Function([x, late], sums).params) == 2
grouped = numbers(6, 1, 3, 3)
by_group = relay.nn.conv2d(data, relay.var("k"), groups=3, channels=6, kernel_size=3)
wanted = np.einsum("ngchwij,gocij->ngohw", windows[:, :, None, 1:-1, 1:-1], grouped.reshape(3, 2, 1, 3, 3))
close(run(by_group, data=image, k=grouped), wanted.reshape(2, 6, 7, 5))
names = ("gamma", "beta", "mean", "var")
norm = relay.nn.batch_norm(data, *(relay.var(name) for name in names))[0]
close(
    run(norm, data=image, **dict(zip(names, statistics, strict=True))),
    (image - mean) / np.sqrt(variance + 1e-5) * gamma + beta,
)
slopes = numbers(3)
close(
    run(relay.nn.prelu(data, relay.var("alpha")), data=image, alpha=slopes),
    np.where(image > 0, image, image * slopes.reshape(3, 1, 1)),
)

# networks of tutorials
for network, shape in ((relay.testing.mlp, (2, 1, 5, 7)), (relay.testing.resnet, (1, 3, 28, 28))):
    net, params = network.get_workload(batch_size=shape[0], num_classes=7, image_shape=shape[1:])
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(net, target="llvm", params=params)
    module = graph_executor.GraphModule(lib["default"](tvm.cpu(0)))
    module.set_input("data", numbers(*shape))
    module.run()
    chances = module.get_output(0).numpy()
    assert chances.shape == (shape[0], 7) and chances.min() >= 0
    close(chances.sum(1), np.ones(shape[0]))
    again = relay.create_executor(params=params).evaluate(net["main"])(module.get_input(0)).numpy()
    close(again, chances)

# open extents
rows = relay.var("rows", shape=(relay.Any(), 7))
for count in (0, 1, 127):
    value = numbers(count, 7)
    close(run(relay.nn.relu(rows), rows=value), np.maximum(value, 0))

# passes
shared = relay.add(relay.exp(x), relay.exp(x))
mod = tvm.IRModule.from_expr(relay.multiply(shared, relay.add(relay.const(1.0), relay.const(2.0))))
steps = tvm.transform.Sequential(
    [
        relay.transform.InferType(),
        relay.transform.FoldConstant(),
        relay.transform.EliminateCommonSubexpr(),
        relay.transform.DeadCodeElimination(),
        relay.transform.SimplifyInference(),
    ]
)
simple = steps(mod)
assert str(mod).count("R.exp(") == 2 and str(simple).count("R.exp(") == 1 and "R.const(3.0" in str(simple)
fused = relay.transform.FuseOps(fuse_opt_level=2)(simple)
assert "fused" in str(fused)
close(relay.create_executor("graph", simple, tvm.cpu(), "llvm").evaluate()(a).numpy(), 6 * np.exp(a))
close(relay.create_executor(params={"w": w}).evaluate(relay.nn.dense(x, weight))(a).numpy(), a @ w.T)


def refused(run, text):
    try:
        run()
    except tvm.TVMError as error:
        assert str(error) == text, error
    else:
        raise AssertionError(text)


refused(
    lambda: relay.exp(relay.var("w")),
    "relay.var: the shape of w is not known\n"
    'help: as in relay.var("w", shape=(1, 64)); without a shape it can be a weight of nn.dense(units=), nn.conv2d(channels=, kernel_size=), nn.bias_add, nn.prelu and norms',
)
refused(
    lambda: relay.Function([x], x + y),
    "relay.Function: y of the body is no parameter\nhelp: relay.analysis.free_vars(body) lists what the body uses",
)
refused(
    lambda: relay.reshape(relay.Tuple([x]), (0,)),
    "relay: the shape of (x,) is not known\nhelp: give the variables that it is made of shapes",
)
refused(lambda: relay.nn.dense(x, weight, units=4), "relay.nn.dense: units is 4, but weights have 3 rows")
refused(
    lambda: relay.nn.conv2d(data, filters, channels=4), "relay.nn.conv2d: channels is 4, but weights have 5"
)
refused(
    lambda: relay.reshape(x, (-5, 1)),
    "relay.reshape: code -5 of (-5, 1) is not known\nhelp: there are 0, -1, -2, -3, and -4 with two numbers behind it",
)
refused(
    lambda: relay.reshape(x, (0, -3)),
    "relay.reshape: code -3 of (0, -3) needs 2 extents, and of (5, 7) 1 are left",
)
refused(
    lambda: relay.testing.resnet.get_workload(num_layers=19),
    "relay.testing.resnet: num_layers is 19, expected one of 18, 34, 50, 101, 152",
)
refused(
    lambda: relay.build(mod, {"cpu": "llvm", "gpu": "cuda"}),
    "relay.build: there are targets for 2 devices, expected one",
)
refused(
    lambda: relay.frontend.from_pytorch,
    "relay.frontend.from_pytorch: models are read from ONNX alone\n"
    "help: export the model as ONNX (torch.onnx.export, tf2onnx) and call relay.frontend.from_onnx",
)
refused(
    lambda: relay.transform.AlterOpLayout,
    "relay.transform.AlterOpLayout: no pass over graphs here does it\n"
    f"help: these have one: {', '.join(sorted(name for name in vars(relay.transform) if name[0].isupper()))}; "
    "relay.build runs all that help",
)

lib = relay.build(mod, "llvm", mod_name="mine")
refused(lambda: lib["other"], 'there is no graph "other"\nhelp: it is called "mine"')
module = graph_executor.GraphModule(lib["mine"](tvm.cpu()))
refused(module.run, 'GraphModule: input x is not set\nhelp: set_input("x", value) comes first')
refused(lambda: module.set_input("z", a), "GraphModule: there is no input z\nhelp: the inputs are x")
refused(
    lambda: module.get_output(0), "GraphModule: there are no outputs yet\nhelp: run() comes before get_output"
)
module.run(x=a)
refused(lambda: module.get_output(1), "GraphModule: there is no output 1 of 1")
refused(
    lambda: module.module.time_evaluator("main"), 'GraphModule: "main" cannot be measured\nhelp: "run" can'
)
refused(
    lambda: graph_executor.GraphModule(lib),
    "GraphModule: a Python BuiltGraph is no graph on a device\nhelp: pass what lib[name](device) gives",
)


def search_by_templates():
    from tvm.autotvm.tuner import XGBTuner

    return XGBTuner


use = (
    "\nhelp: tvm.meta_schedule.tune_tir(program, target) searches schedules of a loop program, and tune_relax those of a graph "
    "(docs/tuning.md)"
)
refused(search_by_templates, "autotvm.tuner.XGBTuner: schedules are no longer searched by templates" + use)
refused(
    lambda: tvm.auto_scheduler.SearchTask,
    "auto_scheduler.SearchTask: schedules are searched by meta_schedule instead" + use,
)

print("ok")
