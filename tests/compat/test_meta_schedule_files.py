"""Files of tuning records that TVM has written: programs in the JSON of apache-tvm 0.27, traces in its lists."""

import base64
import json
import os
import subprocess
import sys

import pytest

READS = """
import sys, tvm
from tvm.s_tir import meta_schedule as ms
from tilewright.script import parse
database = ms.database.JSONDatabase(work_dir=sys.argv[1])
for line in database.refused:
    print(*line)
for record in database.get_all_tuning_records():
    print(record.run_secs, record.target, record.args_info)
    print(record.schedule().mod["main"].script())
print("ok")
"""


class Graph:
    """Nodes in the order in which TVM's JSON has them."""

    def __init__(self):
        self.nodes = [{"type": "None"}]

    def add(self, kind, data=None, /, **fields) -> int:
        data = data if data is not None else {"span": 0} | fields
        self.nodes.append({"type": kind, "data": data})
        return len(self.nodes) - 1

    def text(self, text) -> int:
        return self.add("ffi.String", text)

    def list(self, *places) -> int:
        return self.add("ffi.Array", list(places))

    def type(self, dtype) -> int:
        return self.add("ir.PrimType", dtype=dtype)

    def int(self, value, dtype="int32") -> int:
        place = self.add("bool" if dtype == "bool" else "int", value)
        return self.add("ir.IntImm", ty=self.type(dtype), value=place)

    def var(self, name, place) -> int:
        return self.add("ir.Var", ty=place, name=self.text(name))

    def buffer(self, name, *shape) -> int:
        extents = self.list(*(self.int(extent) for extent in shape))
        fields = {"dtype": self.type("float32"), "storage_scope": self.text("global"), "shape": extents}
        fields |= {
            "strides": self.list(),
            "elem_offset": self.int(0),
            "data_alignment": 64,
            "offset_factor": 1,
        }
        return self.var(name, self.add("tirx.BufferType", **fields, layout=0, allocated_addr=self.list()))

    def block(self, name, axes, reads, writes, body) -> int:
        notes = self.add("ffi.Map", [])
        lists = {
            "iter_vars": axes,
            "reads": reads,
            "writes": writes,
            "alloc_buffers": (),
            "match_buffers": (),
        }
        fields = {key: self.list(*values) for key, values in lists.items()}
        return self.add(
            "s_tir.SBlock", **fields, name_hint=self.text(name), annotations=notes, init=0, body=body
        )


def relu_of_nodes(statement=None) -> dict:
    """Y = max(X, 0) of 7 x 5 numbers as nodes."""
    graph = Graph()
    source, result = graph.buffer("X", 7, 5), graph.buffer("Y", 7, 5)
    int32, float32 = graph.type("int32"), graph.type("float32")
    loops = [graph.var(name, int32) for name in "ij"]
    axes = [graph.var(f"v{name}", int32) for name in "ij"]

    def region(buffer) -> int:
        ranges = [graph.add("ir.Range", min=axis, extent=graph.int(1)) for axis in axes]
        return graph.add("ir.TensorRegion", ty=0, source=buffer, region=graph.list(*ranges))

    indices = graph.list(*axes)
    load = graph.add("ir.TensorLoad", ty=float32, source=source, indices=indices)
    value = graph.add("prim.Max", ty=float32, a=load, b=graph.add("ir.FloatImm", ty=float32, value=0.0))
    store = graph.add("tirx.BufferStore", buffer=result, value=value, indices=indices)
    if statement:
        store = graph.add(statement)
    domains = [graph.add("ir.Range", min=graph.int(0), extent=graph.int(extent)) for extent in (7, 5)]
    iters = [
        graph.add("tirx.IterVar", dom=domain, var=axis, iter_type=0, thread_tag=graph.text(""))
        for domain, axis in zip(domains, axes, strict=True)
    ]
    block = graph.block("Y", iters, [region(source)], [region(result)], store)
    true = graph.int(True, "bool")
    body = graph.add("s_tir.SBlockRealize", iter_values=graph.list(*loops), predicate=true, block=block)
    for loop, extent in ((loops[1], 5), (loops[0], 7)):
        fields = {"loop_var": loop, "min": graph.int(0), "extent": graph.int(extent), "kind": 0, "body": body}
        body = graph.add("tirx.For", **fields, thread_binding=0, annotations=graph.add("ffi.Map", []), step=0)
    root = graph.block("root", [], [], [], body)
    body = graph.add("s_tir.SBlockRealize", iter_values=graph.list(), predicate=true, block=root)
    symbol = graph.add("ffi.Map", [graph.text("global_symbol"), graph.text("main")])
    attrs = graph.add("ir.DictAttrs", {"__dict__": symbol})
    func = graph.add(
        "tirx.PrimFunc", attrs=attrs, params=graph.list(source, result), ret_type=0, body=body, ty=0
    )
    name = graph.add("ir.GlobalVar", ty=0, name_hint=graph.text("main"))
    root = graph.add("ir.IRModule", {"functions": graph.add("ffi.Map", [name, func])})
    return {"root_index": root, "nodes": graph.nodes, "metadata": {"tvm_version": "0.27.0"}}


