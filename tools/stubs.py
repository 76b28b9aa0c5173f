"""Writes the stubs of the Python package: types and docstrings of what is made from tables of C++.

Primitives of schedules, operators of graphs, passes and nodes are Python objects only when the package is loaded, so that an
editor or a type checker cannot read them from its source.  The stubs are the package tilewright-stubs (PEP 561, partial: modules
without a stub are read from their source), which the build writes beside tilewright, also in the wheel.

PYTHONPATH=build/python python tools/stubs.py FOLDER     writes FOLDER/tilewright-stubs
"""

import inspect
import re
import sys
import types
from pathlib import Path

from stub_text import (
    argument_type,
    class_text,
    doc_lines,
    function_text,
    member_text,
    members_of,
    python_function,
    result_type,
)

import tilewright
from tilewright import _core, ir, relax, schedule, te, tir, topi
from tilewright.ir._nodes import classes

HEADER = """# Written by tools/stubs.py; do not edit.
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

"""
#: modules with a stub; each holds names that its source does not define
MODULES = {
    "": tilewright, "ir": ir, "tir": tir, "te": te, "topi": topi, "relax": relax, "relax.op": relax.op,
    "relax.transform": relax.transform, "schedule": schedule,
}  # fmt: skip
#: results of functions of tir that say none; of all others it is an expression
TIR_RESULTS = {"SizeVar": "Var", "decl_buffer": "Buffer", "index_map": "IndexMap"}
CLASS_OF_MODULE = re.compile(r"\b(tilewright(?:\.[a-z_]\w*)+)\.[A-Z]\w*")
OPERAND = "tilewright.ir.Expr | Sequence[Any] | float | str"


def node_name(cls: type) -> str:
    """The name of a class of nodes, with its module."""
    return f"{cls.__module__}.{cls.__name__}" if cls is not _core.Object else "tilewright.ir.Object"


def common_class(kinds: list[str]) -> str:
    """The class that nodes of all `kinds` belong to, as narrow as possible."""
    lines = [[base for base in classes[kind].__mro__ if base is not object] for kind in kinds]
    shared = [base for base in lines[0] if all(base in line for line in lines)] if lines else []
    return node_name(shared[0]) if shared else "tilewright.ir.Object"


def node_text(kind: str, cls: type, field_types: list) -> str:
    """The stub of a class of nodes: its fields, its constructor and its methods."""
    table = {name: fields for name, _, fields in _core.node_table()}
    fields = [
        (name, doc, text.replace("Tensor", "tilewright.runtime.Tensor").replace("node", common_class(kinds)))
        for (name, doc), (text, kinds) in zip(table.get(kind, []), field_types, strict=True)
    ]
    parts = [function_text(name, "self", shown, doc, "    ", "property") for name, doc, shown in fields]
    if kind == "tir.Var":
        parts.append(python_function("__new__", tir.Var.__new__, "Self", "    "))
    elif kind == "relax.TensorType":
        parts.append(python_function("__new__", relax.TensorType.__new__, "Self", "    "))
    elif fields:
        given = "".join(f", {name}: Any = ..." for name, _, _ in fields)
        parts.append(function_text("__new__", f"cls{given}", "Self", None, "    "))
    names = {name for name, _, _ in fields} | {"field_names", "__init__", "__copy__", "__deepcopy__"}
    for name, member in members_of(cls, names):
        is_operator = name.startswith("__") and name not in (
            "__repr__",
            "__str__",
            "__hash__",
            "__bool__",
            "__iter__",
        )
        result = (
            {"PrimExpr": "PrimExpr", "RelaxExpr": "tilewright.relax.Call"}.get(kind, "Any")
            if is_operator
            else "Any"
        )
        ignored = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
        text = member_text(cls, name, member, result)
        parts.append(text.replace(") -> PrimExpr: ...", f") -> PrimExpr: ...{ignored}") if ignored else text)
    base = cls.__mro__[1]
    head = f"class {cls.__name__}({node_name(base)}):" if base is not object else f"class {cls.__name__}:"
    own_doc = cls.__doc__ if cls.__doc__ != base.__doc__ else None
    return "\n".join([head, *doc_lines(own_doc, "    "), *(parts or ["    ..."])])


