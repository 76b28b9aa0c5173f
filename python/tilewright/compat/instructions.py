"""tvm.tir.schedule's Instruction and InstructionKind: steps of traces, recorded or made by hand."""

import ast
import json
import re

import tilewright as tw
from tilewright import ir, tir
from tilewright.errors import UserError
from tilewright.ir import printing
from tilewright.ir._nodes import classes
from tilewright.schedule import BlockRV, ExprRV, LoopRV, Trace

# name -> [(argument, type, default, is required)], and what it returns
STEPS = {
    name: [(arg, type_name, default, required) for arg, _, type_name, default, required, _ in args]
    for name, _, _, args in tw._core.primitive_table()
}
_RETURNS = {name: returns for name, _, returns, _ in tw._core.primitive_table()}
_SPECIAL_NAMES = {
    "reindex": "ReIndex",
    "rfactor": "RFactor",
    "unsafe_set_dtype": "UnsafeSetDType",
}
_KINDS = {"Block": "block", "Loop": "loop", "Expr": "value"}
LETTERS = {"block": "b", "loop": "l", "value": "v"}
_Array = classes["ir.Array"]
HANDLE = re.compile(r"([blv])(\d+)")


class Handle:
    """A handle of a block, a loop or a value in an instruction.

    kind  "block", "loop" or "value"
    name  in the trace that it comes from; "" for one made by hand
    """

    def __init__(self, kind: str, name: str = ""):
        self.kind, self.name = kind, name

    def same_as(self, other) -> bool:
        """True if it is this very handle."""
        return self is other

    def __repr__(self) -> str:
        return self.name or "_"


class _Random(type):
    """Of SBlockRV, LoopRV and ExprRV: called, they make a handle by hand."""

    def __instancecheck__(cls, value) -> bool:
        return isinstance(value, cls.given) or (isinstance(value, Handle) and value.kind == cls.kind)

    def __call__(cls):
        return Handle(cls.kind)


def _random(name: str, given: type, kind: str) -> type:
    return _Random(name, (), {"given": given, "kind": kind, "__doc__": given.__doc__})


HANDLES = {
    "BlockRV": _random("BlockRV", BlockRV, "block"),
    "SBlockRV": _random("SBlockRV", BlockRV, "block"),
    "LoopRV": _random("LoopRV", LoopRV, "loop"),
    "ExprRV": _random("ExprRV", ExprRV, "value"),
}


def kind_of(value) -> str | None:
    """The kind of a handle: "block", "loop" or "value"; a variable stands for a value that is sampled."""
    if isinstance(value, Handle):
        return value.kind
    for cls, kind in ((BlockRV, "block"), (LoopRV, "loop"), (ExprRV, "value"), (tir.Var, "value")):
        if isinstance(value, cls):
            return kind
    return None


class InstructionKind:
    """The kind of a step: its name as TVM writes it, "ComputeAt" for compute_at."""

    def __init__(self, primitive: str):
        self._primitive = primitive
        name = "".join(word.capitalize() for word in primitive.split("_"))
        self.name = _SPECIAL_NAMES.get(primitive, name)
        if primitive == "get_block" and is_newest():
            self.name = "GetSBlock"

    @staticmethod
    def get(name: str) -> "InstructionKind":
        """The kind called `name`, as TVM writes it.

        Raises UserError if there is none.
        """
        if not isinstance(name, str):
            raise UserError(f"InstructionKind.get: a Python {type(name).__name__} is no name")
        wanted = name.lower().replace("sblock", "block")
        for primitive in STEPS:
            if primitive.replace("_", "") == wanted:
                return InstructionKind(primitive)
        raise UserError(f'InstructionKind.get: there is no kind of instruction called "{name}"')

    @property
    def is_pure(self) -> bool:
        """True if it leaves the program as it is."""
        return self._primitive.startswith(("get_", "sample_"))

    def same_as(self, other) -> bool:
        """True if it is the same kind."""
        return self == other

    def __eq__(self, other) -> bool:
        return isinstance(other, InstructionKind) and self._primitive == other._primitive

    def __hash__(self) -> int:
        return hash(self._primitive)

    def __repr__(self) -> str:
        return f"InstructionKind({self.name})"


def is_newest() -> bool:
    return printing.default_dialect == "0.27"