def line_of(graph) -> str:
    text = json.dumps(graph).encode()
    return json.dumps(["12345", base64.b64encode(len(text).to_bytes(8, "little") + text).decode()])


STEPS = [
    ["GetSBlock", [], ["Y", "main"], ["b0"]],
    ["CacheWrite", ["b0", []], [0, "global"], ["b1"]],
    ["GetLoops", ["b0"], [], ["l2", "l3"]],
    ["SampleCategorical", [], [[0, 16], [0.5, 0.5]], ["v4"]],
    ["Annotate", ["l2", "v4"], ["pragma_auto_unroll_max_step"], []],
    ["Parallel", ["l2"], [], []],
]


def record(steps=STEPS, place=0, decisions=((3, 1),)) -> str:
    infos = [["TENSOR", "float32", [7, 5]]] * 2
    target = {"kind": "llvm", "keys": ["cpu"], "num-cores": 2, "tag": ""}
    return json.dumps([place, [[steps, decisions], [2e-6, 3e-6], target, infos]])


def read(folder, workloads, records) -> str:
    (folder / "database_workload.json").write_text("".join(f"{line}\n" for line in workloads))
    (folder / "database_tuning_record.json").write_text("".join(f"{line}\n" for line in records))
    return reads(folder)


def reads(folder) -> str:
    program = folder / "program.py"
    program.write_text(READS)
    command = [sys.executable, "-m", "tilewright.compat", program, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_a_program_and_a_record(tmp_path):
    assert read(tmp_path, [line_of(relu_of_nodes())], [record()]) == (
        "[2e-06, 3e-06] llvm -num-cores=2 "
        '[TensorInfo("float32", [7, 5]), TensorInfo("float32", [7, 5])]\n'
        """# from tvm.script import tir as T

@T.prim_func
def main(X: T.Buffer((7, 5), "float32"), Y: T.Buffer((7, 5), "float32")):
    # with T.block("root"):
    Y_global = T.alloc_buffer((7, 5))
    for i in T.parallel(7, annotations={"pragma_auto_unroll_max_step": 16}):
        for j in range(5):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vi, vj])
                T.writes(Y_global[vi, vj])
                Y_global[vi, vj] = T.max(X[vi, vj], T.float32(0))
    for ax0, ax1 in T.grid(7, 5):
        with T.block("Y_global"):
            v0, v1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(Y_global[v0, v1])
            T.writes(Y[v0, v1])
            Y[v0, v1] = Y_global[v0, v1]

ok
"""
    )


def test_what_does_not_fit_is_refused_line_by_line(tmp_path):
    bind = [*STEPS[:3], ["Bind", ["l9"], ["threadIdx.x"], []]]
    nodes = relu_of_nodes("tirx.TilePrimitiveCall")
    workloads = [line_of(relu_of_nodes()), line_of(nodes), '["1", 2]', line_of({"root": 1, "nodes": []})]
    records = [record(bind, decisions=()), record(place=1), record(place=2), record(place=3), record(place=9)]
    out = read(tmp_path, workloads, records).splitlines()
    assert out[1:] == [
        "2 nodes of kind tirx.TilePrimitiveCall in TVM's JSON are not read",
        "3 database_workload.json: this is no line of a hash and a module",
        "4 this JSON of a module is not of the form that apache-tvm 0.27 writes",
        "5 this is no line of a workload and a record",
        "ok",
    ]
    assert out[0] == "1 Trace: step 4, Bind, takes a loop that no step before it gives"


TUNES = """
import sys, tvm
from tvm import te
from tvm.s_tir import meta_schedule as ms
a, b = te.placeholder((128, 128), name="A"), te.placeholder((128, 128), name="B")
k = te.reduce_axis((0, 128), name="k")
c = te.compute((128, 128), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
mod = tvm.IRModule({"main": te.create_prim_func([a, b, c])})
target = tvm.target.Target({"kind": "llvm", "num-cores": 1})
ms.tune_tir(mod, target, sys.argv[1], max_trials_global=8, num_trials_per_iter=8)
"""


@pytest.mark.slow
@pytest.mark.skipif("TVM_PYTHON" not in os.environ, reason="TVM_PYTHON, a Python with apache-tvm, is not set")
def test_files_that_apache_tvm_has_written(tmp_path):
    program = tmp_path / "tune.py"
    program.write_text(TUNES)
    subprocess.run([os.environ["TVM_PYTHON"], program, tmp_path], capture_output=True, check=True)
    out = reads(tmp_path)
    assert out.endswith("ok\n") and out.count("def main(") >= 6, out
