"""Writes docs/how-a-model-travels.md: one small model through every layer, with the text of each stage.

    PYTHONPATH=build/python python tools/travel_page.py [--print]

Needs the package onnx, to make the model.  The target is a named processor, so that the page is the same on every machine.
"""

import re
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

import tilewright

PAGE = Path(__file__).resolve().parent.parent / "docs/how-a-model-travels.md"
PROCESSOR = "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell -num-cores=1"
TARGET = f"{PROCESSOR} -l1_cache_size_bytes=32768 -l2_cache_size_bytes=262144"  # not those of this machine
KERNEL = "fused_matmul_relu"

INTRODUCTION = f"""# How a model travels

Written by `python tools/travel_page.py`; a test compares it. One small model goes through every layer; each stage shows the text that
the compiler has there, and names the room (the folder under `tilewright/`) whose code makes it. The target is
`{PROCESSOR}`. `tilewright inspect model.onnx --stage STAGE` shows the same of any model.

```mermaid
flowchart LR
  a["ONNX file"] -->|"frontend"| b["graph"] -->|"relax/passes"| c["calls of kernels"] -->|"relax/memory"| d["plan"] -->|"relax/vm"| e["bytecode"]
  c -->|"te, tir"| f["loop program"] -->|"schedule"| g["tiles"] -->|"lower"| h["flat loops"] -->|"codegen"| i["machine code"]
  e --> j["runtime: result"]
  i --> j
```

| stage | room | text |
|---|---|---|
"""


