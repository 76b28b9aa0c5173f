"""ms.database.Workload and TuningRecord, and the lines that TVM writes of them."""

import base64
import json
import time

from tilewright import _core, ir, schedule, tune
from tilewright.errors import Error, UserError
from tilewright.ir.module import IRModule
from tilewright.target import Target

from .. import traces
from .candidates import MeasureCandidate
from .running import ArgInfo
from .tvm_ir import read_module

#: what TVM gives as the time of a trial that failed
_FAILED_S = 1e10


class Workload:
    """A module with one loop program."""

    def __init__(self, mod):
        (self.task,) = tune.tasks_of(mod, exactly_one=True)
        self.mod = self.task.module

    @property
    def program(self) -> str:
        """The hash of the program."""
        return self.task.key.program

    def same_as(self, other) -> bool:
        """True if it is the same program."""
        return self == other

    def __eq__(self, other) -> bool:
        return isinstance(other, Workload) and self.program == other.program

    def __hash__(self) -> int:
        return hash(self.program)

    def as_json(self) -> list:
        """[hash, module as this database writes it]."""
        return workload_line(self)

    @staticmethod
    def from_json(json_obj) -> "Workload":
        """That of as_json, or of a line of TVM's database_workload.json."""
        return Workload(module_of_line(json_obj))


class TuningRecord:
    """One trial.

    trace      the steps
    workload   of what
    run_secs   times in seconds; None: it was not measured
    target     for what
    args_info  what the parameters are; default: as the workload says
    """

    def __init__(self, trace, workload: Workload, run_secs=None, target=None, args_info=None):
        self.trace, self.workload = trace, workload
        self.run_secs = None if run_secs is None else [float(each) for each in run_secs]
        self.target = None if target is None else Target(target)
        infos = args_info if args_info is not None else ArgInfo.from_entry_func(workload.mod)
        self.args_info = list(infos)

    def as_measure_candidate(self):
        """The schedule, as what is measured."""
        return MeasureCandidate(self.schedule(), self.args_info)

    def schedule(self) -> schedule.Schedule:
        """The workload after the steps."""
        sch = schedule.Schedule(self.workload.mod)
        self.trace.apply_to(sch._core)
        return sch

    @property
    def is_valid(self) -> bool:
        """True if it was measured."""
        return bool(self.run_secs) and max(self.run_secs) < _FAILED_S

    def as_json(self) -> list:
        """[trace, times, target, parameters], as TVM writes it."""
        return record_line(self)

    @staticmethod
    def from_json(json_obj, workload: Workload) -> "TuningRecord":
        """That of as_json."""
        return record_of_line(json_obj, workload)


def _key_of(workload: Workload, target):
    (task,) = tune.tasks_of(workload.mod, target or "llvm", exactly_one=True)
    return task.key


def record_to_add(record: TuningRecord) -> _core.Record:
    """A record that a user commits, in the form of the file: it is an answer, as the user says so."""
    made = _core.Record()
    target = record.target or Target("llvm")
    made.key, made.target, made.space = _key_of(record.workload, target), str(target), "committed"
    made.trace_json = record.trace.save_json()
    if record.is_valid:
        made.seconds, made.beats_default = record.run_secs, True
    else:
        made.failure = "it was not measured" if not record.run_secs else "it failed when it was measured"
    made.version, made.time = _core.version, int(time.time())
    return made


def workload_line(workload) -> list:
    """[hash, module]: the module is in tilewright's JSON, which only tilewright reads."""
    text = ir.save_json(workload.mod).encode()
    return [workload.program, base64.b64encode(len(text).to_bytes(8, "little") + text).decode()]


def module_of_line(line) -> IRModule:
    """The module of a line of TVM's file or of ours.

    Raises UserError or Unsupported if it cannot be read
    """
    try:
        _, encoded = line
        data = base64.b64decode(encoded, validate=True)
        # the length, as a number of 8 bytes, is before the text
        text = data[8:] if data[8:9] == b"{" else data
        graph = json.loads(text)
    except (TypeError, ValueError):
        raise UserError("database_workload.json: this is no line of a hash and a module") from None
    is_ours = isinstance(graph, dict) and "format" in graph
    return ir.load_json(text.decode()) if is_ours else read_module(graph)


def _target_of(given) -> Target:
    if isinstance(given, str):
        return Target(given)
    words = [given["kind"]]
    for key, value in given.items():
        if key in ("mcpu", "num-cores", "mattr"):
            words.append(f"-{key}={','.join(value) if isinstance(value, list) else value}")
    return Target(" ".join(words))


def record_line(record) -> list:
    """[trace, times, target, parameters]."""
    target = record.target or Target("llvm")
    words = dict(_words(target))
    return [
        traces._as_json(record.trace),
        record.run_secs or [1e10],
        {"kind": target.kind, "tag": "", "keys": list(target.keys), **words},
        [each.as_json() for each in record.args_info],
    ]


def _words(target: Target):
    for word in str(target).split()[1:]:
        name, _, value = word.lstrip("-").partition("=")
        if name != "keys":
            yield name, int(value) if value.isdigit() else value


def record_of_line(line, workload):
    """The TuningRecord of [trace, times, target, parameters].

    Raises UserError for steps that do not fit the program
    """
    try:
        trace, seconds, target, infos = line
        given = [ArgInfo.from_json(each) for each in infos] if infos is not None else None
        target = None if target is None else _target_of(target)
    except Error:
        raise
    except (TypeError, ValueError, KeyError):
        raise UserError(
            "database_tuning_record.json: this is no line of trace, times, target and parameters"
        ) from None
    record = TuningRecord(traces._from_json(_with_values(trace)), workload, seconds, target, given)
    record.schedule()  # raises for steps that do not fit
    return record


def _with_values(trace) -> list:
    """A trace of TVM with numbers where annotations have what a sample chose, which steps here do not take, and blocks that
    consume a cache one by one."""
    steps, decisions = trace
    decided, chosen = dict(decisions), {}
    changed = []
    for place, (kind, inputs, attrs, outputs) in enumerate(steps):
        if kind == "SampleCategorical" and decided.get(place) is not None:
            chosen[outputs[0]] = attrs[0][decided[place]]
        if kind == "Annotate":
            inputs = [inputs[0], *(chosen.get(each, each) for each in inputs[1:])]
        if kind in ("CacheRead", "CacheWrite"):
            inputs = [
                inputs[0],
                *(block for each in inputs[1:] for block in (each if isinstance(each, list) else [each])),
            ]
        changed.append([kind, inputs, attrs, outputs])
    return [changed, decisions]
