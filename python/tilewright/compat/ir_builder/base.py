"""The builder: a stack of frames, each of which becomes a node when its `with` ends."""

from tilewright import _core, tir
from tilewright._stack import ContextStack
from tilewright.errors import UserError
from tilewright.ir._nodes import classes
from tilewright.ir.module import unwrapped, wrapped

_open = ContextStack()
_GraphVar = classes["relax.Var"]


class Frame:
    """A frame that a `with` statement opens.  The statement gives `value`; `finish` makes the result of the statements inside."""

    def __init__(self, value=None):
        self.value = value
        self.stmts: list = []

    def __enter__(self):
        IRBuilder.current().frames.append(self)
        return self.value if self.value is not None else self

    def __exit__(self, kind, error, trace) -> None:
        builder = IRBuilder.current()
        builder.frames.pop()
        if error is None:
            self.finish(builder)

    def finish(self, builder: "IRBuilder") -> None:
        """Hands the result over to the frame around this one, or to the builder."""
        raise NotImplementedError

    def body(self):
        """The statements as one; nothing at all is a no-op."""
        flat = []
        for stmt in self.stmts:
            flat.extend(stmt.seq if isinstance(stmt, tir.SeqStmt) else [stmt])
        if not flat:
            return tir.Evaluate(tir.const(0))
        return flat[0] if len(flat) == 1 else tir.SeqStmt(flat)


class StmtFrame(Frame):
    """A frame whose body becomes one statement."""

    def __init__(self, make, value=None):
        super().__init__(value)
        self.make = make

    def finish(self, builder: "IRBuilder") -> None:
        builder.add(self.make(self.body()))


class IRBuilder:
    """Collects what frames make; `get` gives the last result of the outermost one."""

    def __init__(self):
        self.frames: list[Frame] = []
        self.names: dict = {}  # node: the name it shall have
        self._result = None

    def __enter__(self) -> "IRBuilder":
        return _open.push(self)

    def __exit__(self, kind, error, trace) -> None:
        _open.pop()

    @staticmethod
    def current() -> "IRBuilder":
        """The innermost builder of this thread; raises UserError if there is none."""
        if _open.top is None:
            raise UserError("there is no IRBuilder here\nhelp: write it inside `with IRBuilder() as ib:`")
        return _open.top

    @staticmethod
    def is_in_scope() -> bool:
        """True if there is a builder."""
        return _open.top is not None

    def get(self):
        """The program that was built; raises UserError if no frame has ended."""
        if self._result is None:
            raise UserError("nothing was built: no frame has ended")
        return renamed(self._result, self.names)

    @staticmethod
    def name(name: str, value):
        """`value`, which is printed as `name` in what the builder gives."""
        if isinstance(value, (tir.Var, tir.Buffer, tir.IterVar, _GraphVar)):
            IRBuilder.current().names[value] = name
        return value

    @staticmethod
    def name_many(names: list, values: list) -> list:
        """The same for several."""
        return [IRBuilder.name(name, value) for name, value in zip(names, values, strict=True)]

    def find(self, kind, what: str):
        """The innermost frame of `kind`; raises UserError, calling what needs it `what`."""
        for frame in reversed(self.frames):
            if isinstance(frame, kind):
                return frame
        raise UserError(f"{what} is allowed only inside {kind.SHOWN}")

    def add(self, stmt) -> None:
        """A statement of the innermost frame, or the result if there is none."""
        if self.frames:
            self.frames[-1].stmts.append(stmt)
        elif self._result is None:
            self._result = stmt
        else:
            first = self._result.seq if isinstance(self._result, tir.SeqStmt) else [self._result]
            self._result = tir.SeqStmt([*first, stmt])

    def set_result(self, result) -> None:
        """`result`, a function or module, is what was built."""
        self._result = result


def renamed(node, names: dict):
    """`node` with other names of some of its variables and buffers, wherever they stand."""
    known: dict = {}  # nodes are kept, so that none takes the place of another

    def visit(value):
        if isinstance(value, (list, tuple)):
            return [visit(item) for item in value]
        if isinstance(value, dict):
            return {key: visit(item) for key, item in value.items()}
        if not isinstance(value, _core.Object):
            return value
        if id(value) not in known:
            known[id(value)] = (value, changed(value))
        return known[id(value)][1]

    def changed(value):
        changes = {}
        for field in value.field_names:
            old = getattr(value, field)
            new = visit(old) if field != "span" else old
            if not _same(old, new):
                changes[field] = new
        name = next((name for other, name in names.items() if other.same_as(value)), None)
        if name is not None and isinstance(value, (tir.Var, tir.Buffer, _GraphVar)):
            changes["name" if isinstance(value, tir.Buffer) else "name_hint"] = name
        return value.replace(**changes) if changes else value

    if not names:
        return node
    names = {(item.var if isinstance(item, tir.IterVar) else item): name for item, name in names.items()}
    return wrapped(visit(unwrapped(node)))


def _same(old, new) -> bool:
    if isinstance(old, (list, tuple)):
        return all(_same(a, b) for a, b in zip(old, new, strict=True))
    if isinstance(old, dict):
        return all(_same(old[key], new[key]) for key in old)
    return old is new or (not isinstance(old, _core.Object) and old == new)