def nodes_of(layer: str) -> list[str]:
    """The stubs of all nodes of a layer, groups first."""
    known = _core.field_types()
    found = [cls for cls in classes.values() if cls.__module__ == f"tilewright.{layer}"]
    names = {cls: name for name, cls in classes.items()}
    return [node_text(names[cls], cls, known.get(names[cls], [])) for cls in found]


def primitives() -> list[str]:
    """The stubs of the methods of Schedule that the table of primitives defines."""
    parts = []
    for name, doc, returns, args in _core.primitive_table():
        given = [
            f"{arg}: {argument_type(text)}" + ("" if required else f" = {default!r}")
            for arg, _, text, default, required, _ in args
        ]
        parts.append(function_text(name, ", ".join(["self", *given]), result_type(returns), doc, "    "))
    return parts


def schedule_class() -> str:
    """The stub of Schedule: what is written in Python, then the primitives."""
    names = {row[0] for row in _core.primitive_table()}
    own = [member_text(schedule.Schedule, *pair, "Any") for pair in members_of(schedule.Schedule, names)]
    return "\n".join(["class Schedule:", *doc_lines(schedule.Schedule.__doc__, "    "), *own, *primitives()])


def operators() -> list[str]:
    """The stubs of relax.op: functions of groups (op.nn.relu) are static methods of a class."""
    table = {name: (args, doc, attrs) for name, args, doc, attrs, _ in _core.relax_op_table()}

    def text(name: str, function, indent: str, decorator: str) -> str:
        path = "relax." + name
        last = name.rpartition(".")[2]
        is_own = inspect.unwrap(function).__module__ == "tilewright.relax._calls"
        if path not in table or is_own:
            return python_function(last, function, "tilewright.relax.Call", indent, decorator)
        args, _, attrs = table[path]
        given = [
            f"{arg}: {OPERAND} | None = None" if n else f"{arg}: {OPERAND}" for n, arg in enumerate(args)
        ]
        given += [
            f"{attr}: {argument_type(kind.removesuffix(' | None'))} | None = None" for attr, _, kind in attrs
        ]
        return function_text(
            last, ", ".join(given), "tilewright.relax.Call", inspect.getdoc(function), indent, decorator
        )

    parts: list[str] = []
    for name, value in sorted(vars(relax.op).items()):
        if isinstance(value, types.SimpleNamespace):
            members = sorted(vars(value).items())
            inner = [
                text(f"{name}.{key}", each, "    ", "staticmethod") for key, each in members if callable(each)
            ]
            parts.append("\n".join([f"class {name}:", *inner]))
        elif callable(value) and not name.startswith("_") and name != "guard":
            parts.append(text(name, value, "", ""))
    return parts


def option_type(doc: str, kind: str) -> str:
    """The type of an option of a pass; the text of one that is a mapping shows its form: {name: extent}."""
    return "dict[str, Any]" if kind == "node" and doc.startswith("{") else argument_type(kind)


def names_of_pass(name: str) -> list[str]:
    """The names under which relax.transform has a pass of the registry; some have a class in camel case."""
    names = dict.fromkeys((name, "".join(part.capitalize() for part in name.split("_"))))
    return [each for each in names if getattr(relax.transform, each) is getattr(relax.transform, name)]


def passes() -> list[str]:
    """The stubs of the passes in the registry under both of their names; options are given by keyword."""
    parts = []
    for name, _, _, options in _core.relax_pass_table():
        given = ", ".join(f"{option}: {option_type(doc, kind)} = ..." for option, doc, kind in options)
        for each in names_of_pass(name):
            doc = getattr(relax.transform, name).__doc__
            parts.append(
                function_text(each, f"*, {given}" if given else "", "tilewright.transform.Pass", doc)
            )
    return parts