class Instruction:
    """One step of a trace.

    kind     what it does
    inputs   what it takes that other steps may give: handles, factors, the value of an annotation
    attrs    its other arguments, in order
    outputs  the handles that it gives
    """

    def __init__(self, kind: InstructionKind, inputs, attrs, outputs):
        if not isinstance(kind, InstructionKind):
            raise UserError(
                f"Instruction: the kind is a Python {type(kind).__name__}\n"
                'help: give InstructionKind.get("Split") or another'
            )
        for what, given in (("inputs", inputs), ("attrs", attrs), ("outputs", outputs)):
            if not hasattr(given, "__iter__") or isinstance(given, str):
                raise UserError(
                    f"Instruction: {what} of {kind.name} are a Python {type(given).__name__}, expected a list"
                )
        self.kind, self.inputs, self.attrs, self.outputs = kind, list(inputs), list(attrs), list(outputs)
        self.decision = None  # of a step that is part of a trace
        self._place = None  # (position, step) of one that a schedule has recorded
        _step(self, _Names())  # raises for what does not fit

    def same_as(self, other) -> bool:
        """True if it is this very instruction, or both are one step that a schedule has recorded."""
        return self == other

    def __eq__(self, other) -> bool:
        if not isinstance(other, Instruction) or self._place is None:
            return self is other
        return self._place == other._place

    def __hash__(self) -> int:
        return id(self) if self._place is None else hash(self._place)

    def __repr__(self) -> str:
        names = _Names(first=_FIRST_UNNAMED)
        for value in [*self.inputs, *self.outputs]:
            if kind_of(value):
                names.add(value)
        text = trace_of([self], {}, names).text().strip()
        return re.sub(rf"\b[blv]{str(_FIRST_UNNAMED)[:3]}\d+\b", "_", line_of_tvm(text))


_FIRST_UNNAMED = 777000000


class _Names:
    """Numbers of the handles of a trace, in the order of the steps that give them."""

    def __init__(self, first: int = 0):
        self._known, self._next = [], first

    def add(self, handle) -> int:
        number = self._next
        if isinstance(handle, Handle) and handle.name and number < _FIRST_UNNAMED:
            number = int(handle.name[1:])
        self._known.append((handle, number))
        self._next = max(self._next, number) + 1
        return number

    def of(self, handle) -> int | None:
        for known, number in reversed(self._known):
            if type(known) is type(handle) and (
                known is handle if isinstance(known, Handle) else _is_same(known, handle)
            ):
                return number
        return None


def _is_same(a, b) -> bool:
    return a.same_as(b) if isinstance(a, tir.Var) else a == b


# ---------------------------------------------------------------- instructions as steps of our traces


def plain(value):
    """An attribute as JSON writes it."""
    if isinstance(value, (tir.IntImm, tir.FloatImm)):
        return bool(value.value) if value.dtype == "bool" else value.value
    if isinstance(value, tir.StringImm):
        return value.value
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, ir.Object):
        return {"node": json.loads(tw.ir.save_json(value))}
    raise UserError(f"a Python {type(value).__name__} is no argument of a step")


def _takes(type_name: str) -> list[str]:
    """The kinds of handles that an argument of this type may be."""
    return [kind for word, kind in _KINDS.items() if re.search(rf"\b{word}\b", type_name)]


def from_inputs(primitive: str, arg: str, type_name: str) -> bool:
    """True if TVM counts the argument among the inputs; the others are attributes."""
    return bool(_takes(type_name)) or (primitive, arg) == ("annotate", "ann_val")


def _as_argument(inst: Instruction, arg: str, type_name: str, value, names: "_Names"):
    kind = kind_of(value)
    if kind is None:
        if type_name in ("Block", "Loop", "Block | Loop"):
            raise UserError(f"{inst.kind.name}: {arg} is a Python {type(value).__name__}, expected a handle")
        return plain(value)
    if kind not in _takes(type_name):
        raise UserError(f"{inst.kind.name}: {arg} cannot be a {kind}")
    number = names.of(value)
    return {kind: names.add(value) if number is None else number}


def _step(inst: Instruction, names: "_Names", decision=None) -> dict:
    """The instruction in the form that load_json takes."""
    primitive = inst.kind._primitive
    inputs, attrs = list(inst.inputs), list(inst.attrs)
    given = {}
    for arg, type_name, _, required in STEPS[primitive]:
        if arg == "decision":
            if decision is not None:
                given[arg] = plain(decision)
            continue
        is_input = from_inputs(primitive, arg, type_name)
        source = inputs if is_input else attrs
        if is_input and "list[" in type_name:
            given[arg] = [_as_argument(inst, arg, type_name, each, names) for each in inputs]
            inputs.clear()
        elif source:
            value = source.pop(0)
            if (
                "tuple[str, int]" in type_name
                and source
                and _is_side(source[0])
                and isinstance(value, int | tir.IntImm)
            ):
                value = [_SIDES.get(plain(source.pop(0)), "write"), value]
            given[arg] = _as_argument(inst, arg, type_name, value, names)
        elif required:
            what = "inputs" if is_input else "attrs"
            raise UserError(f"{inst.kind.name}: {arg} is missing in the {what}")
    for what, rest in (("inputs", inputs), ("attrs", attrs)):
        if rest:
            raise UserError(f"{inst.kind.name}: {len(rest)} of the {what} too many")
    return {"primitive": primitive, "args": given, "result": _results(inst, names)}


_SIDES = {0: "read", 1: "write", "read": "read", "write": "write"}


