"""database_workload.json and database_tuning_record.json as TVM writes them: one line of JSON for each entry."""

import json
from pathlib import Path

from tilewright.errors import Error, InternalError, UserError

from .entries import Workload, module_of_line, record_line, record_of_line, record_to_add, workload_line


def _lines(path: str) -> list:
    if not Path(path).is_file():
        return []
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]


def _reason(error: Error) -> str:
    if isinstance(error, InternalError):
        raise error
    return str(error).splitlines()[0].removeprefix("error: ")


def add_records(database, path_workload: str, path_tuning_record: str, module=None) -> list[tuple[int, str]]:
    """Adds the records of TVM's files that are not in a database yet; [(line, reason)] of those that do not fit.

    module  the program of all records; default: as path_workload says
    """
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
    workloads = "".join(json.dumps(workload_line(each)) + "\n" for each in places)
    Path(path_workload).write_text(workloads, encoding="utf-8")
    Path(path_tuning_record).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
