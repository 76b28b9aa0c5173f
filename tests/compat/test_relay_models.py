"""relay over ONNX models: relay.build's three results, the C code of its kernels, files."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
SEEDS = Path(__file__).resolve().parents[3] / "shared/seeds/models"


def network(random):
    """y = relu(relu(x @ u.T + b) @ v.T), and the same by numpy; numbers are whole, so that sums are exact."""
    u, b, v = (random.integers(-4, 5, shape).astype("float32") for shape in ((5, 7), (5,), (3, 5)))
    node, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [
            node("Gemm", ["x", "layer.u", "layer.b"], ["h"], transB=1),
            node("Relu", ["h"], ["g"]),
            node("Gemm", ["g", "layer.v"], ["f"], transB=1),
            node("Relu", ["f"], ["y"]),
        ],
        "network",
        [value("x", 1, [2, 7])],
        [value("y", 1, [2, 3])],
        [onnx.numpy_helper.from_array(*each) for each in ((u, "layer.u"), (b, "layer.b"), (v, "layer.v"))],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    return model, lambda x: np.maximum(np.maximum(x @ u.T + b, 0) @ v.T, 0)


def run(tmp_path, program: str, *words) -> str:
    file = tmp_path / "program.py"
    file.write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "tilewright.compat", str(file), *map(str, words)],
        capture_output=True,
        text=True,
        env=os.environ,
        timeout=200,
        check=False,
    )
    return done.stderr + done.stdout


GRAPHS = """
import sys
import numpy as np
import onnx
import tvm
from tvm import relay
from tvm.contrib import graph_executor

model, numbers = onnx.load(sys.argv[1]), np.load(sys.argv[2])
x, expected = numbers["input"], numbers["output"]


def check(module, **inputs):
    module.run(x=x, **inputs)
    np.testing.assert_array_equal(module.get_output(0).numpy(), expected)


# constants
mod, params = relay.frontend.from_onnx(model, shape={"x": x.shape}, dtype="float32", opset=17, freeze_params=True)
assert params == {} and [param.name_hint for param in mod["main"].params] == ["x"]
with tvm.transform.PassContext(opt_level=3):
    built = relay.build(mod["main"], target="llvm")
module = graph_executor.GraphModule(built["default"](tvm.cpu()))
check(module)
assert (module.get_num_inputs(), module.get_num_outputs(), module.get_input_index("x")) == (1, 1, 0)
assert module.get_input_index("y") == -1 and module.get_input_info() == ({"x": (2, 7)}, {"x": "float32"})
np.testing.assert_array_equal(module.get_input("x").numpy(), x)
out = tvm.nd.empty((2, 3))
module.get_output(0, out)
np.testing.assert_array_equal(out.numpy(), expected)
times = module.benchmark(tvm.cpu(), repeat=3, number=2)
assert len(times.results) == 3 and 0 < times.min <= times.mean
assert len(module.module.time_evaluator("run", tvm.cpu(), number=1, repeat=4)().results) == 4

# three results, and parameters that became constants
graph, lib, params = built
module = graph_executor.create(graph, lib, tvm.cpu())
module.set_input(**params)
module.load_params(tvm.runtime.save_param_dict(params))
check(module)
try:
    module.set_input("p0", params["p0"].numpy() + 1)
except tvm.TVMError as error:
    assert str(error) == (
        "GraphModule: parameter p0 became a constant when the graph was compiled\\n"
        "help: compile it without params to give them when it runs"
    ), error
else:
    raise AssertionError("p0 is a constant")

# files
built.export_library(sys.argv[3])
check(graph_executor.GraphModule(tvm.runtime.load_module(sys.argv[3])["default"](tvm.cpu())))

# parameters
mod, params = relay.frontend.from_onnx(model, freeze_params=False)
assert sorted(params) == ["layer.b", "layer.u", "layer.v"], params
check(graph_executor.GraphModule(relay.build(mod, "llvm", params=params)["default"](tvm.cpu())))
check(graph_executor.GraphModule(relay.build(mod, "llvm")["default"](tvm.cpu())), **params)
try:
    relay.frontend.from_onnx(model, convert_config={})
except tvm.TVMError as error:
    assert str(error) == "relay.frontend.from_onnx: convert_config is not known\\nhelp: leave it out", error
else:
    raise AssertionError("convert_config")
print("ok")
"""


def test_graphs(tmp_path):
    model, expected = network(np.random.default_rng(0))
    x = np.random.default_rng(1).integers(-4, 5, (2, 7)).astype("float32")
    onnx.save(model, tmp_path / "model.onnx")
    np.savez(tmp_path / "io.npz", input=x, output=expected(x))
    output = run(tmp_path, GRAPHS, tmp_path / "model.onnx", tmp_path / "io.npz", tmp_path / "library.so")
    assert output.endswith("ok\n"), output


IN_C = """
import sys
import numpy as np
import onnx
import tvm
import tvm.relay as relay