def onnx_model() -> onnx.ModelProto:
    """y = softmax(relu(x w)) of x [5, 127] and w [127, 16]."""
    weight = (np.arange(127 * 16).reshape(127, 16) % 5 - 2).astype("float32")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"]),
        helper.make_node("Relu", ["product"], ["positive"]),
        helper.make_node("Softmax", ["positive"], ["y"]),
    ]
    values = [
        [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)]
        for name, shape in (("x", [5, 127]), ("y", [5, 16]))
    ]
    graph = helper.make_graph(nodes, "small", *values, [numpy_helper.from_array(weight, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def script_of(program) -> str:
    return program.script(show_meta=False).strip()


def compute_function(text: str, begin: str, end: str) -> str:
    """The part of a source from the line with `begin` to the line before `end`: the kernel without the checks of its arguments."""
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if re.search(begin, line))
    last = next(n for n, line in enumerate(lines[first + 1 :], first + 1) if re.search(end, line))
    return "\n".join(line.rstrip() for line in lines[first:last]).strip("\n").expandtabs(8)


def dedented(text: str) -> str:
    lines = text.splitlines()
    least = min(len(line) - len(line.lstrip()) for line in lines if line)
    return "\n".join(line[least:] for line in lines).strip()


def stages() -> list[tuple[str, str, str, str]]:
    """(name, room, what happens, text) of each stage, in order."""
    model = onnx_model()
    passes = tilewright.relax.transform
    imported = tilewright.frontend.onnx.from_onnx(model)
    legal = passes.legalize_ops()(imported)
    executable = tilewright.compile(model, target=TARGET)
    fused = executable.legalized
    kernel = fused[KERNEL]
    schedule = tilewright.schedule.by_rules(kernel, TARGET)
    sources = tilewright.build(fused.__class__({KERNEL: kernel}), target=TARGET).get_source
    onnx_text = re.sub(r"w =  {.*?}>", "w = {...}>", onnx.printer.to_text(model))
    x = np.full((5, 127), 0.1, "float32")
    result = tilewright.VirtualMachine(tilewright.compile(model))["main"](x).numpy()
    return [
        (
            "ONNX file",
            "frontend/onnx",
            "A list of nodes. The importer decodes the file itself, checks each node against a table of the operators, and emits graph operators.",
            "\n".join(line.rstrip() for line in onnx_text.strip().splitlines()),
        ),
        (
            "Graph",
            "relax/graph",
            "A relax function: one binding for each value, with its type. Constants are shown by number. `relax/infer` has computed the types, `relax/ops` defines the operators.",
            script_of(imported["main"]),
        ),
        (
            "Legalised graph",
            "relax/passes",
            "The pass `legalize_ops` has replaced each operator by the call of a loop program. Passes before it fold constants, choose layouts "
            "and drop what does nothing; for this model they change nothing.",
            script_of(legal["main"]),
        ),
        (
            "Loop program of an operator",
            "tir",
            "What `R.matmul` has become: a block with its axes, and loops around it. `te` builds it from a formula.",
            script_of(legal["matmul"]),
        ),
        (
            "Fused graph",
            "relax/fusion",
            "`fuse_ops` has decided that relu is computed with the product, `fuse_tir` has made one loop program of both. Softmax stays by itself, as it "
            "needs whole rows.",
            script_of(fused["main"]),
        ),
        (
            "Fused loop program",
            "tir",
            "The product goes through a buffer, `matmul`; the schedule will keep it in registers.",
            script_of(kernel),
        ),
        (
            "Memory plan",
            "relax/memory",
            "Memory as statements: tensors that do not outlive the call lie in one storage, the arena, at planned offsets. The result is allocated by itself.",
            script_of(executable.lowered["main"]),
        ),
        (
            "Schedule",
            "schedule/default/cpu",
            "The rules have chosen a register tile and moved relu into it. Each step is a primitive of `schedule/primitives`, proved legal by `schedule/legality`.",
            str(schedule.trace).strip(),
        ),
        (
            "Scheduled loop program",
            "schedule/core",
            "The same program after these steps. It computes the same.",
            script_of(schedule.mod["main"]),
        ),
        (
            "Lowered loops",
            "lower",
            "Blocks are gone, buffers are flat, unrolled loops are written out, vectors are slices. A second function, left out here, checks the arguments.",
            beginning(
                dedented(compute_function(sources("lowered"), r"@T.prim_func", r"^ *@T.prim_func$")), 28
            ),
        ),
        (
            "LLVM IR",
            "codegen/llvm",
            "What LLVM has made of it, after its own passes (the beginning). Target `c` writes C99 instead, in `codegen/c`.",
            beginning(compute_function(sources("ll"), rf"^define .*@{KERNEL}_compute", r"^}"), 24),
        ),
        (
            "Assembly",
            "codegen/llvm",
            "The loop over the terms: two vectors of a row of the weights, multiplied by one number of each row of x, added to sums that stay in registers.",
            innermost_loop(sources("asm")),
        ),
        (
            "Code of the virtual machine",
            "relax/vm",
            "The graph as bytecode. `runtime/vm` runs it: it checks the arguments, makes tensors, and calls kernels.",
            executable.as_text().strip(),
        ),
        (
            "Result",
            "runtime",
            "For an x whose elements are all 0.1, the first row. `driver` has put everything together: `tilewright.compile`.",
            " ".join(f"{value:.4f}" for value in result[0]),
        ),
    ]


def beginning(text: str, count: int) -> str:
    lines = text.splitlines()
    return "\n".join(lines[:count]) + (
        f"\n  ... ({len(lines) - count} more lines)" if len(lines) > count else ""
    )


def innermost_loop(assembly: str) -> str:
    """The lines of the kernel between the label that a jump goes back to and that jump; without loops, its beginning."""
    lines = compute_function(assembly, rf"^{KERNEL}_compute:", r"^\.Lfunc_end").splitlines()
    for end, line in enumerate(lines):
        jump = re.match(r"\s+j\w+\s+(\.L\w+)", line)
        start = lines.index(f"{jump[1]}:") if jump and f"{jump[1]}:" in lines[:end] else end
        if start < end:
            return "\n".join(lines[start : end + 1])
    return beginning("\n".join(lines), 24)


def page() -> str:
    found = stages()
    rows = "".join(
        f"| {n}. [{name}](#{n}-{name.lower().replace(' ', '-')}) | `{room}` | {what.split('. ')[0].rstrip('.')} |\n"
        for n, (name, room, what, _) in enumerate(found, 1)
    )
    sections = "".join(
        f"\n## {n}. {name}\n\n{what} Room: [{room}](../tilewright/{room}).\n\n```text\n{text}\n```\n"
        for n, (name, room, what, text) in enumerate(found, 1)
    )
    return INTRODUCTION + rows + sections


def main() -> int:
    if sys.argv[1:] == ["--print"]:
        print(page(), end="")
    else:
        PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
