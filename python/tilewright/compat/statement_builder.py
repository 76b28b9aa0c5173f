"""tvm.tir.ir_builder: statements one after the other, as functions of te.extern and tensor intrinsics write them.

ib = tvm.tir.ir_builder.create()
with ib.for_range(0, n) as i:
    out[i] = x[i] + 1                # out = ib.buffer_ptr(outs[0])
return ib.get()
"""

import contextlib

from tilewright import _core, tir
from tilewright.errors import Unsupported, UserError
from tilewright.ir._nodes import classes

_EXPR, _STMT, _BUFFER = classes["PrimExpr"], classes["Stmt"], classes["tir.Buffer"]
_KINDS = {"vectorize": "vectorized", "unroll": "unrolled"}


class BufferVar:
    """Memory that a builder reads and writes by index: x[i], x[i, j]; one index counts through all dimensions."""

    def __init__(self, builder: "IRBuilder", buffer):
        self._builder, self._buffer = builder, buffer

    def asobject(self):
        """The pointer."""
        return self._buffer.data

    @property
    def dtype(self) -> str:
        """Of an element."""
        return self._buffer.dtype

    def _indices(self, index) -> list:
        indices = list(index) if isinstance(index, tuple | list) else [index]
        indices = [tir.const_like(each, None) for each in indices]
        shape = list(self._buffer.shape)
        if len(indices) == 1 and len(shape) > 1:
            return self._unravelled(indices[0], shape)
        if len(indices) != len(shape):
            raise UserError(
                f"{self._buffer.name} has {len(shape)} dimensions, but {len(indices)} indices are given"
            )
        return indices

    def _unravelled(self, place, shape: list) -> list:
        if len(self._buffer.strides):
            raise Unsupported(
                f"{self._buffer.name} has strides, so one index does not find its elements\nhelp: give one per dimension"
            )
        indices = []
        for extent in reversed(shape):
            indices.insert(0, place % extent)
            place = place // extent
        return indices

    def __getitem__(self, index):
        return tir.BufferLoad(buffer=self._buffer, indices=self._indices(index))

    def __setitem__(self, index, value) -> None:
        value = tir.const(value, self.dtype) if not isinstance(value, _EXPR) else value
        if value.dtype != self.dtype:
            raise UserError(f"{self._buffer.name} holds {self.dtype}, but the value is {value.dtype}")
        self._builder.emit(tir.BufferStore(buffer=self._buffer, value=value, indices=self._indices(index)))


class IRBuilder:
    """Collects statements; `get` gives them as one."""

    def __init__(self):
        self._scopes: list[list] = [[]]  # statements, and functions that make one of all that follows
        self._condition = None  # of the last if_scope, for else_scope

    def emit(self, stmt) -> None:
        """Adds a statement, an expression for its effect, or a function that makes a statement of all that follows."""
        stmt = tir.Evaluate(stmt) if isinstance(stmt, _EXPR) else stmt
        if not isinstance(stmt, _STMT) and not callable(stmt):
            raise UserError(f"emit: a Python {type(stmt).__name__} is neither a statement nor an expression")
        self._scopes[-1].append(stmt)

    @contextlib.contextmanager
    def _scope(self, make, value=None):
        self._scopes.append([])
        yield value
        body = _joined(self._scopes.pop())
        self.emit(make(body))

    def for_range(self, begin, end, name: str = "i", dtype: str | None = None, kind: str = "serial"):
        """A loop from `begin` to before `end`; gives its variable."""
        end = tir.const_like(end, None)
        var = tir.Var(name, dtype or end.dtype)
        begin = tir.const_like(begin, var)
        fields = {
            "min": begin,
            "extent": end if _is_zero(begin) else end - begin,
            "loop_var": var,
            "for_kind": _KINDS.get(kind, kind),
            "thread_tag": "",
            "annotations": {},
        }
        return self._scope(lambda body: tir.For(**fields, body=body), var)

    def while_loop(self, condition):
        """Statements while a condition holds."""
        return self._scope(lambda body: tir.While(condition=condition, body=body))

    def if_scope(self, cond):
        """Statements if a condition holds."""
        return self._scope(lambda body: tir.IfThenElse(condition=cond, then_case=body, else_case=None))

    def else_scope(self):
        """Statements if the condition of the if_scope before does not hold."""
        before = self._scopes[-1][-1] if self._scopes[-1] else None
        if not isinstance(before, tir.IfThenElse) or before.else_case is not None:
            raise UserError("else_scope: there is no if_scope before it")
        self._scopes[-1].pop()
        return self._scope(lambda body: before.replace(else_case=body))

    def new_scope(self):
        """Statements whose allocations end with them."""
        return self._scope(lambda body: body)

    def scope_attr(self, node, attr_key: str, value) -> None:
        """An attribute of all that follows, e.g. ("thread_extent") of a te.thread_axis."""
        value = tir.StringImm(value) if isinstance(value, str) else tir.const_like(value, None)
        self.emit(lambda body: tir.AttrStmt(node, attr_key, value, body))

    def let(self, var_name: str, value):
        """A name for a value in all that follows."""
        value = tir.const_like(value, None)
        var = tir.Var(var_name, value.dtype)
        self.emit(lambda body: tir.LetStmt(value, var, body))
        return var

    def allocate(
        self, dtype: str, shape, name: str = "buf", axis_separators=None, scope: str = ""
    ) -> BufferVar:
        """Memory for all that follows."""
        shape = list(shape) if isinstance(shape, list | tuple) else [shape]
        buffer = tir.decl_buffer(
            [tir.const_like(each, None) for each in shape], dtype, name, scope or "global"
        )
        self.emit(lambda body: tir.AllocBuffer(buffer=buffer, annotations={}, body=body))
        return BufferVar(self, buffer)

    def pointer(self, content_type: str, name: str = "ptr", scope: str = "") -> BufferVar:
        """Refused: memory needs a shape."""
        raise Unsupported(
            "pointer: memory of no known size\nhelp: allocate says its shape, buffer_ptr takes a buffer"
        )

    def buffer_ptr(self, buffer, shape=None) -> BufferVar:
        """The elements of a buffer; `shape` reads them as one of that shape."""
        if not isinstance(buffer, _BUFFER):
            raise UserError(f"buffer_ptr: a Python {type(buffer).__name__} is no buffer")
        return BufferVar(self, buffer if shape is None else buffer.replace(shape=list(shape), strides=[]))

    def likely(self, expr):
        """`expr`, which mostly holds."""
        return _core.call_op("bool", "likely", [expr])

    def get(self):
        """All statements as one."""
        stmts, self._scopes[-1] = self._scopes[-1], []
        return _joined(stmts)


def _is_zero(value) -> bool:
    return isinstance(value, tir.IntImm) and value.value == 0


def _joined(stmts: list):
    """One statement; a function takes all that follows it."""
    done: list = []
    for stmt in reversed(stmts):
        if callable(stmt):
            done = [stmt(_joined(done))]
        else:
            done[:0] = stmt.seq if isinstance(stmt, tir.SeqStmt) else [stmt]
    if not done:
        return tir.Evaluate(tir.const(0))
    return done[0] if len(done) == 1 else tir.SeqStmt(done)


def create() -> IRBuilder:
    """A new builder."""
    return IRBuilder()


NAMES = {"create": create, "IRBuilder": IRBuilder, "BufferVar": BufferVar}
