"""ms.database: databases of tuning records with TVM's methods."""

import time
from pathlib import Path

from tilewright import _core, schedule, tune
from tilewright.errors import Unsupported, UserError
from tilewright.ir.module import IRModule
from tilewright.target import Target

from .entries import _FAILED_S, TuningRecord, Workload, _key_of, record_to_add
from .json_files import add_records, write_files


class _Queries:
    """What TVM's databases answer, by get_all_tuning_records or a faster way."""

    def has_workload(self, mod) -> bool:
        """True if there is a record, or a program, of the module."""
        workload = Workload(mod)
        return any(each.workload == workload for each in self.get_all_tuning_records())

    def get_top_k(self, workload: Workload, top_k: int) -> list[TuningRecord]:
        """The fastest records of a workload that were measured, at most top_k."""
        found = [
            each for each in self.get_all_tuning_records() if each.workload == workload and each.is_valid
        ]
        return sorted(found, key=lambda each: sum(each.run_secs) / len(each.run_secs))[:top_k]

    def query_tuning_record(self, mod, target, workload_name: str = "main") -> TuningRecord | None:
        """The fastest record of a module for a target; None if there is none."""
        key = _key_of(Workload(mod), target)
        found = (
            each
            for each in self.get_top_k(Workload(mod), 1 << 30)
            if _key_of(each.workload, each.target) == key
        )
        return next(found, None)

    def query_schedule(self, mod, target, workload_name: str = "main"):
        """The schedule of that record; None if there is none."""
        record = self.query_tuning_record(mod, target, workload_name)
        return None if record is None else record.schedule()

    def query_ir_module(self, mod, target, workload_name: str = "main"):
        """The module after that schedule; None if there is none."""
        sch = self.query_schedule(mod, target, workload_name)
        return None if sch is None else sch.mod

    def query(self, mod, target, *, workload_name: str = "main", kind: str = "schedule"):
        """The best for a module: its "schedule", "record" or "ir_module"; None if there is none."""
        kinds = {
            "schedule": self.query_schedule,
            "record": self.query_tuning_record,
            "ir_module": self.query_ir_module,
        }
        if kind not in kinds:
            raise UserError(f'query: kind is "{kind}", expected one of {", ".join(kinds)}')
        return kinds[kind](mod, target, workload_name)

    def dump_pruned(self, destination) -> None:
        """Adds the fastest record of each workload and target to another database."""
        best: dict = {}
        for each in self.get_all_tuning_records():
            key = (each.workload, str(each.target))
            if each.is_valid and (key not in best or min(each.run_secs) < min(best[key].run_secs)):
                best[key] = each
        for (workload, _), record in best.items():
            destination.commit_workload(workload.mod)
            destination.commit_tuning_record(record)

    def print_results(self) -> None:
        """Prints all records."""
        for each in self.get_all_tuning_records():
            print(each.run_secs, each.target)


class FileDatabase(_Queries, tune.RecordFile):
    """Records in SQLite, with TVM's methods."""

    def of_space(self, space: str) -> "FileDatabase":
        """The same file with the records of one space alone."""
        view = FileDatabase.__new__(FileDatabase)
        view._core, view.space = self._core, space
        return view

    def commit_workload(self, mod) -> Workload:
        """Adds a program, unless it is there."""
        workload = Workload(mod)
        self.add_program(workload.task)
        return workload

    def commit_tuning_record(self, record: TuningRecord) -> None:
        """Adds a record, which is the answer from now on if it is the fastest."""
        self.add_program(record.workload.task)
        self.add(record_to_add(record))

    def has_workload(self, mod) -> bool:
        return any(program == Workload(mod).program for program, _, _ in self.programs())

    def query_tuning_record(self, mod, target, workload_name: str = "main") -> TuningRecord | None:
        workload = Workload(mod)
        record = self.best(_key_of(workload, target))
        return None if record is None else _of_file(record, workload)

    def get_all_tuning_records(self) -> list[TuningRecord]:
        """All records, those that failed with 1e10 s as their time."""
        workloads = {program: Workload(IRModule.from_expr(func)) for program, _, func in self.programs()}
        return [
            _of_file(each, workloads[each.key.program])
            for each in self.records(with_failures=True)
            if each.key.program in workloads
        ]


def _of_file(record: _core.Record, workload: Workload) -> TuningRecord:
    if record.trace_json:
        trace = schedule.Trace.load_json(record.trace_json)
    else:
        trace = schedule.by_rules(workload.mod, record.target).trace
    return TuningRecord(trace, workload, record.seconds or [_FAILED_S], record.target)


def _require_equality(module_equality: str) -> None:
    if module_equality not in ("structural", "ignore-ndarray", "ignore-tensor"):
        raise Unsupported(
            f'module_equality is "{module_equality}"\nhelp: programs are equal by their structure, "structural"'
        )


class MemoryDatabase(FileDatabase):
    """Records in memory."""

    def __init__(self, module_equality: str = "structural"):
        _require_equality(module_equality)
        super().__init__()


