"""tvm.tir.schedule's Trace: taken apart, made by hand and replayed with other decisions."""

import json

import tilewright as tw
from tilewright import ir
from tilewright.errors import UserError
from tilewright.ir import printing
from tilewright.schedule import Trace

from . import instructions
from .instructions import Handle, Instruction, InstructionKind


def _insts(self) -> list[Instruction]:
    """The steps."""
    if not hasattr(self, "_made"):
        handles: dict = {}
        self._made = []
        for step in json.loads(self.save_json())["steps"]:
            self._made.append(instructions.instruction(step, handles))
            self._made[-1]._place = (len(self._made), json.dumps(step))
        self._drawn = {inst: inst.decision for inst in self._made if inst.decision is not None}
    return list(self._made)


def _decisions(self) -> dict:
    """{step: what it drew} of all sample_* steps."""
    insts = _insts(self)
    return {inst: self._drawn[inst] for inst in insts if self._drawn.get(inst) is not None}


def _get_decision(self, inst: Instruction):
    """The value that a sample_* step drew; None for other steps."""
    return _decisions(self).get(inst)


def _checked_decisions(insts: list, decisions) -> dict:
    found = {}
    for inst, decision in dict(decisions or {}).items():
        if inst not in insts:
            raise UserError("Trace: a decision is given for an instruction that is not among insts")
        found[inst] = _decision_for(inst, decision, "Trace")
    return found


def _draws(inst: Instruction) -> bool:
    return any(arg == "decision" for arg, *_ in instructions.STEPS[inst.kind._primitive])


def _decision_for(inst: Instruction, decision, what: str):
    if not _draws(inst):
        raise UserError(f"{what}: {inst.kind.name} draws nothing, but has a decision")
    return _as_decision(decision, what)


def _as_decision(decision, what: str):
    decision = instructions.plain(decision)
    numbers = decision if isinstance(decision, list) else [decision]
    if decision is not None and not all(type(each) is int for each in numbers):
        raise UserError(
            f"{what}: the decision is {decision!r}, expected an integer, a list of them, or None to draw again"
        )
    return decision


def make_trace(insts, decisions=None) -> Trace:
    """A trace made by hand.

    insts      instructions, each of whose inputs is an output of one before it
    decisions  {instruction: what a sample_* step drew}; default none: it draws when the trace is applied
    Raises     UserError for instructions that do not fit together
    """
    if not hasattr(insts, "__iter__"):
        raise UserError(f"Trace: insts are a Python {type(insts).__name__}, expected a list of instructions")
    insts = list(insts)
    decisions = _checked_decisions(insts, decisions)
    return _set(instructions.trace_of(insts, decisions), insts, decisions)


def _set(trace: Trace, insts: list, decisions: dict) -> Trace:
    # a step may be part of several traces, which decide it differently
    trace._made, trace._drawn = insts, dict(decisions)
    return trace


def _append(self, inst: Instruction, decision=None) -> None:
    """Adds a step at the end.

    decision  what a sample_* step draws; default None: it draws when the trace is applied
    """
    insts, decisions = [*_insts(self), inst], _decisions(self)
    if decision is not None and isinstance(inst, Instruction):
        decisions[inst] = _decision_for(inst, decision, "append")
    self._assign(instructions.trace_of(insts, decisions))
    _set(self, insts, decisions)


def _pop(self) -> Instruction | None:
    """Takes the last step away and gives it; None, and nothing is taken, when it follows enter_postproc or there is none."""
    insts, decisions = _insts(self), _decisions(self)
    if not insts or insts[-1].kind.name == "EnterPostproc":
        return None
    last = insts.pop()
    decisions.pop(last, None)
    self._assign(instructions.trace_of(insts, decisions))
    self._made = insts
    return last


def _with_decision(self, inst: Instruction, decision, remove_postproc: bool):
    """A trace with another decision of one sample_* step, and without postprocessing if asked.

    decision  None: it draws when the trace is applied
    """
    insts = _insts(self)
    if inst not in insts:
        raise UserError("with_decision: the instruction is not part of the trace")
    if not _draws(inst):
        raise UserError(f"with_decision: step {insts.index(inst) + 1}, {inst.kind.name}, draws nothing")
    steps = json.loads(self.save_json())
    steps["steps"][insts.index(inst)]["args"]["decision"] = _as_decision(decision, "with_decision")
    changed = Trace.load_json(json.dumps(steps))
    return changed.without_postproc() if remove_postproc else changed


def _apply_to_schedule(
    self, sch, remove_postproc: bool = False, decision_provider=None, run=Trace.apply_to_schedule
) -> None:
    """Runs the steps of this trace on `sch`, all or none.

    decision_provider  of (instruction, its inputs in sch, its attributes, what the trace decided): what a sample_* step
                       shall draw instead; default None
    """
    if decision_provider is None:
        return run(self, sch, remove_postproc)
    trial = sch.fork(0)
    trial._core = sch._core.fork(sch._core.copy().fork_seed())
    found: dict = {}
    decided = _decisions(self)
    for n, inst in enumerate(_insts(self)):
        if remove_postproc and inst.kind.name == "EnterPostproc":
            break
        inputs = [
            found.get(repr(each), each) if instructions.kind_of(each) else each
            for each in _named(self)[n].inputs
        ]
        decision = decision_provider(inst, inputs, inst.attrs, decided.get(inst))
        step = json.loads(self.save_json())["steps"][n]
        args = {arg: _in_schedule(value, found) for arg, value in step["args"].items() if arg != "decision"}
        if _draws(inst):
            args["decision"] = None if decision is None else instructions.plain(decision)
        result = trial._core.run(step["primitive"], [], args)
        names = [repr(each) for each in _named(self)[n].outputs]
        results = result if isinstance(result, list) else [] if result is None else [result]
        found.update(zip(names, results, strict=False))
    sch._core = trial._core
    return None