def _is_side(value) -> bool:
    return (
        plain(value) in _SIDES
        if not isinstance(value, bool) and isinstance(value, int | str | tir.IntImm)
        else False
    )


def _results(inst: Instruction, names: "_Names"):
    returns = _RETURNS[inst.kind._primitive]
    kinds = _takes(returns)
    for output in inst.outputs:
        kind = kind_of(output)
        if kind is None or kind not in kinds:
            found = f"a {kind}" if kind else f"a Python {type(output).__name__}"
            raise UserError(
                f"{inst.kind.name}: an output is {found}, expected {kinds[0] if kinds else 'none'}"
            )
    results = [{kind_of(output): names.add(output)} for output in inst.outputs]
    if returns.startswith("list["):
        return results
    if len(results) != len(kinds):
        raise UserError(f"{inst.kind.name}: {len(results)} outputs, expected {len(kinds)}")
    return results[0] if results else None


def trace_of(insts: list, decisions: dict, names: "_Names | None" = None) -> Trace:
    """Our trace of the instructions; without `names`, each input must be given by an instruction before."""
    steps, checks, given = [], names is None, set()
    names = names or _Names()
    for n, inst in enumerate(insts):
        if not isinstance(inst, Instruction):
            raise UserError(
                f"Trace: item {n} of insts is a Python {type(inst).__name__}, expected an Instruction"
            )
        for value in inst.inputs:
            if checks and kind_of(value) and names.of(value) is None and not isinstance(value, tir.Var):
                raise UserError(
                    f"Trace: step {n + 1}, {inst.kind.name}, takes a {kind_of(value)} that no step before it gives"
                )
        for value in inst.outputs:
            if checks and kind_of(value) and id(value) in given:
                raise UserError(
                    f"Trace: step {n + 1}, {inst.kind.name}, gives a {kind_of(value)} that is given already"
                )
            given.add(id(value))
        steps.append(_step(inst, names, decisions.get(inst)))
    return Trace.load_json(json.dumps({"tilewright_trace": 1, "steps": steps}))


# ---------------------------------------------------------------- steps of our traces as instructions


def to_handles(value, handles: dict):
    """Handles where JSON has {"loop": 2}, nodes where it has {"node": ...}."""
    if isinstance(value, list):
        return [to_handles(each, handles) for each in value]
    if isinstance(value, dict) and len(value) == 1:
        ((kind, number),) = value.items()
        if kind == "node":
            node = tw.ir.load_json(json.dumps(number))
            return [plain(each) for each in node.items] if isinstance(node, _Array) else node
        if kind in LETTERS:
            name = f"{LETTERS[kind]}{number}"
            return handles.setdefault(name, Handle(kind, name))
    return value


def instruction(step: dict, handles: dict) -> Instruction:
    primitive, args = step["primitive"], dict(step["args"])
    decision = args.pop("decision", None)
    inputs, attrs = [], []
    for arg, type_name, default, _ in STEPS[primitive]:
        if arg == "decision":
            continue
        value = to_handles(args[arg], handles) if arg in args else default
        if not from_inputs(primitive, arg, type_name):
            attrs.append(value)
        elif "list[" in type_name and isinstance(value, list):
            inputs += value
        else:
            inputs.append(value)
    outputs = to_handles(step["result"], handles)
    outputs = outputs if isinstance(outputs, list) else [] if outputs is None else [outputs]
    inst = Instruction.__new__(Instruction)
    inst.kind, inst.inputs, inst.attrs, inst.outputs = InstructionKind(primitive), inputs, attrs, outputs
    inst.decision, inst._place = decision, None
    return inst


# ---------------------------------------------------------------- as text


# arguments that TVM's traces leave out when they have their default
_SHORT_DEFAULTS = (None, [])
_DEFAULTS = {
    name: [
        (arg, default)
        for arg, _, default, required in args
        if name not in ("fuse", "reorder", "merge") or not required
    ]
    for name, args in STEPS.items()
}


def line_of_tvm(line: str) -> str:
    """A line of a trace as TVM writes it: with all arguments, also those that have their default."""
    (statement,) = ast.parse(line).body
    call = statement.value
    if not isinstance(call, ast.Call):
        return line

    def written(node) -> str:
        return ast.get_source_segment(line, node)

    given = {keyword.arg: written(keyword.value) for keyword in call.keywords}
    args = [written(each) for each in call.args]
    for name, default in _DEFAULTS[call.func.attr]:
        if name in given:
            value = given[name]
            args.append(
                f"{name}=({value[1:-1]})" if name == "buffer" and value[0] == "[" else f"{name}={value}"
            )
        elif default not in _SHORT_DEFAULTS or name == "pad_value":
            args.append(f"{name}={default!r}")
    line = f"{line[: line.index('(', line.index('sch.'))]}({', '.join(args)})"
    return line.replace("sch.get_block(", "sch.get_sblock(") if is_newest() else line
