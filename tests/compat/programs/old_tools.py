"""What tutorials until 2024 do around schedules: products by a library, passes added to tvm.lower, visitors of relay."""

from pathlib import Path

import numpy as np
import tvm
import tvm.contrib.cc
import tvm.contrib.utils
from tvm import relay, te
from tvm.contrib import cblas
from tvm.script import relax as R

random = np.random.default_rng(0)


def numbers(*shape):
    return random.uniform(-1, 1, shape).astype("float32")


def refused(run, text):
    try:
        run()
    except tvm.TVMError as error:
        assert str(error) == text, error
    else:
        raise AssertionError(text)


# products by a library, beside a computation of our own
rows, inner, columns = te.var("rows"), 5, 7
for name, lhs, rhs, flags in (
    ("matmul", (rows, inner), (inner, columns), (False, False)),
    ("matmul", (inner, rows), (columns, inner), (True, True)),
    ("batch_matmul", (3, rows, inner), (3, columns, inner), (False, True)),
):
    A, B = te.placeholder(lhs, name="A"), te.placeholder(rhs, name="B")
    bias = te.var("bias", dtype="float32")
    C = getattr(cblas, name)(A, B, *flags)
    D = te.compute(C.shape, lambda *at, C=C, bias=bias: C(*at) + bias, name="D")
    with_bias = tvm.build(te.create_schedule(D.op), [A, B, D, bias], "llvm")
    for count in (0, 1, 127):
        a, b = (numbers(*[count if extent is rows else extent for extent in shape]) for shape in (lhs, rhs))
        expected = (a.swapaxes(-1, -2) if flags[0] else a) @ (b.swapaxes(-1, -2) if flags[1] else b) + 10
        d = tvm.nd.array(np.zeros_like(expected))
        with_bias(tvm.nd.array(a), tvm.nd.array(b), d, 10.0)
        np.testing.assert_allclose(d.numpy(), expected, rtol=1e-5)
refused(lambda: cblas.matmul(A, B), "cblas.matmul: A has 3 dimensions, expected 2")

# tvm.lower of inputs alone: what the schedule computes is memory of the function
x = te.placeholder((127,), name="x")
y = te.compute((127,), lambda i: x[i] * 2.0, name="y")
z = te.compute((127,), lambda i: y[i] + 1.0, name="z")
schedule = te.create_schedule(z.op)
alone = str(tvm.lower(schedule, [x], simple_mode=True))
assert "y" in alone and "z_1 = T.decl_buffer" not in alone and "def main(x: T.Buffer" in alone, alone
tvm.build(schedule, [x], "llvm")(tvm.nd.array(numbers(127)))

# passes that the user adds
seen = []


def probe(phase):
    @tvm.tir.transform.prim_func_pass(opt_level=0)
    def run(func, mod, ctx):
        has_blocks = "T.block" in func.script()
        seen.append((phase, has_blocks))
        return func

    return run


@tvm.tir.transform.prim_func_pass(opt_level=0)
def in_parallel(func, mod, ctx):
    def change(loop):
        return tvm.tir.For(loop.loop_var, loop.min, loop.extent, tvm.tir.ForKind.PARALLEL, loop.body)

    return func.with_body(tvm.tir.stmt_functor.ir_transform(func.body, None, change, ["tir.For"]))


with tvm.transform.PassContext(
    config={"tir.add_lower_pass": [(3, probe(3)), (0, probe(0)), (1, in_parallel), (1, probe(1))]}
):
    assert str(tvm.lower(schedule, [x, z])).count("T.parallel(127)") == 2
    assert seen == [(0, True), (1, False), (3, False)], seen
    built = tvm.build(schedule, [x, z], "c")
    assert len(seen) == 6
a, b = numbers(127), tvm.nd.array(np.zeros(127, "float32"))
built(tvm.nd.array(a), b)
np.testing.assert_allclose(b.numpy(), 2 * a + 1, rtol=1e-6)
assert "T.parallel" not in str(tvm.lower(schedule, [x, z]))
refused(
    lambda: tvm.transform.PassContext(config={"tir.add_lower_pass": [(4, in_parallel)]}),
    "PassContext: (4, PrimFuncPass) of tir.add_lower_pass is no pair of a phase and a pass\n"
    "help: phase 0 is before blocks become loops, 1 to 3 are behind".replace(
        "PrimFuncPass", repr(in_parallel)
    ),
)