def _named(trace: Trace) -> list[Instruction]:
    """The steps with the names that handles have in the trace."""
    handles: dict = {}
    return [instructions.instruction(step, handles) for step in json.loads(trace.save_json())["steps"]]


def _in_schedule(value, found: dict):
    """Handles of a trace as those of the schedule that it runs on."""
    if isinstance(value, list):
        return [_in_schedule(each, found) for each in value]
    value = instructions.to_handles(value, {})
    return found.get(value.name, value) if isinstance(value, Handle) else value


# ---------------------------------------------------------------- as text


def _as_python(self, remove_postproc: bool = False) -> list[str]:
    """The steps as lines of Python."""
    text = (self.without_postproc() if remove_postproc else self).text()
    return [instructions.line_of_tvm(line) for line in text.splitlines() if line]


def trace_text(self, indent: int | None = None) -> str:
    """The trace as a Python function of a schedule, as TVM prints it."""
    module = "s_tir" if instructions.is_newest() else "tir"
    margin = " " * (indent or (4 if printing.default_dialect == "2022" else 2))
    body = [margin + line for line in _as_python(self)] or [f"{margin}pass"]
    return "\n".join(
        [f"# from tvm import {module}", f"def apply_trace(sch: {module}.Schedule) -> None:", *body]
    )


# ---------------------------------------------------------------- as JSON


def _as_json(self, remove_postproc: bool = False) -> list:
    """[[[kind, inputs, attributes, outputs], ...], [[step, decision], ...]], handles by name."""

    def written(value):
        if instructions.kind_of(value):
            return repr(value)
        if isinstance(value, str):
            return json.dumps(value)
        if isinstance(value, ir.Object):
            return {"node": json.loads(tw.ir.save_json(value))}
        return [written(each) for each in value] if isinstance(value, list) else value

    steps, decisions = [], []
    for n, inst in enumerate(_named(self.without_postproc() if remove_postproc else self)):
        attrs = [tw.ir.save_json(each) if isinstance(each, ir.Object) else each for each in inst.attrs]
        steps.append([inst.kind.name, written(inst.inputs), attrs, written(inst.outputs)])
        if inst.decision is not None:
            decisions.append([n, inst.decision])
    return [steps, decisions]


def _from_json(json_obj) -> Trace:
    try:
        steps, decided = json_obj
        decided = dict(decided)
        handles: dict = {}

        def read(value):
            value = str(value) if isinstance(value, str) else value
            match = instructions.HANDLE.fullmatch(value) if isinstance(value, str) else None
            if match:
                kind = next(kind for kind, letter in instructions.LETTERS.items() if letter == match[1])
                return handles.setdefault(value, Handle(kind, value))
            return json.loads(value) if isinstance(value, str) else instructions.to_handles(value, {})

        insts = []
        for kind, inputs, attrs, outputs in steps:
            kind = InstructionKind.get(kind)
            rows = [
                arg
                for arg in instructions.STEPS[kind._primitive]
                if not instructions.from_inputs(kind._primitive, *arg[:2])
            ]
            attrs = [
                tw.ir.load_json(attr) if type_name == "IndexMap" and isinstance(attr, str) else attr
                for attr, (_, type_name, *_) in zip(attrs, rows, strict=False)
            ] + list(attrs)[len(rows) :]
            insts.append(
                Instruction(kind, [read(each) for each in inputs], attrs, [read(each) for each in outputs])
            )
        decisions = {insts[n]: decision for n, decision in decided.items()}
    except (TypeError, ValueError, KeyError, IndexError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError("apply_json_to_schedule: this is not what as_json gives") from None
    return make_trace(insts, decisions)


def _apply_json_to_schedule(json_obj, sch) -> None:
    """Runs the steps that as_json() gave on a schedule."""
    if isinstance(json_obj, str):
        Trace.load_json(json_obj).apply_to_schedule(sch)
    else:
        _from_json(json_obj).apply_to_schedule(sch)


class _TraceStandIn(type):
    """tir.schedule.Trace: called, it makes a trace; otherwise it is the class of traces."""

    def __instancecheck__(cls, value) -> bool:
        return isinstance(value, Trace)

    def __getattr__(cls, name: str):
        return getattr(Trace, name)

    def __call__(cls, insts, decisions=None):
        return make_trace(insts, decisions)


TRACE = _TraceStandIn("Trace", (), {"__doc__": Trace.__doc__})


def add() -> None:
    """Gives traces these methods."""
    Trace.insts = property(_insts)
    Trace.decisions = property(_decisions)
    Trace.get_decision = _get_decision
    Trace.with_decision = _with_decision
    Trace.append = _append
    Trace.pop = _pop
    Trace.as_python = _as_python
    Trace.as_json = _as_json
    Trace.__str__ = Trace.__repr__ = trace_text
    Trace.show = lambda self: print(trace_text(self, indent=4))
    Trace.apply_to_schedule = _apply_to_schedule
    Trace.apply_json_to_schedule = staticmethod(_apply_json_to_schedule)