def others(name: str, module, have: set[str]) -> list[str]:
    """The stubs of what else a module holds: functions, classes of its own, names that it takes from elsewhere."""
    own, default = f"tilewright.{name}".rstrip("."), "Any"
    parts = []
    for key, value in sorted(vars(module).items()):
        if (
            key.startswith("_")
            or key in have
            or key in ("guard", "guard_class", "guard_module", "methods_for", "classes")
        ):
            continue
        home = getattr(inspect.unwrap(value) if inspect.isfunction(value) else value, "__module__", None)
        if inspect.ismodule(value):
            if value.__name__.startswith("tilewright."):
                package, _, last = value.__name__.rpartition(".")
                parts.append(f"from {package} import {last} as {key}")
        elif isinstance(value, type) and home == own:
            is_alias = value.__name__ in have or value.__name__ != key
            parts.append(f"{key} = {value.__name__}" if is_alias else class_text(value))
        elif isinstance(value, type) and home == "tilewright._core" and name in ("schedule", "ir"):
            parts.append(f"from tilewright._core import {value.__name__} as {key}")
        elif isinstance(value, type) and home and home.startswith("tilewright"):
            parts.append(f"from {home} import {value.__name__} as {key}")
        elif inspect.isfunction(value):
            if name in ("tir", "te"):
                default = TIR_RESULTS.get(key, "tilewright.ir.PrimExpr")
            if home == own or (name in ("te", "topi", "tir") and home and home.startswith(own)):
                parts.append(
                    python_function(key, value, default if name != "topi" else "tilewright.te.Tensor")
                )
            elif home and home.startswith("tilewright"):
                parts.append(f"from {home} import {inspect.unwrap(value).__name__} as {key}")
    return parts


def module_text(name: str) -> str:
    """The stub of a module."""
    module, parts = MODULES[name], []
    if name in ("ir", "tir", "te", "relax"):
        parts = nodes_of(name)
    have = {cls.__name__ for cls in classes.values() if name and cls.__module__ == f"tilewright.{name}"}
    if name == "schedule":
        parts, have = [schedule_class()], {"Schedule"}
    elif name == "relax.op":
        return assembled([], operators())
    elif name == "relax.transform":
        parts, have = passes(), set()
        for each, _, _, _ in _core.relax_pass_table():
            have |= set(names_of_pass(each))
    elif not name:
        lazy = [each for each in tilewright.__all__ if inspect.ismodule(getattr(tilewright, each))]
        parts = [
            f"from . import {each} as {each}"
            for each in [*lazy, "arith", "compat", "frontend", "testing", "topi"]
        ]
        parts.append("from .schedule import Schedule as Schedule")
        have = {*lazy, "Schedule", "arith", "compat", "frontend", "testing", "topi"}
    found = others(name, module, have)
    imports = [part for part in found if part.startswith(("import ", "from "))]
    return assembled(imports, [*parts, *[part for part in found if part not in imports]])


def assembled(imports: list[str], parts: list[str]) -> str:
    """The text of a stub: its imports, those of the modules whose classes it names, and its parts."""
    body = "\n".join(parts)
    named = sorted({found[1] for found in CLASS_OF_MODULE.finditer(body)} | {"tilewright"})
    return "\n".join([HEADER, *[f"import {module}" for module in named], *imports, "", body, ""])


def core_text() -> str:
    """The stub of the extension module: its classes; functions, which only the package calls, are of any type."""
    parts = []
    for name, value in sorted(vars(_core).items()):
        if isinstance(value, type):
            members = [pair for pair in members_of(value) if pair[0] != "__init__"]
            lines = [
                f"class {name}:",
                *doc_lines(value.__doc__, "    "),
                "    def __init__(self, *args: Any, **kwargs: Any) -> None: ...",
            ]
            lines += [core_member(key, member) for key, member in members]
            parts.append("\n".join(lines))
    return assembled([], [*parts, "", "def __getattr__(name: str) -> Any: ..."])


def core_member(name: str, member) -> str:
    """The stub of a member of a class of the extension module, or one that Python gave the class."""
    if inspect.isfunction(member):
        return python_function(name, member, "Any", "    ")
    if callable(member):
        return function_text(name, "self, *args: Any, **kwargs: Any", "Any", None, "    ")
    return function_text(name, "self", "Any", member.__doc__, "    ", "property")


def write(folder: Path) -> None:
    """Writes tilewright-stubs below `folder`."""
    root = folder / "tilewright-stubs"
    root.mkdir(parents=True, exist_ok=True)
    (root / "py.typed").write_text("partial\n")
    (root / "_core.pyi").write_text(core_text())
    for name in MODULES:
        is_package = bool(getattr(MODULES[name], "__path__", None))
        path = (
            root / name.replace(".", "/") / "__init__.pyi"
            if is_package
            else root / f"{name.replace('.', '/')}.pyi"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(module_text(name))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
