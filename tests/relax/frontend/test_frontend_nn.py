"""Models of nn.Module: what they export, and their numbers against torch."""

import numpy as np
import pytest

import tilewright as tw
from tilewright import relax, te, tir
from tilewright.relax.frontend import detach_params, nn
from tilewright.script import tir as T

RNG = np.random.default_rng(3)


def tensor(*shape):
    return RNG.standard_normal(shape).astype("float32")


def run(model, *inputs, names=None, **options):
    """forward of `model` with random weights on arrays, first dimensions symbolic: numpy arrays."""
    model.load_state_dict({key: tensor(*param.shape) for key, param in model.named_parameters()})
    return run_as_is(model, *inputs, **options)


def run_as_is(model, *inputs, **options):
    import inspect

    names = list(inspect.signature(model.forward).parameters)
    spec = {name: nn.spec.Tensor(["n", *x.shape[1:]], str(x.dtype)) for name, x in zip(names, inputs)}
    return model.jit({"forward": spec}, out_format="numpy", **options)["forward"](*inputs)


class MLP(nn.Module):
    def __init__(self):
        self.fc1 = nn.Linear(7, 5)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(5, 3, bias=False)

    def forward(self, x: nn.Tensor):
        return self.fc2(self.relu(self.fc1(x)))


def test_export():
    mod, params = MLP().export_tvm({"forward": {"x": nn.spec.Tensor(["n", 7], "float32")}})
    assert [name for name, _ in params] == ["fc1.weight", "fc1.bias", "fc2.weight"]
    expected = """
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def forward(x: R.Tensor(("n", 7), "float32"), fc1_weight: R.Tensor((5, 7), "float32"), fc1_bias: R.Tensor((5,), "float32"), fc2_weight: R.Tensor((3, 5), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            permute_dims = R.permute_dims(fc1_weight)
            matmul = R.matmul(x, permute_dims)
            add = R.add(matmul, fc1_bias)
            relu = R.nn.relu(add)
            permute_dims1 = R.permute_dims(fc2_weight)
            gv = R.matmul(relu, permute_dims1)
            R.output(gv)
        return gv
"""
    names = [
        line.split("=")[0].split(":")[0].strip()
        for line in mod["forward"].script().splitlines()
        if " = R." in line
    ]
    assert names == ["permute_dims", "matmul", "add", "relu", "permute_dims1", "matmul1"]
    inputs = [tensor(5, 7), tensor(5, 7), tensor(5), tensor(3, 5)]
    got, want = (
        tw.VirtualMachine(tw.compile(m))["forward"](*inputs) for m in (mod, tw.script.parse(expected))
    )
    np.testing.assert_array_equal(got.numpy(), want.numpy())


@pytest.mark.parametrize("batch", [1, 5, 127])
def test_mlp_against_torch(batch):
    torch = pytest.importorskip("torch")
    theirs = torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3, bias=False))
    ours = MLP()
    ours.load_state_dict(dict(zip(["fc1.weight", "fc1.bias", "fc2.weight"], theirs.state_dict().values())))
    x = torch.from_numpy(tensor(batch, 7))
    got = ours.jit({"forward": {"x": nn.spec.Tensor(["n", 7], "float32")}})["forward"](x)
    assert isinstance(got, torch.Tensor)
    torch.testing.assert_close(got, theirs(x))


class Block(nn.Module):
    """A transformer block: attention of 3 heads of 5 features, and an MLP, after norms."""

    def __init__(self):
        self.norm1, self.norm2 = nn.LayerNorm(15), nn.LayerNorm(15)
        self.qkv, self.out = nn.Linear(15, 45), nn.Linear(15, 15)
        self.up, self.down = nn.Linear(15, 31), nn.Linear(31, 15)

    def forward(self, x: nn.Tensor):
        batch, length, _ = x.shape
        parts = nn.op.split(self.qkv(self.norm1(x)), 3, axis=2)
        q, k, v = (nn.op.reshape(part, [batch, length, 3, 5]) for part in parts)
        mixed = nn.op.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(nn.op.reshape(mixed, [batch, length, 15]))
        return x + self.down(nn.op.gelu(self.up(self.norm2(x))))


