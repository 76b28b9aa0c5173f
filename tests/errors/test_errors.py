"""Refusals with their whole texts: each case of the *.txt files here is a Python program and the error it must raise.

    == what is wrong, in words
    tilewright.Target("no-such-kind")
    --
    error: unknown target kind "no-such-kind"

python tests/errors/test_errors.py writes what is raised now into the files; read the difference before it is committed.
"""

import json
import re
import tempfile
import textwrap
from pathlib import Path
from unittest import mock

import numpy
import onnx
import pytest

import tilewright
from tilewright import relax, te, tir, topi
from tilewright.frontend.onnx import from_onnx
from tilewright.script import parse

FOLDER = Path(__file__).parent
scratch = tempfile.gettempdir()
BLOCK_FIELDS = "name_hint iter_vars alloc_buffers reads writes match_buffers annotations init body".split()


def body(lines: str):
    """The function of these lines over A: float32[16], B: float32[4, 4] and n: int32."""
    head = '@T.prim_func\ndef f(A: T.Buffer((16,), "float32"), B: T.Buffer((4, 4), "float32"), n: T.int32):\n'
    return parse(head + textwrap.indent(textwrap.dedent(lines).strip(), "    ") + "\n")


def steps(lines: str):
    """The schedule of these lines over A, C: float32[16], B, D: float32[4, 4], n: int32 and X: float32[16], Y: float32[4, 4]
    of its own."""
    lines = textwrap.dedent(lines).strip()
    head = "@T.prim_func\ndef f(A: T.Buffer((16,)), B: T.Buffer((4, 4)), C: T.Buffer((16,)), D: T.Buffer((4, 4)), n: T.int32):\n"
    own = [
        f"{name} = T.alloc_buffer({shape})"
        for name, shape in (("X", "(16,)"), ("Y", "(4, 4)"))
        if name in lines
    ]
    return tilewright.Schedule(parse(head + textwrap.indent("\n".join([*own, lines]), "    ") + "\n"))


def stages(**stores):
    """The schedule of a nest for each block="store"; loops are i, j, k, l, their axes vi, vj, vk, vl, of 16 values each."""
    return steps(
        "\n".join(
            f'for {loop} in range(16):\n    with T.block("{block}"):\n'
            f"        v{loop} = T.axis.spatial(16, {loop})\n        {store}"
            for loop, (block, store) in zip("ijkl", stores.items(), strict=False)
        )
    )


def intrinsic(name: str, store: str):
    """Registers what one nest of this store computes, over A and C: float32[16], as a tensor intrinsic."""
    program = textwrap.dedent(f"""
        @T.prim_func
        def f(A: T.Buffer((16,)), C: T.Buffer((16,))):
            with T.block("root"):
                T.reads(A[0:16])
                T.writes(C[0:16])
                for i in range(16):
                    with T.block("step"):
                        vi = T.axis.spatial(16, i)
                        {store}
    """)
    tir.TensorIntrin.register(name, parse(program), parse(program), override=True)


def graph(lines: str):
    """The graph function of these lines over x: float32[2, 3] and y: float32[3, 4]."""
    head = '@R.function\ndef f(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 4), "float32")):\n'
    return parse(head + textwrap.indent(textwrap.dedent(lines).strip(), "    ") + "\n")


def writes(lines: str, params: str = 'x: R.Tensor((5, 7), "float32")'):
    """Compiles main(params) of these lines; cls.copy(x, y) writes float32[5, 7] into y."""
    head = """
@I.ir_module
class Module:
    @T.prim_func
    def copy(x: T.Buffer((5, 7), "float32"), y: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj]
    @R.function(pure=False)
    def main("""
    lines = textwrap.indent(textwrap.dedent(lines).strip(), " " * 8)
    return tilewright.compile(parse(head.lstrip() + params + "):\n        cls = Module\n" + lines + "\n"))


def text(lines: str):
    """The program of these lines."""
    return parse(textwrap.dedent(lines).strip() + "\n")


def with_body(func, statement):
    """The function with another body."""
    return tir.PrimFunc(func.params, func.buffers, statement, attrs=func.attrs)


def with_block(func, **fields):
    """The function of one loop around one block with other fields of the block."""
    loop = func.body.block.body
    realize = loop.body
    block = tir.Block(**{name: getattr(realize.block, name) for name in BLOCK_FIELDS} | fields)
    inner = tir.BlockRealize(realize.iter_values, realize.predicate, block)
    return with_body(func, tir.For(loop_var=loop.loop_var, min=loop.min, extent=loop.extent, body=inner))


def module(func):
    """The module with `func` as main."""
    return tilewright.IRModule({"main": func})


