"""Databases of tuning records, and where build and compile look up schedules of kernels."""

import json
from contextvars import ContextVar
from pathlib import Path

from . import _core
from ._guard import guard_module
from .errors import Error, Unsupported, UserError
from .ir import load_json, save_json
from .ir.module import IRModule, unwrapped
from .schedule import Schedule, Trace, by_rules
from .target import Target
from .tir import IntImm

Record, RecordKey = _core.Record, _core.RecordKey
_PROGRAM = "tilewright_program"
_current: ContextVar = ContextVar("tilewright.tune.database", default=None)


class Database:
    """Where schedules of kernels are looked up; a subclass needs best(key).

    As a context, it is used by tilewright.build and compile inside of `with`.
    >>> with tilewright.tune.RecordFile("tune.db"): executable = tilewright.compile("model.onnx")
    """

    def best(self, key) -> Record | None:
        """The fastest record for a key that beats the default schedule, or is the default schedule; None if there is none."""
        raise Unsupported(
            f"{type(self).__name__} has no method best(key)\nhelp: define it, as tune.UnionDatabase does"
        )

    def __enter__(self):
        self._tokens = [*getattr(self, "_tokens", []), _current.set(self)]
        return self

    def __exit__(self, *_):
        _current.reset(self._tokens.pop())

    @staticmethod
    def current() -> "Database | None":
        """The database of the innermost `with`, or None."""
        return _current.get()

    def schedule_for(self, mod, target="llvm") -> Schedule | None:
        """The schedule of the fastest record for the only loop program of `mod`; None if there is no record.

        A record of the default schedule gives the schedule of tilewright.schedule.by_rules.
        """
        (task,) = tasks_of(mod, target, exactly_one=True)
        record = self.best(task.key)
        if record is None:
            return None
        if not record.trace_json:
            return by_rules(task.module, target)
        sch = Schedule(task.module)
        Trace.load_json(record.trace_json).apply_to(sch._core)
        return sch


class RecordFile(Database):
    """Records in a SQLite file, which any number of processes may read and add to.

    path    the file; it is made if it is missing; ":memory:" is in memory alone; default
    Raises  UserError if it cannot be opened, is damaged or of a newer version; it is left as it is then
    >>> database = tilewright.tune.RecordFile("tune.db"); database.records(limit=1)
    """

    def __init__(self, path=":memory:", *, space: str = ""):
        self._core = _core.RecordFile(str(path))
        self.space = space

    @property
    def path(self) -> str:
        return self._core.path

    def of_space(self, space: str) -> "RecordFile":
        """The same file with the records of one space alone, whose best is the fastest, also if the default schedule is faster."""
        view = RecordFile.__new__(RecordFile)
        view._core, view.space = self._core, space
        return view

    def add(self, record: Record) -> int:
        """Adds a record, completely or not at all, and returns its id.

        Raises UserError if the disk is full, or another process has locked the file for a minute.
        """
        return self._core.add(record)

    def add_program(self, task) -> None:
        """Adds the loop program of a task, unless it is there."""
        self._core.add_program(task.key, task.name, task.func)

    def best(self, key) -> Record | None:
        if not self.space:
            return self._core.best(key)
        found = self.records(key, limit=1)
        return found[0] if found else None

    def records(self, key=None, *, limit: int = 0, with_failures: bool = False) -> list[Record]:
        """Records by their time relative to that of the default schedule in the same rounds, fastest first.

        key            of which program and machine; default all
        limit          how many at most; default 0, all
        with_failures  also those that failed, last; default False
        """
        return self._core.records(key, self.space, limit, with_failures)

    def programs(self) -> list[tuple]:
        """(hash, name, PrimFunc) of every program that was tuned."""
        return self._core.programs()

    def merge(self, other: "RecordFile") -> int:
        """Adds the records of another file that are not here yet, and returns how many."""
        return self._core.merge(other._core)

    def export(self, path) -> int:
        """Writes programs and records to a file as lines of JSON, and returns how many records.

        A line has the key "tilewright_program" or "tilewright_record"; import_ reads it.
        >>> tilewright.tune.RecordFile("tune.db").export("tune.jsonl")
        """
        records = self.records(with_failures=True)
        with Path(path).open("w") as file:
            for hash_, name, func in self.programs():
                line = {_PROGRAM: 1, "hash": hash_, "name": name, "program": json.loads(save_json(func))}
                file.write(json.dumps(line) + "\n")
            for record in records:
                file.write(record.to_json() + "\n")
        return len(records)

    def import_(self, path) -> int:
        """Adds the programs and records of a file that export wrote, and returns how many records were not here yet.

        Raises UserError if a line is none of these; nothing is added then
        >>> tilewright.tune.RecordFile("one.db").export("tune.jsonl")
        >>> tilewright.tune.RecordFile("two.db").import_("tune.jsonl")
        """
        added = RecordFile()
        for place, line in enumerate(Path(path).read_text().splitlines(), 1):
            try:
                found = json.loads(line)
                if isinstance(found, dict) and _PROGRAM in found:
                    func = load_json(json.dumps(found["program"]))
                    added._core.add_program(_core.RecordKey(found["hash"], ""), found["name"], func)
                else:
                    added.add(Record.from_json(line))
            except (ValueError, KeyError, Error) as error:
                reason = str(error).splitlines()[0].removeprefix("error: ")
                raise UserError(
                    f"{path}, line {place}: {reason}\nhelp: RecordFile.export writes such files; nothing was added"
                ) from None
        return self.merge(added)

    def prune(self, count: int = 1) -> int:
        """Keeps the fastest `count` records of each key and space, those first that surely beat the default schedule, and the
        default schedule's; returns how many it removed."""
        return self._core.prune(count)

    def __len__(self) -> int:
        return len(self.records(with_failures=True))

    def __repr__(self) -> str:
        return f"RecordFile({self.path!r})"