mod, params = relay.frontend.from_onnx(onnx.load(sys.argv[1]), freeze_params=True, dtype="float32")
with tvm.transform.PassContext(opt_level=3):
    graph, lib, params = relay.build(mod["main"], target="c")
assert lib.get_source() == lib.get_lib().get_source()
open(sys.argv[2] + "/kernels.c", "w").write(lib.get_source())
open(sys.argv[2] + "/graph.json", "w").write(graph)
np.savez(sys.argv[2] + "/params.npz", **{name: value.numpy() for name, value in params.items()})
"""

MAIN = r"""
#include <stdint.h>
#include <stdio.h>
const void* __tilewright_host;
typedef struct { int32_t kind; uint32_t padding; void* tensor; } Any;
typedef struct {
  void* data; int32_t device_type, device_id, ndim; uint8_t code, bits; uint16_t lanes;
  int64_t *shape, *strides; uint64_t byte_offset;
} Tensor;
#define TENSOR(name, array, rows, columns, rank)                        \
  int64_t name##_shape[2] = {rows, columns};                            \
  Tensor name = {array, 1, 0, rank, 2, 32, 1, name##_shape, 0, 0};
"""


def standalone(folder: Path, inputs: np.ndarray) -> np.ndarray:
    """The outputs of the kernels in folder/kernels.c, called by a program of C as graph.json says."""
    import json

    graph, params = json.loads((folder / "graph.json").read_text()), np.load(folder / "params.npz")
    shapes = {}  # of the results of kernels, as their texts of parameters say
    declared, body = [], []
    source = (folder / "kernels.c").read_text()
    for number, node in enumerate(graph["nodes"]):
        name = node["name"]
        if node["op"] == "null":
            value = params[name] if name in params else inputs[:1]
            text = ", ".join(repr(float(each)) for each in value.ravel())
            if name in params:
                declared.append(f"static float v{number}[] = {{{text}}};")
            else:
                declared.append(f"static float v{number}[{value.size}];")
                entry = number
            shape = value.shape
        else:
            _, _, after = source.partition(f"__tilewright_params_{name}[] =")
            shape = tuple(
                int(n) for n in after.partition(";")[0].rpartition("[")[2].partition("]")[0].split(",")
            )
            declared.append(f"static float v{number}[{int(np.prod(shape))}];")
            declared.append(f"int32_t __tvm_ffi_{name}(void*, const Any*, int32_t, Any*);")
            args = [each[0] for each in node["inputs"]] + [number]
            list_of = ", ".join(f"{{7, 0, &t{each}}}" for each in args)
            body.append(
                f"    {{ Any args[] = {{{list_of}}}, none = {{0, 0, 0}};\n"
                f"      if (__tvm_ffi_{name}(0, args, {len(args)}, &none)) return 2; }}"
            )
        shapes[number] = shape
    tensors = [
        f"  TENSOR(t{n}, v{n}, {s[0]}, {s[1] if len(s) > 1 else 1}, {len(s)})" for n, s in shapes.items()
    ]
    size, ((head, _, _),) = inputs[:1].size, graph["heads"]
    loop = [
        f"  while (fread(v{entry}, 4, {size}, stdin) == {size}) {{",
        *body,
        f"    fwrite(v{head}, sizeof v{head}, 1, stdout);",
        "  }",
        "  return 0;",
    ]
    (folder / "main.c").write_text(
        MAIN + "\n".join([*declared, "int main(void) {", *tensors, *loop, "}"]) + "\n"
    )
    flags = ["-std=c99", "-Wall", "-Werror", "-O2"]
    subprocess.run(
        ["gcc", *flags, "kernels.c", "main.c", "-o", "program", "-lm"], cwd=folder, check=True, timeout=100
    )
    done = subprocess.run(
        [str(folder / "program")], input=inputs.tobytes(), capture_output=True, check=True, timeout=20
    )
    return np.frombuffer(done.stdout, "float32").reshape(-1, *shapes[head][1:])


def test_kernels_in_c_stand_alone(tmp_path):
    model, expected = network(np.random.default_rng(2))
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 1
    onnx.save(model, tmp_path / "model.onnx")
    assert run(tmp_path, IN_C, tmp_path / "model.onnx", tmp_path) == ""
    x = np.random.default_rng(3).integers(-4, 5, (11, 7)).astype("float32")
    np.testing.assert_array_equal(standalone(tmp_path, x), expected(x))


@pytest.mark.skipif(not SEEDS.is_dir(), reason="../shared is absent")
def test_the_notebooks_model_in_c(tmp_path):
    assert run(tmp_path, IN_C, SEEDS / "test-delegate-one-input.onnx", tmp_path) == ""
    known = np.load(SEEDS / "io.npz")
    np.testing.assert_allclose(standalone(tmp_path, known["input"]), known["output"], rtol=1e-6)