with_grad = """
    @I.ir_module
    class Module:
        @T.prim_func(private=True)
        def add(A: T.Buffer((T.int64(2),), "float32"), B: T.Buffer((T.int64(2),), "float32"), C: T.Buffer((T.int64(2),), "float32")):
            for i in range(T.int64(2)):
                C[i] = A[i] + B[i]
        @R.function
        def f(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
            cls = Module
            a = R.call_tir_with_grad(cls.add, (x, y), out_sinfo=R.Tensor((2,), "float32"), te_grad_name="tests.unknown")
            z = R.sum(a)
            return z
    """


def trainer(has_values: bool):
    """A Trainer of x [2, 3] -> x + w."""
    add = 'def backbone(x: R.Tensor((2, 3), "float32"), w: R.Tensor((2, 3), "float32")):\n    gv = R.add(x, w)\n    return gv\n'
    made = tilewright.IRModule({"backbone": parse("@R.function\n" + add)}, {"param_num": 1, "state_num": 0})
    types = [relax.TensorType([2, 3], "float32")] * 2
    setup = relax.training.SetupTrainer(
        relax.training.loss.L1Loss(), relax.training.optimizer.SGD(0.1), types
    )
    made = setup(made)
    return relax.training.Trainer(
        made, tilewright.VirtualMachine(tilewright.compile(made)), zero_init_param_state=has_values
    )


def onnx_file(
    nodes, x=(1, 2, 5, 5), dtype=1, weights=None, outputs=("y",), opset=17, change=lambda model: None
) -> str:
    """The path of an ONNX model of `nodes` ("Relu x -> y", or made with node()) over input x of shape `x`."""
    nodes = [node(entry) if isinstance(entry, str) else entry for entry in nodes]
    inputs = [onnx.helper.make_tensor_value_info("x", dtype, x)]
    made = [onnx.helper.make_tensor_value_info(name, 1, None) for name in outputs]
    initializers = [onnx.numpy_helper.from_array(value, name) for name, value in (weights or {}).items()]
    model = onnx.helper.make_model(
        onnx.helper.make_graph(nodes, "g", inputs, made, initializers),
        opset_imports=[onnx.helper.make_opsetid("", opset)],
    )
    change(model)
    path = Path(tempfile.mkdtemp(dir=scratch)) / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return str(path)


def node(text: str, **attributes):
    """The ONNX node of "Add a b -> c"; attributes by name."""
    head, _, outputs = text.partition(" -> ")
    op, *inputs = head.split(" ")
    inputs = ["" if name == "_" else name for name in inputs]
    return onnx.helper.make_node(op, inputs, outputs.split(" "), name="n_" + outputs, **attributes)


def imported(nodes, **options):
    """The module of the ONNX model that onnx_file describes."""
    return from_onnx(onnx_file(nodes, **options))


NAMES = {
    "body": body,
    "graph": graph,
    "from_onnx": from_onnx,
    "imported": imported,
    "json": json,
    "intrinsic": intrinsic,
    "module": module,
    "mock": mock,
    "node": node,
    "np": numpy,
    "onnx": onnx,
    "onnx_file": onnx_file,
    "relax": relax,
    "stages": stages,
    "steps": steps,
    "te": te,
    "text": text,
    "tilewright": tilewright,
    "tir": tir,
    "topi": topi,
    "with_block": with_block,
    "with_body": with_body,
    "trainer": trainer,
    "with_grad": with_grad,
    "writes": writes,
}


def cases_of(file: Path) -> list[tuple[str, str, str]]:
    """(what is wrong, the program, its error) of each case."""
    found = []
    for case in file.read_text().split("\n== ")[1:]:
        title, _, rest = case.partition("\n")
        program, _, expected = rest.partition("\n--\n")
        found.append((title, program, expected.strip("\n")))
    return found


def error_of(program: str) -> str:
    try:
        arrays = {"a": numpy.zeros(16, "float32"), "b": numpy.zeros((4, 4), "float32")}
        exec(compile(program, "case", "exec"), NAMES | arrays)
    except Exception as error:  # whatever is raised: its text is compared
        lines = (
            re.sub(rf"{re.escape(scratch)}/tmp\w+", "<folder>", line.rstrip())
            for line in str(error).splitlines()
        )
        return "\n".join(lines)
    return "nothing is raised"


CASES = [
    pytest.param(program, expected, id=f"{file.stem}-{title.replace(' ', '-')}")
    for file in sorted(FOLDER.glob("*.txt"))
    for title, program, expected in cases_of(file)
]


@pytest.mark.parametrize(("program", "expected"), CASES)
def test_error(program, expected):
    assert error_of(program) == expected


def write_what_is_raised_now() -> None:
    for file in sorted(FOLDER.glob("*.txt")):
        head = file.read_text().split("\n== ")[0]
        cases = [f"== {title}\n{program}\n--\n{error_of(program)}\n" for title, program, _ in cases_of(file)]
        file.write_text(head.rstrip("\n") + "\n\n" + "\n".join(cases))


if __name__ == "__main__":
    write_what_is_raised_now()
