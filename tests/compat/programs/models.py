"""Models written for TVM: relax.frontend.nn and relax.testing."""

import numpy as np
import tvm
from tvm import relax
from tvm.relax.base_py_module import BasePyModule
from tvm.relax.frontend import detach_params, nn
from tvm.relax.frontend.nn import spec
from tvm.relax.testing import nn as testing_nn
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tir as T


class MLPModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, 256)
        self.relu1 = nn.ReLU()
        self.fc2 = nn.Linear(256, 10, bias=False)

    def forward(self, x):
        x = self.fc1(x)
        x = self.relu1(x)
        return self.fc2(x)


mod, params = MLPModel().export_tvm({"forward": {"x": spec.Tensor((1, 784), "float32")}})
assert [name for name, _ in params] == ["fc1.weight", "fc1.bias", "fc2.weight"]
mod.show()
vm = relax.VirtualMachine(tvm.compile(mod, target=tvm.target.Target("llvm")), tvm.cpu())
data = tvm.runtime.tensor(np.random.rand(1, 784).astype("float32"))
values = [tvm.runtime.tensor(np.random.rand(*param.shape).astype("float32")) for _, param in params]
w0, b0, w1 = (value.numpy() for value in values)
expected = np.maximum(data.numpy() @ w0.T + b0, 0) @ w1.T
np.testing.assert_allclose(vm["forward"](data, *values).numpy(), expected, rtol=1e-4)
assert detach_params(mod)[1] == {}

bb = relax.BlockBuilder()
n = tvm.tir.Var("n", "int64")
with bb.function("main"):
    model = testing_nn.Sequential(testing_nn.Linear(7, 5), testing_nn.ReLU())
    x = testing_nn.Placeholder((n, 7), name="x")
    bb.emit_func_output(model(x), params=[x, *model.parameters()])
vm = relax.VirtualMachine(relax.build(bb.get(), "llvm"), tvm.cpu())
x, w, b = (np.random.rand(*shape).astype("float32") for shape in [(3, 7), (7, 5), (5,)])
np.testing.assert_allclose(vm["main"](x, w, b).numpy(), np.maximum(x @ w + b, 0), rtol=1e-5)


@I.ir_module
class Mixed(BasePyModule):
    @I.pyfunc
    def main(self, x):
        y = self.call_tir(self.scale, [x], out_sinfo=R.Tensor((5,), "float32"))
        return self.call_dps_packed("models.negate", [y], out_sinfo=R.Tensor((5,), "float32"))

    @T.prim_func
    def scale(x: T.Buffer((5,), "float32"), y: T.Buffer((5,), "float32")):
        for i in range(5):
            y[i] = x[i] * T.float32(3)


@tvm.register_global_func("models.negate")
def negate(x, out):
    out.copyfrom(-x.numpy())


mixed = Mixed(device=tvm.cpu(0))
np.testing.assert_array_equal(mixed.main(np.ones(5, "float32")).numpy(), -3 * np.ones(5))
print("ok")