class JSONDatabase(FileDatabase):
    """Records in the file tune.db of a folder; what TVM's JSON files there hold is read when it is opened.

    path_workload, path_tuning_record  of files that TVM has written, or that save_json() is to write
    work_dir       their folder, where they are database_workload.json and database_tuning_record.json
    module         the program of all records, where database_workload.json cannot be read; default none
    `refused`      [(line, reason)] of records that were not taken over
    """

    def __init__(
        self,
        path_workload=None,
        path_tuning_record=None,
        *,
        work_dir=None,
        allow_missing: bool = True,
        module_equality: str = "structural",
        module=None,
    ):
        _require_equality(module_equality)
        if work_dir is None and path_tuning_record is None:
            raise UserError("JSONDatabase: neither work_dir nor path_tuning_record is given")
        folder = Path(work_dir) if work_dir is not None else Path(path_tuning_record).parent
        self.path_workload = str(path_workload or folder / "database_workload.json")
        self.path_tuning_record = str(path_tuning_record or folder / "database_tuning_record.json")
        if not allow_missing and not Path(self.path_tuning_record).exists():
            raise UserError(f"JSONDatabase: there is no file {self.path_tuning_record}")
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(folder / "tune.db")
        self.refused = add_records(self, self.path_workload, self.path_tuning_record, module)

    def save_json(self) -> None:
        """Writes all records to path_workload and path_tuning_record, in the form of TVM's files."""
        write_files(self, self.path_workload, self.path_tuning_record)


class PyDatabase(_Queries, tune.Database):
    """The base class of databases written in Python, which need commit_workload, commit_tuning_record and get_all_tuning_records."""

    def commit_workload(self, mod) -> Workload:
        """Adds a program."""
        return Workload(mod)

    def commit_tuning_record(self, record: TuningRecord) -> None:
        """Adds a record."""
        raise Unsupported(f"{type(self).__name__} has no method commit_tuning_record(record)")

    def get_all_tuning_records(self) -> list[TuningRecord]:
        """All records."""
        raise Unsupported(f"{type(self).__name__} has no method get_all_tuning_records()")

    def best(self, key):
        """The fastest record for a key, as compiling looks it up."""
        found = [each for each in map(record_to_add, self.get_all_tuning_records()) if each.key == key]
        return min((each for each in found if each.seconds), key=lambda each: each.median, default=None)

    def __len__(self) -> int:
        return len(self.get_all_tuning_records())


class UnionDatabase(_Queries, tune.UnionDatabase):
    """The fastest record of several databases."""

    def get_all_tuning_records(self) -> list[TuningRecord]:
        """Those of all databases."""
        return [record for each in self.databases for record in each.get_all_tuning_records()]

    def query_tuning_record(self, mod, target, workload_name: str = "main") -> TuningRecord | None:
        record = self.best(_key_of(Workload(mod), target))
        return None if record is None else _of_file(record, Workload(mod))

    def commit_workload(self, mod):
        """Refused: it is not said to which."""
        raise UserError("UnionDatabase: commit to one of its databases")

    commit_tuning_record = commit_workload


class OrderedUnionDatabase(UnionDatabase, tune.OrderedUnionDatabase):
    """The record of the first of several databases that has one."""

    best = tune.OrderedUnionDatabase.best


class ScheduleFnDatabase(_Queries, tune.Database):
    """Schedules that a function makes: it changes the schedule that it is given and returns True, or returns False.

    It answers queries, and relax.transform.MetaScheduleApplyDatabase; compiling alone asks for keys of programs, not programs.
    """

    def __init__(self, schedule_fn, module_equality: str = "structural"):
        _require_equality(module_equality)
        self.schedule_fn = schedule_fn

    def best(self, key):
        """None: there are no records."""
        return

    def get_all_tuning_records(self) -> list[TuningRecord]:
        """None are kept."""
        return []

    def query_schedule(self, mod, target, workload_name: str = "main"):
        sch = schedule.Schedule(Workload(mod).mod)
        return sch if self.schedule_fn(sch) else None

    def query_tuning_record(self, mod, target, workload_name: str = "main") -> TuningRecord | None:
        sch = self.query_schedule(mod, target, workload_name)
        return None if sch is None else TuningRecord(sch.trace, Workload(mod), None, target)


def create(kind="json", *args, **named):
    """The database of a name, "json", "memory", "union" or "ordered_union", or of a function that schedules."""
    if callable(kind):
        return ScheduleFnDatabase(kind, *args, **named)
    kinds = {
        "json": JSONDatabase,
        "memory": MemoryDatabase,
        "union": UnionDatabase,
        "ordered_union": OrderedUnionDatabase,
    }
    if kind not in kinds:
        raise UserError(f"database is {kind!r}, expected one of {', '.join(kinds)}, or a function")
    return kinds[kind](*args, **named)


class _AnyDatabase(type):
    """Database: isinstance knows all databases."""

    def __instancecheck__(cls, value) -> bool:
        return isinstance(value, tune.Database) if cls is Database else super().__instancecheck__(value)


class Database(PyDatabase, metaclass=_AnyDatabase):
    """The base class of databases; Database.create(kind) makes one, Database.current() is that of the innermost `with`."""

    create = staticmethod(create)


NAMES = {
    "Database": Database,
    "PyDatabase": PyDatabase,
    "JSONDatabase": JSONDatabase,
    "MemoryDatabase": MemoryDatabase,
    "UnionDatabase": UnionDatabase,
    "OrderedUnionDatabase": OrderedUnionDatabase,
    "ScheduleFnDatabase": ScheduleFnDatabase,
    "TuningRecord": TuningRecord,
    "Workload": Workload,
    "create": create,
}