def records_in(path) -> list[tuple[str, Record]]:
    """(kernel, record) of the records that the library of a model carries: compile took its schedules from them.

    path    of the library
    Raises  UserError if it is no library of a model
    >>> ex.export_library("model.so")
    >>> tilewright.tune.records_in("model.so")
    """
    return _core.library_records(str(path))


def difference(one: RecordFile, other: RecordFile) -> list[tuple[str, RecordKey, float | None, float | None]]:
    """(name, key, seconds in one, seconds in other) of each program and machine, where the other gained most first.

    one, other  their best records are compared, by median times in s; None: it has none
    >>> one, other = tilewright.tune.RecordFile("one.db"), tilewright.tune.RecordFile("two.db")
    >>> [(name, a, b) for name, key, a, b in tilewright.tune.difference(one, other) if a and b and b < a]
    """
    names: dict[str, str] = {}
    keys: dict[RecordKey, None] = {}
    for each in (one, other):
        names |= {hash_: name for hash_, name, _ in each.programs()}
        keys |= {record.key: None for record in each.records()}
    rows = []
    for key in keys:
        medians = [None if (best := each.best(key)) is None else best.median for each in (one, other)]
        rows.append((names.get(key.program, key.program[:8]), key, *medians))

    def gain(row) -> float:
        return row[2] / row[3] if row[2] and row[3] else 1.0

    return sorted(rows, key=gain, reverse=True)


def trace_of(record: Record) -> Trace | None:
    """The trace of a record; None if its text is damaged, so that one record does not stand in the way of others.

    >>> [tilewright.records.trace_of(each) for each in tilewright.tune.RecordFile("tune.db").records()]
    """
    try:
        return Trace.load_json(record.trace_json)
    except UserError:
        return None


def speed_order(record: Record) -> tuple:
    """What sorts records, the fastest first, and then those that were not measured: as RecordFile.records does."""
    estimate = float("inf") if record.estimate is None else record.estimate
    return (not record.seconds, record.relative is None, record.relative or 0.0, record.median, estimate)


class UnionDatabase(Database):
    """The fastest record of several databases."""

    def __init__(self, *databases: Database):
        self.databases = databases

    def best(self, key) -> Record | None:
        found = [record for record in (each.best(key) for each in self.databases) if record is not None]
        return min(found, key=speed_order, default=None)


class OrderedUnionDatabase(UnionDatabase):
    """The record of the first of several databases that has one."""

    def best(self, key) -> Record | None:
        return next((found for each in self.databases if (found := each.best(key)) is not None), None)


def core_of_current():
    """The current database as bindings take it: an object with best(key), or None."""
    current = Database.current()
    return current._core if isinstance(current, RecordFile) and not current.space else current


class Task:
    """A loop program to tune for a target.

    name    of the kernel
    func    the PrimFunc
    key     of its records
    target  the Target
    weight  how often a model calls it
    """

    def __init__(self, name: str, func, key, target: Target, weight: int = 1):
        self.name, self.func, self.key, self.target, self.weight = name, func, key, target, weight

    @property
    def module(self):
        """The program alone, under the name that traces of records use."""
        name = _core.record_function
        return IRModule({name: self.func.with_attr("global_symbol", name)})

    @property
    def is_measurable(self) -> bool:
        """True if all extents of its parameters are known."""
        return all(
            buffer is not None and all(isinstance(extent, IntImm | int) for extent in buffer.shape)
            for buffer in self.func.buffers
        )

    def __repr__(self) -> str:
        return f"Task({self.name!r}, target={str(self.target)!r}, weight={self.weight})"


def tasks_of(mod, target="llvm", *, exactly_one: bool = False) -> list[Task]:
    """The loop programs of a module as tasks, equal ones together.

    mod     a module, or one PrimFunc
    target  text or Target; default "llvm", this machine
    Raises  UserError if exactly_one is given and there are none or several
    """
    mod = mod if isinstance(mod, IRModule) else IRModule.from_expr(mod)
    target = Target(target)
    tasks: dict = {}
    for name, func, key, num_calls in _core.tuning_tasks(unwrapped(mod), target):
        if key in tasks:
            tasks[key].weight += num_calls
        else:
            tasks[key] = Task(name, func, key, target, num_calls)
    if exactly_one and len(tasks) != 1:
        raise UserError(
            f"the module has {len(tasks)} different loop programs, expected one\n"
            'help: take one by tilewright.IRModule.from_expr(mod["name"])'
        )
    return list(tasks.values())


__all__ = [
    "Database",
    "OrderedUnionDatabase",
    "Record",
    "RecordFile",
    "Task",
    "UnionDatabase",
    "difference",
    "records_in",
    "tasks_of",
]
guard_module(__name__, globals(), __all__)