# a target by its name, and a file of each kind
folder = tvm.contrib.utils.tempdir()
twice = te.create_schedule(y.op)
x_values, found = tvm.nd.array(a), tvm.nd.array(np.zeros(127, "float32"))
target = tvm.target.Target("llvm", host="llvm")
function = tvm.build(twice, [x, y], target=target, name="twice")
function.save(folder.relpath("twice.o"))
tvm.contrib.cc.create_shared(folder.relpath("twice.so"), [folder.relpath("twice.o")])
tvm.runtime.load_module(folder.relpath("twice.so"))(x_values, found)
np.testing.assert_array_equal(found.numpy(), a * 2)
outer, inner = twice[y].split(y.op.axis[0], factor=32)
twice[y].bind(outer, te.thread_axis("blockIdx.x"))
twice[y].bind(inner, te.thread_axis("threadIdx.x"))
kernels = tvm.build(twice, [x, y], "cuda", target_host="llvm").imported_modules[0]
kernels.save(folder.relpath("twice.cu"))
assert 'extern "C" __global__' in Path(folder.relpath("twice.cu")).read_text()

# a session on this machine
session = tvm.rpc.LocalSession()
function.export_library(folder.relpath("lib.tar"))
session.upload(folder.relpath("lib.tar"))
remote = session.load_module("lib.tar")
device = session.cpu()
found = tvm.nd.array(np.zeros(127, "float32"), device)
remote(tvm.nd.array(a, device), found)
np.testing.assert_array_equal(found.numpy(), a * 2)
assert remote.time_evaluator(remote.entry_name, device, number=3)(x_values, found).mean > 0
session.upload(b"words", "note.txt")
assert session.download("note.txt") == b"words"
session.remove("note.txt")
refused(
    lambda: tvm.rpc.connect("0.0.0.0", 9090),
    "rpc.connect: programs run on this machine alone\n"
    "help: rpc.LocalSession() has the functions of a session; for another machine export_library(path, cc=...) makes a file to copy",
)


# visitors and mutators of relay see expressions, not names for their parts
def network():
    data, weight = relay.var("data", shape=(2, 3, 5, 5)), relay.var("weight")
    kernel = relay.nn.conv2d(data, weight, channels=3, kernel_size=(3, 3), padding=(1, 1))
    both = relay.add(kernel, relay.const(1.0))
    parts = relay.split(relay.multiply(both, both), 3, axis=1)
    sums = relay.add(parts[0], relay.add(parts[2], relay.const(2.0)))
    return relay.Function([data, weight], relay.Tuple([sums, kernel]))


class Count(relay.ExprVisitor):
    """How many calls there are of each operator."""

    def __init__(self):
        super().__init__()
        self.calls = {}

    def visit_call(self, call):
        name = call.op.name.split(".")[-1]
        self.calls[name] = self.calls.get(name, 0) + 1
        super().visit_call(call)


@relay.transform.function_pass(opt_level=1)
class ScaleConstants:
    """Multiplies all constants."""

    def __init__(self, factor):
        self.factor = factor

    def transform_function(self, func, mod, ctx):
        factor = self.factor

        class Scale(relay.ExprMutator):
            def visit_constant(self, const):
                return relay.multiply(factor, const)

        return Scale().visit(func)


counter = Count()
counter.visit(network())
assert counter.calls == {"conv2d": 1, "add": 3, "multiply": 1, "split": 1}, counter.calls
order = []
relay.analysis.post_order_visit(network(), lambda expr: order.append(type(expr).__name__))
assert order[-1] == "Function" and order.index("Var") < order.index("Call"), order
mod = tvm.IRModule.from_expr(network())
scaled = ScaleConstants(relay.const(3.0))(mod)
assert ScaleConstants(relay.const(3.0)).info.name == "ScaleConstants"
image, kernel = numbers(2, 3, 5, 5), numbers(3, 3, 3, 3)
for each, (one, two) in ((mod, (1, 2)), (scaled, (3, 6))):
    sums, conv = relay.create_executor("graph", each).evaluate()(image, kernel)
    square = (conv.numpy() + one) ** 2
    np.testing.assert_allclose(sums.numpy(), square[:, :1] + square[:, 2:] + two, rtol=1e-5)
# shapes and numbers among arguments were attributes in relay
shaped = relay.Function(
    [data := relay.var("data", shape=(4, 6))], relay.clip(relay.reshape(data, (3, 8)), 0, 1)
)
relay.ExprVisitor().visit(shaped)
tvm.ir.assert_structural_equal(relay.ExprMutator().visit(shaped), shaped, map_free_vars=True)


@tvm.script.ir_module
class Casts:
    @R.function
    def main(x: R.Tensor(ndim=2, dtype="float32")) -> R.Tensor((4, 6), dtype="float32"):
        y = R.match_cast(x, R.Tensor((4, 6), "float32"))
        return y


refused(
    lambda: relay.ExprVisitor().visit(Casts["main"]),
    "relay: a MatchCast of a function is no expression of relay",
)
refused(lambda: relay.ExprVisitor().visit(Casts["main"].body), "relay: a SeqExpr is no expression of relay")
same = relay.ExprMutator().visit(mod["main"])
tvm.ir.assert_structural_equal(same.body, mod["main"].body, map_free_vars=True)

print("ok")
