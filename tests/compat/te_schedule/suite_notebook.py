"""The in-depth notebook: tvm.lower prints the programs that were published, up to names and the order of factors and terms."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from tilewright import ir, script, tir
from tilewright.compat.tir_functions import ir_transform

FOLDER = Path(__file__).resolve().parents[4] / "shared/seeds/003_tvm_in_depth_notebook"
COMPARED = ("003", "004", "006", "008", "010", "012", "014", "016", "017", "019", "020")
_CLASSES = ir._nodes.classes


def with_named_strides(text: str) -> str:
    """The published text, in which each "stride" is a variable of its own."""
    names: list[str] = []

    def named(match) -> str:
        new = [f"stride_{len(names) + n}" for n in range(match[1].count("stride"))]
        names.extend(new)
        return f"strides=({', '.join(new)},)"

    text = re.sub(r"strides=\(([^)]*)\)", named, text)
    definitions = "".join(f"        {name} = T.int32()\n" for name in names)
    return re.sub(r"(\n        \w[\w, ]* = T.int32\(\)[^\n]*\n)", lambda m: m[1] + definitions, text, count=1)


def without_lets(func):
    def inlined(node):
        is_let = isinstance(node, _CLASSES["tir.LetStmt"])
        return tir.substitute(node.body, {node.var: node.value}) if is_let else None

    return func.replace(body=ir_transform(func.body, None, inlined))


class Text:
    """A program as text in which variables are numbered, and operands of sums and products sorted."""

    def __init__(self, func):
        self.names: dict = {}
        for value in (
            *func.params,
            *(extent for buffer in func.buffers for extent in (*buffer.shape, *buffer.strides)),
        ):
            self.of(value)
        self.text = self.of(func.body)

    def of(self, node) -> str:
        if isinstance(node, (list, tuple)):
            return f"[{', '.join(map(self.of, node))}]"
        if not hasattr(node, "field_names"):
            return repr(node)
        if isinstance(node, _CLASSES["tir.Var"]):
            return self.names.setdefault(node, f"v{len(self.names)}")
        kind = type(node).__name__
        if kind in ("Add", "Mul"):
            return f"{kind}({', '.join(sorted(self.of(each) for each in operands(node, kind)))})"
        fields = (name for name in node.field_names if name not in ("span", "name", "name_hint"))
        return f"{kind}({', '.join(f'{name}={self.of(getattr(node, name))}' for name in fields)})"


def operands(node, kind: str) -> list:
    return [*operands(node.a, kind), *operands(node.b, kind)] if type(node).__name__ == kind else [node]


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    names: dict = {}
    texts = {}
    for number in range(1, 21):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec((FOLDER / f"{number:03}.py").read_text(), names)
        texts[f"{number:03}"] = out.getvalue()
    return texts


@pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared is absent")
@pytest.mark.parametrize("number", COMPARED)
def test_lowered_program_is_the_published_one(printed, number):
    published = script.parse(with_named_strides((FOLDER / f"{number}.out.txt").read_text()))["main"]
    ours = script.parse(printed[number])["main"]
    assert ours.attrs["from_legacy_te_schedule"]
    assert Text(without_lets(ours)).text == Text(without_lets(published)).text