@pytest.mark.parametrize("batch", [1, 7])
def test_transformer_block_against_torch(batch):
    torch = pytest.importorskip("torch")
    F = torch.nn.functional
    model, x = Block(), tensor(batch, 7, 15)
    got = run(model, x)
    w = {name: torch.from_numpy(param.data.numpy()) for name, param in model.named_parameters()}
    x = torch.from_numpy(x)

    def linear(name, value):
        return F.linear(value, w[f"{name}.weight"], w[f"{name}.bias"])

    normal = F.layer_norm(x, [15], w["norm1.weight"], w["norm1.bias"])
    q, k, v = (t.reshape(batch, 7, 3, 5).transpose(1, 2) for t in linear("qkv", normal).split(15, 2))
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, 7, 15)
    x = x + linear("out", mixed)
    want = x + linear("down", F.gelu(linear("up", F.layer_norm(x, [15], w["norm2.weight"], w["norm2.bias"]))))
    np.testing.assert_allclose(got, want.numpy(), rtol=1e-3, atol=1e-3)


class CNN(nn.Module):
    def __init__(self):
        self.layers = nn.ModuleList([nn.Conv2D(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU()])
        self.last = nn.Conv2D(8, 5, [1, 3], stride=2, bias=False)
        self.head = nn.Linear(5, 4)

    def forward(self, x: nn.Tensor):
        x = self.last(self.layers(x))
        return self.head(nn.op.sum(x, axis=[2, 3]) / 6.0)


def test_cnn_against_torch():
    torch = pytest.importorskip("torch")
    F = torch.nn.functional
    model, x = CNN(), tensor(5, 3, 5, 7)
    got = run(model, x)
    w = {name: torch.from_numpy(param.data.numpy()) for name, param in model.named_parameters()}
    y = F.conv2d(torch.from_numpy(x), w["layers.0.weight"], w["layers.0.bias"], padding=1)
    y = F.silu(F.group_norm(y, 2, w["layers.1.weight"], w["layers.1.bias"]))
    y = F.conv2d(y, w["last.weight"], stride=2).sum(dim=(2, 3)) / 6
    np.testing.assert_allclose(
        got, F.linear(y, w["head.weight"], w["head.bias"]).numpy(), rtol=1e-3, atol=1e-3
    )


def of(function, *shapes):
    """A model whose forward is `function`."""

    class Model(nn.Module):
        def forward(self, x):
            return function(x)

    return Model()


X = RNG.integers(-8, 8, (5, 7)).astype("float32") / 4

OPERATORS = {
    "add": (lambda x: nn.op.add(x, 1.5) + x, lambda x: 2 * x + 1.5),
    "reflected": (lambda x: 1.0 - 2.0 * x, lambda x: 1 - 2 * x),
    "arange": (lambda x: x + nn.op.arange(7), lambda x: x + np.arange(7)),
    "floor": (lambda x: nn.op.floor(x), np.floor),
    "log": (lambda x: nn.op.log(nn.op.exp(x)), lambda x: x),
    "chunk": (lambda x: nn.op.chunk(x, 7, 1)[2], lambda x: x[:, 2:3]),
    "concat": (lambda x: nn.op.concat([x, x], 1), lambda x: np.concatenate([x, x], 1)),
    "cumsum": (lambda x: nn.op.cumsum(x, 1), lambda x: np.cumsum(x, 1)),
    "exclusive cumsum": (lambda x: nn.op.cumsum(x, 1, exclusive=True), lambda x: np.cumsum(x, 1) - x),
    "full": (lambda x: x * nn.op.full([7], 2.5), lambda x: 2.5 * x),
    "empty": (lambda x: x + nn.op.empty([1]) * 0.0, lambda x: x),
    "ones": (lambda x: x + nn.op.ones([1]), lambda x: x + 1),
    "greater": (lambda x: nn.op.greater(x, 0.5), lambda x: x > 0.5),
    "where": (lambda x: nn.op.where(x, x, 3.0), lambda x: np.where(x != 0, x, 3)),
    "max": (lambda x: nn.op.max(x, -1, keepdims=True), lambda x: x.max(-1, keepdims=True)),
    "min": (lambda x: nn.op.min(x, 1), lambda x: x.min(1)),
    "pad": (
        lambda x: nn.op.pad(x, [0, 0, 1, 2], value=1.0),
        lambda x: np.pad(x, [(0, 0), (1, 2)], constant_values=1),
    ),
    "permute": (lambda x: x.permute(1, 0), lambda x: x.T),
    "permute_dims": (lambda x: nn.op.permute_dims(x, [1, 0]), lambda x: x.T),
    "repeat": (lambda x: x.repeat(2, 1), lambda x: x.repeat(2, 1)),
    "reshape": (lambda x: x.reshape([-1]), lambda x: x.reshape(-1)),
    "softplus": (lambda x: nn.op.softplus(x), lambda x: np.log1p(np.exp(x))),
    "prelu": (
        lambda x: nn.op.prelu(x, nn.op.full([7], 0.5)),
        lambda x: np.where(x > 0, x, 0.5 * x),
    ),
    "sort": (lambda x: nn.op.sort(x, 1, True), lambda x: -np.sort(-x, 1)),
    "argsort": (
        lambda x: nn.op.argsort(x * 0.0 + nn.op.cumsum(nn.op.ones([7]), 0), 1),
        lambda x: np.tile(np.arange(7), (5, 1)),
    ),
    "squeeze": (lambda x: nn.op.squeeze(nn.op.unsqueeze(x, 1), 1), lambda x: x),
    "take": (lambda x: nn.op.take(x, nn.Tensor.from_const(np.array([2, 0])), 1), lambda x: x[:, [2, 0]]),
    "topk": (lambda x: nn.op.topk(x, 2)[0], lambda x: -np.sort(-x, 1)[:, :2]),
    "triu": (lambda x: nn.op.triu(x, 1), lambda x: np.triu(x, 1)),
    "astype": (lambda x: x.astype("int32"), lambda x: x.astype("int32")),
    "matmul": (lambda x: x @ x.permute_dims(), lambda x: x @ x.T),
    "square": (lambda x: nn.op.sqrt(nn.op.square(x)), np.abs),
    "negative": (lambda x: -nn.op.exp(x), lambda x: -np.exp(x)),
    "ccl": (lambda x: nn.op.ccl_broadcast_from_worker0(nn.op.ccl_allreduce(x)), lambda x: x),
    "ccl_allgather": (lambda x: nn.op.ccl_allgather(x, 1), lambda x: x),
    "broadcast_to": (lambda x: nn.op.broadcast_to(nn.op.ones([1]), [3, 7]), lambda x: np.ones((3, 7))),
    "from a type": (lambda x: x.maximum(0.5).minimum(1.0), lambda x: np.clip(x, 0.5, 1)),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operator(name):
    function, expected = OPERATORS[name]
    np.testing.assert_allclose(run_as_is(of(function), X), expected(X), rtol=1e-5, atol=1e-5)


def test_images_against_torch():
    torch = pytest.importorskip("torch")
    F = torch.nn.functional
    x = tensor(5, 3, 4, 6)

    def check(function, expected):
        np.testing.assert_allclose(
            run_as_is(of(function), x), expected(torch.from_numpy(x)), rtol=1e-4, atol=1e-5
        )

    check(lambda x: nn.op.interpolate(x, size=[7, 5]), lambda x: F.interpolate(x, size=(7, 5)))
    check(
        lambda x: nn.op.interpolate(x, scale_factor=2, mode="bilinear"),
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    )
    check(
        lambda x: nn.op.interpolate(x, size=7, mode="bilinear", align_corners=True),
        lambda x: F.interpolate(x, size=(7, 7), mode="bilinear", align_corners=True),
    )


@pytest.mark.parametrize("make", [
    lambda torch: (nn.Conv1D(4, 6, 3, 2, 1, 2, 2), torch.nn.Conv1d(4, 6, 3, 2, 1, 2, 2), (5, 4, 17)),
    lambda torch: (nn.Conv3D(2, 3, 2), torch.nn.Conv3d(2, 3, 2), (1, 2, 3, 5, 7)),
    lambda torch: (
        nn.ConvTranspose1D(4, 6, 3, 2, 1, 1, 1, 2),
        torch.nn.ConvTranspose1d(4, 6, 3, 2, 1, 1, 2),
        (5, 4, 7),
    ),
    lambda torch: (nn.LayerNorm([5, 7], 1e-3), torch.nn.LayerNorm([5, 7], 1e-3), (3, 5, 7)),
    lambda torch: (nn.LayerNorm(7, elementwise_affine=False), torch.nn.LayerNorm(7, elementwise_affine=False), (5, 7)),
    lambda torch: (nn.RMSNorm(7, -1, 1e-3, bias=False), torch.nn.RMSNorm(7, 1e-3), (5, 7)),
    lambda torch: (nn.GroupNorm(2, 4, affine=False), torch.nn.GroupNorm(2, 4, affine=False), (5, 4, 7)),
    lambda torch: (nn.Sequential(nn.GELU(), nn.Identity()), torch.nn.GELU(), (5, 7)),
])  # fmt: skip
def test_module_against_torch(make):
    torch = pytest.importorskip("torch")
    ours, theirs, shape = make(torch)
    ours.load_state_dict(theirs.state_dict())
    x = torch.from_numpy(tensor(*shape))
    np.testing.assert_allclose(run_as_is(ours, x.numpy()), theirs(x).detach(), rtol=1e-3, atol=1e-4)


def test_embedding():
    model = nn.Embedding(11, 5)
    ids = RNG.integers(0, 11, (3, 7))
    rows = run(model, ids)
    np.testing.assert_array_equal(rows, model.weight.data.numpy()[ids])
    np.testing.assert_array_equal(run_as_is(model, ids[0]), model.weight.data.numpy()[ids[0]])


def test_timestep_embedding():
    steps = np.arange(5, dtype="float32")
    got = run_as_is(of(lambda x: nn.op.get_timestep_embedding(x, 6, downscale_freq_shift=0)), steps)
    angles = steps[:, None] * 10000.0 ** (-np.arange(3) / 3)
    np.testing.assert_allclose(got, np.concatenate([np.sin(angles), np.cos(angles)], 1), rtol=1e-5, atol=1e-5)


def test_multinomial():
    probabilities = np.array([[0.25, 0.5, 0.25], [0.0, 0.0, 1.0]], "float32")
    samples = np.array([[0.3], [0.9]], "float32")

    class Model(nn.Module):
        def forward(self, prob, sample):
            return nn.op.multinomial_from_uniform(prob, sample)

    np.testing.assert_array_equal(run_as_is(Model(), probabilities, samples), [[1], [2]])


def test_formula_loop_program_and_registered_function():
    @T.prim_func(private=True)
    def double(x: T.handle, y: T.handle, n: T.int64):
        X = T.match_buffer(x, (n, 7), "float32")
        Y = T.match_buffer(y, (n, 7), "float32")
        for i, j in T.grid(n, 7):
            with T.block("double"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] * T.float32(2)

    @tw.register_func("test_nn.add_one", override=True)
    def add_one(x, out):
        np.from_dlpack(out)[:] = x.numpy() + 1

    class Model(nn.Module):
        def forward(self, x: nn.Tensor):
            like = nn.Tensor.placeholder(x.shape, "float32")
            x = nn.op.tensor_expr_op(
                lambda a: te.compute(a.shape, lambda i, j: a[i, j] + 3.0, "plus"), "plus", [x]
            )
            x = nn.op.tensor_ir_op(double, "double", [x, x.shape[0]], like)
            return nn.op.extern("test_nn.add_one", [x], like)

    np.testing.assert_array_equal(run_as_is(Model(), X), (X + 3) * 2 + 1)


def test_in_place_loop_program():
    @T.prim_func(private=True)
    def negate(X: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("negate"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = T.float32(0) - X[vi, vj]

    class Model(nn.Module):
        def forward(self, x: nn.Tensor):
            fresh = nn.op.exp(x)
            return nn.op.tensor_ir_inplace_op(
                negate, "negate", [fresh], 0, nn.Tensor.placeholder([5, 7], "float32")
            )

    got = Model().jit({"forward": {"x": nn.spec.Tensor([5, 7], "float32")}}, out_format="numpy")["forward"](X)
    np.testing.assert_allclose(got, -np.exp(X), rtol=1e-6)


def test_arguments_of_all_kinds():
    class Model(nn.Module):
        def forward(self, pair, n, x: nn.Tensor):
            return pair[0] + pair[1][0], nn.op.zeros([n]), [x]

    spec = {
        "pair": (nn.spec.Tensor(["m"], "float32"), [nn.spec.Tensor(["m"], "float32")]),
        "n": int,
        "x": nn.spec.Tensor([2], "float32"),
    }
    a, b, c = tensor(5), tensor(5), tensor(2)
    jitted = Model().jit({"forward": spec}, out_format="numpy")
    total, zeros, (same,) = jitted["forward"]((a, [b]), 3, c)
    np.testing.assert_array_equal(total, a + b)
    assert zeros.shape == (3,)
    np.testing.assert_array_equal(same, c)
    assert (
        repr(jitted.spec)
        == "ModuleSpec:\n  forward(pair: (Tensor([m], 'float32'), (Tensor([m], 'float32'),)), n: int, x: Tensor([2], 'float32'))"
    )


@pytest.mark.parametrize("mode", ["plain", "packed"])
def test_parameters_are_plain_or_packed(mode):
    model, x = MLP(), tensor(5, 7)
    plain = run(model, x)
    spec = {"forward": {"x": nn.spec.Tensor(["n", 7], "float32"), "$": {"param_mode": mode}}}
    np.testing.assert_array_equal(model.jit(spec, out_format="numpy")["forward"](x), plain)
    params = model.export_tvm(spec)[0]["forward"].params
    assert [p.name_hint for p in params] == (
        ["x", "packed_params"] if mode == "packed" else ["x", "fc1_weight", "fc1_bias", "fc2_weight"]
    )


def test_several_methods_share_parameters():
    class Model(MLP):
        def hidden(self, x: nn.Tensor):
            return self.fc1(x)

    model, x = Model(), tensor(5, 7)
    want = run(model, x)
    spec = {"x": nn.spec.Tensor([5, 7], "float32")}
    both = model.jit({"hidden": spec, "forward": spec}, out_format="numpy")
    np.testing.assert_allclose(both["forward"](x), want, rtol=1e-5)
    weight, bias = model.fc1.weight.data.numpy(), model.fc1.bias.data.numpy()
    np.testing.assert_allclose(both["hidden"](x), x @ weight.T + bias, rtol=1e-5, atol=1e-6)


def test_subroutines():
    class Layer(nn.Module):
        define_subroutine = True

        def __init__(self):
            self.weight = nn.Parameter((7, 7))

        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return nn.op.tensor_expr_op(
                lambda a: te.compute(a.shape, lambda i, j: a[i, j] + 1.0), "plus", [x @ self.weight]
            )

    class Model(nn.Module):
        def __init__(self):
            self.layers = nn.ModuleList([Layer(), Layer()])

        def forward(self, x: nn.Tensor):
            return self.layers(x)

    model, x = Model(), tensor(5, 7)
    got = run(model, x)
    w0, w1 = (layer.weight.data.numpy() for layer in model.layers)
    np.testing.assert_allclose(got, (x @ w0 + 1) @ w1 + 1, rtol=1e-4)
    mod, _ = model.export_tvm({"forward": {"x": nn.spec.Tensor(["n", 7], "float32")}})
    assert sorted(var.name_hint for var in mod.get_global_vars()) == ["forward", "layer", "plus"]


def test_printing_and_calling_back(capfd):
    seen = []
    tw.register_func(
        "test_nn.look", lambda *args: seen.append([getattr(a, "shape", a) for a in args]), override=True
    )

    class Model(nn.Module):
        def forward(self, x: nn.Tensor):
            nn.op.print_(x)
            nn.op.debug_func("test_nn.look", x, 2, "text")
            return x + 1.0

    spec = {"forward": {"x": nn.spec.Tensor([2], "float32")}}
    jitted = Model().jit(spec, debug=True, out_format="numpy")
    for _ in range(2):
        np.testing.assert_array_equal(jitted["forward"](np.ones(2, "float32")), [2, 2])
    assert seen == [[(2,), (), "text"]] * 2
    assert capfd.readouterr().out == "[1, 1]\n[1, 1]\n"
    with pytest.raises(tw.UserError) as error:
        Model().export_tvm(spec)
    assert str(error.value) == "nn.op.print_: a model that prints or calls back is exported with debug=True"


def test_mutator():
    class Halve(nn.Mutator):
        def visit_module(self, name, node):
            if isinstance(node, nn.Linear) and name.endswith("fc1"):
                return nn.Sequential(node, nn.Identity())
            return super().visit_module(name, node)

        def visit_param(self, name, node):
            names.append(name)
            return node

    names = []
    model = nn.ModuleDict({"a": MLP(), "b": nn.ModuleList([MLP()])})
    model = Halve().visit("model", model)
    assert isinstance(model["a"].fc1, nn.Sequential) and isinstance(model["b"][0].fc1, nn.Sequential)
    assert names == ["model.a.fc2.weight", "model.b.0.fc2.weight"]
    assert [name for name, _ in model["a"].named_parameters()] == ["fc1.0.weight", "fc1.0.bias", "fc2.weight"]


def test_state():
    model = MLP()
    state = model.state_dict()
    assert list(state) == ["fc1.weight", "fc1.bias", "fc2.weight"]
    assert model.load_state_dict({"fc1.bias": tensor(5), "other": tensor(1)}, strict=False) == (
        ["fc1.weight", "fc2.weight"],
        ["other"],
    )
    model.to("float16")
    assert {param.dtype for param in model.parameters()} == {"float16"}
    assert str(model.fc1.bias.data.dtype) == "float16"
    wide = nn.Linear(3, 2, out_dtype="float32")
    wide.to("float16")
    assert (wide.weight.dtype, wide.bias.dtype) == ("float16", "float32")
    assert [name for name, _ in nn.ModuleDict({"k": MLP()}).named_modules()] == [
        "",
        "k",
        "k.fc1",
        "k.relu",
        "k.fc2",
    ]


def test_default_dtype():
    nn.set_default_dtype("float16")
    try:
        assert nn.Linear(2, 2).weight.dtype == "float16" == nn.get_default_dtype()
    finally:
        nn.set_default_dtype("float32")


def test_symbolic_parameters_are_the_method_s():
    class Model(nn.Module):
        def __init__(self):
            self.table = nn.Embedding("vocab", 5)

        def forward(self, ids: nn.Tensor, logits: nn.Tensor):
            return self.table(ids), logits

    spec = {"ids": nn.spec.Tensor([3], "int64"), "logits": nn.spec.Tensor([3, "vocab"], "float32")}
    mod, _ = Model().export_tvm({"forward": spec})
    vm = tw.VirtualMachine(tw.compile(mod))
    table = tensor(7, 5)
    rows, _ = vm["forward"](np.array([6, 0, 3]), tensor(3, 7), table)
    np.testing.assert_array_equal(rows.numpy(), table[[6, 0, 3]])


def test_detach_params():
    bb = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((2,), "float32"))
    with bb.function("main", [x]):
        bb.emit_func_output(x)
    mod = bb.get()
    assert detach_params(mod) == (mod, {})
    value = relax.const(np.array([1.0, 2.0], "float32"))
    tied = tw.IRModule({"main": mod["main"].with_attr("params", [value])})
    detached, params = detach_params(tied)
    assert "params" not in detached["main"].attrs
    np.testing.assert_array_equal(params["main"][0].numpy(), [1, 2])


def refusal(function) -> str:
    with pytest.raises(tw.UserError) as error:
        function()
    return str(error.value)


def test_refusals():
    spec = {"forward": {"x": nn.spec.Tensor([5, 7], "float32")}}
    assert refusal(lambda: MLP().jit(spec)) == (
        "jit: parameter fc1.weight has no data\nhelp: load_state_dict sets the data"
    )
    assert refusal(lambda: MLP().load_state_dict({"fc1.bias": tensor(5), "z": tensor(1)})) == (
        "load_state_dict: missing are [fc1.weight, fc2.weight], unexpected are [z]"
    )
    assert refusal(lambda: setattr(MLP().fc1.bias, "data", tensor(4))) == (
        "nn.Parameter: the data has shape [4], the parameter [5]"
    )
    assert refusal(lambda: setattr(MLP().fc1.bias, "data", np.zeros(5))) == (
        "nn.Parameter: the data has dtype float64, the parameter float32\n"
        "help: convert the data, or the module with to(dtype)"
    )
    assert refusal(lambda: MLP().export_tvm({"forwards": {}})) == "nn.spec: MLP has no method forwards"
    assert refusal(lambda: MLP().export_tvm({"forward": {"y": int}})) == (
        "nn.spec: forward has no argument y\nhelp: its arguments are x"
    )
    assert refusal(lambda: MLP().export_tvm({"forward": {"x": 5}})) == (
        "nn.spec: argument x is specified by a Python int\n"
        "help: give nn.spec.Tensor(shape, dtype), nn.spec.Object(type), int, or a list of such"
    )
    assert refusal(lambda: nn.spec.MethodSpec(MLP().forward, [], [], param_mode="all")) == (
        'nn.spec.MethodSpec: param_mode is "all", expected plain, packed or none'
    )
    assert refusal(lambda: nn.op.relu(nn.Tensor.placeholder([2]))) == (
        "nn.op: no function is being built\nhelp: operators are called by forward, while export_tvm or jit runs"
    )
    assert refusal(lambda: of(lambda x: "text").export_tvm(spec)) == (
        "nn: a method returned a Python str, expected tensors or tuples of them"
    )
    assert refusal(lambda: nn.Module()()) == "nn.Module: Module has no method forward"
    thing = relax.Var("thing", tw.ir._nodes.classes["ir.ObjectType"]())
    assert refusal(lambda: nn.Tensor(_expr=thing)) == "nn.Tensor: thing has type R.Object, expected a tensor"
    model = MLP()
    run(model, tensor(5, 7))
    assert (
        refusal(lambda: model.jit(spec)["backward"])
        == "jit: there is no method backward\nhelp: there are forward"
    )
    assert refusal(lambda: model.jit(spec)["forward"]()) == "forward: 0 arguments are given, expected x"
    with pytest.raises(tw.Unsupported) as error:
        model.jit(spec, out_format="jax")
    assert str(error.value) == 'jit: out_format is "jax", expected torch or numpy'


def test_shapes_are_arguments_and_results():
    n = tir.Var("n", "int64")
    shape = relax.Var("s", relax.ShapeType(values=[n, tir.const(3, "int64")], ndim=2, is_known=True))
    bb = relax.BlockBuilder()
    with bb.function("main", [shape]):
        bb.emit_func_output(bb.emit(relax.op.ones(shape, dtype="float32")))
    main = tw.VirtualMachine(tw.compile(bb.get()))["main"]
    assert main(tw.runtime.Shape((5, 3))).shape == (5, 3)
    assert refusal(lambda: main((5, 3))).startswith("error: main: s is a tuple or list, expected a shape")
