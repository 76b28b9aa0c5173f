"""database_workload.json and database_tuning_record.json as TVM writes them: one line of JSON for each entry."""

import base64
import json
from pathlib import Path

from tilewright import ir
from tilewright.errors import Error, InternalError, UserError
from tilewright.ir.module import IRModule
from tilewright.target import Target

from .. import traces
from .tvm_ir import read_module


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
    from .database import TuningRecord
    from .running import ArgInfo

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


def _lines(path: str) -> list:
    if not Path(path).is_file():
        return []
    return [json.loads(line) for line in Path(path).read_text().splitlines() if line.strip()]


def _reason(error: Error) -> str:
    if isinstance(error, InternalError):
        raise error
    return str(error).splitlines()[0].removeprefix("error: ")


def add_records(database, path_workload: str, path_tuning_record: str, module=None) -> list[tuple[int, str]]:
    """Adds the records of TVM's files that are not in a database yet; [(line, reason)] of those that do not fit.

    module  the program of all records; default: as path_workload says
    """
    from .database import Workload, record_to_add

    try:
        records, programs = _lines(path_tuning_record), _lines(path_workload)
    except ValueError as error:
        raise UserError(f"{path_tuning_record}: a line is no JSON: {error}") from None
    refused, workloads = [], {}
    known = {_identity(each) for each in database.records(with_failures=True)} if records else set()
    for number, line in enumerate(records, 1):
        try:
            place, rest = line
            if place not in workloads:
                workloads[place] = Workload(module if module is not None else module_of_line(programs[place]))
            made = record_to_add(record_of_line(rest, workloads[place]))
            if _identity(made) not in known:
                known.add(_identity(made))
                database.add_program(workloads[place].task)
                database.add(made)
        except Error as error:
            refused.append((number, _reason(error)))
        except (TypeError, ValueError, IndexError):
            refused.append((number, "this is no line of a workload and a record"))
    return refused


def _identity(record) -> tuple:
    return (record.key.program, record.trace_json, tuple(record.seconds))


def write_files(database, path_workload: str, path_tuning_record: str) -> None:
    """Writes the records of a database in the form of TVM's files."""
    places: dict = {}
    lines = []
    for record in database.get_all_tuning_records():
        place = places.setdefault(record.workload, len(places))
        lines.append(json.dumps([place, record_line(record)]))
    Path(path_workload).write_text("".join(json.dumps(workload_line(each)) + "\n" for each in places))
    Path(path_tuning_record).write_text("".join(line + "\n" for line in lines))
