"""tools/stubs.py: the stubs of some classes as they are written, and what a type checker makes of them."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
import stub_text

import tilewright

TOOL = Path(stub_text.__file__).with_name("stubs.py")
BUILT = Path(tilewright.__file__).parent.parent / "tilewright-stubs"
needs_stubs = pytest.mark.skipif(not BUILT.is_dir(), reason="builds with sanitizers have no stubs")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The stubs, written by a process of its own: tilewright.compat, which other tests load, changes classes."""
    folder = tmp_path_factory.mktemp("stubs")
    subprocess.run([sys.executable, str(TOOL), str(folder)], check=True)
    return folder / "tilewright-stubs"


def part_of(text: str, begin: str) -> str:
    """The lines of a stub from the one that begins with `begin` to the end of the function or class."""
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith(begin))
    indent = len(lines[first]) - len(lines[first].lstrip())
    end = first + 1
    while end < len(lines) and (not lines[end] or len(lines[end]) - len(lines[end].lstrip()) > indent):
        end += 1
    return "\n".join(lines[first:end]).rstrip()


def test_a_primitive(written):
    assert part_of((written / "schedule/__init__.pyi").read_text(), "    def get_loops(") == (
        "    def get_loops(self, block: BlockRV | str) -> list[LoopRV]:\n"
        '        """The loops around `block`, outermost first, up to the block that encloses it."""\n'
        "        ..."
    )


def test_a_node(written):
    assert part_of((written / "ir/__init__.pyi").read_text(), "class Range(") == (
        "class Range(tilewright.ir.Object):\n"
        '    """Range(min, extent)\n'
        "\n"
        "    min: first value\n"
        "    extent: how many values, >= 0\n"
        '    """\n'
        "    @property\n"
        "    def min(self) -> tilewright.ir.PrimExpr:\n"
        '        """first value"""\n'
        "        ...\n"
        "    @property\n"
        "    def extent(self) -> tilewright.ir.PrimExpr:\n"
        '        """how many values, >= 0"""\n'
        "        ...\n"
        "    def __new__(cls, min: Any = ..., extent: Any = ...) -> Self: ..."
    )


def test_an_operator(written):
    assert part_of((written / "relax/op.pyi").read_text(), "def cumsum(").partition("\n")[0] == (
        "def cumsum(data: tilewright.ir.Expr | Sequence[Any] | float | str, axis: int | None = None,"
        " dtype: str | None = None, exclusive: bool | None = None, reverse: bool | None = None) -> tilewright.relax.Call:"
    )


def test_a_pass(written):
    text = (written / "relax/transform.pyi").read_text()
    expected = (
        "def attach_global_symbol() -> tilewright.transform.Pass:\n"
        '    """The pass attach_global_symbol: gives every function a symbol, by which it is called from outside."""\n'
        "    ..."
    )
    assert part_of(text, "def attach_global_symbol(") == expected
    assert part_of(text, "def AttachGlobalSymbol(") == expected.replace(
        "def attach_global_symbol", "def AttachGlobalSymbol"
    )


def test_options_of_a_pass(written):
    text = (written / "relax/transform.pyi").read_text()
    assert part_of(text, "def bind_symbolic_vars(").partition("\n")[0] == (
        "def bind_symbolic_vars(*, binding_map: dict[str, Any] = ..., func_name: str = ...) -> tilewright.transform.Pass:"
    )


def test_a_pass_that_is_a_class_has_the_arguments_of_the_class(written):
    assert part_of((written / "relax/transform.pyi").read_text(), "class BindParams:").splitlines()[:4] == [
        "class BindParams:",
        '    """Makes parameters constants: BindParams("main", {"w0": tensor})(mod)."""',
        "    def __init__(self, func_name: str, params: dict) -> None: ...",
        "    def __call__(self, mod: tilewright.ir.module.IRModule) -> tilewright.ir.module.IRModule:",
    ]


def test_a_method_of_python():
    def method(self, a, *rest, b: int | None = None, c: str = "x", **more) -> list[str]:
        """Says "hello"."""

    assert stub_text.member_text(object, "method", method, "Any") == (
        "    def method(self, a: Any, *rest: Any, b: int | None = None, c: str = 'x', **more: Any) -> list[str]:\n"
        '        """Says "hello"."""\n'
        "        ..."
    )


def test_stubs_are_python(written):
    files = list(written.rglob("*.pyi"))
    assert len(files) == 10
    for file in files:
        ast.parse(file.read_text())


@needs_stubs
def test_the_built_stubs_are_current(written):
    now = {file.relative_to(written): file.read_text() for file in written.rglob("*.*")}
    assert {file.relative_to(BUILT): file.read_text() for file in BUILT.rglob("*.*")} == now


PROGRAM = """
import tilewright
from tilewright import relax, tir

def steps(sch: tilewright.Schedule, loop: tir.For) -> None:
    i, j = sch.get_loops(sch.get_block("B"))
    reveal_type(sch.split(i, factors=[8, None]))
    reveal_type(sch.mod)
    reveal_type(loop.body)
    reveal_type(loop.extent + 1)
    reveal_type(relax.op.nn.relu(relax.Var("x", relax.TensorType((5, 7), "float32"))))
    sch.split(i, factors="8")
    sch.spilt(i)
"""


@needs_stubs
def test_a_type_checker_reads_them(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "program.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(BUILT.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [
        'program.py:7: note: Revealed type is "list[tilewright._core.LoopHandle]"',
        'program.py:8: note: Revealed type is "tilewright.ir.module.IRModule"',
        'program.py:9: note: Revealed type is "tilewright.ir.Stmt"',
        'program.py:10: note: Revealed type is "tilewright.ir.PrimExpr"',
        'program.py:11: note: Revealed type is "tilewright.relax.Call"',
        'program.py:12: error: Argument "factors" to "split" of "Schedule" has incompatible type "str"; expected'
        ' "Sequence[int | ExprHandle | None]"  [arg-type]',
        'program.py:13: error: "Schedule" has no attribute "spilt"; maybe "split"?  [attr-defined]',
        "Found 2 errors in 1 file (checked 1 source file)",
    ]
