"""Loop programs in the form that tvm.lower gave until 2025: flat views of buffers, guards marked as likely, launched threads."""

from tilewright import _core, tir
from tilewright.ir._nodes import classes

_VAR, _IF, _FOR, _AND = classes["tir.Var"], classes["tir.IfThenElse"], classes["tir.For"], classes["tir.And"]
_STORE, _LOAD = classes["tir.BufferStore"], classes["tir.BufferLoad"]


_BODIES = {
    "tir.IfThenElse": "then_case",
    **{f"tir.{name}": "body" for name in ("For", "AttrStmt", "LetStmt", "DeclBuffer", "AllocBuffer")},
}


def guarded(func):
    """Conditions of loops that do not run over the end, one by one, in the outermost loop where they are known; those of threads
    stay inside."""
    body = _transformed(func.body, _without_unit_loop)
    serial = [
        loop.loop_var for loop in _nodes(body, lambda node: isinstance(node, _FOR) and not node.thread_tag)
    ]
    return func.replace(body=_transformed(body, lambda node: _with_guards(node, serial)))


def flat(func):
    """Indices that occur several times get names, loops that are bound become launched threads, and flat buffers a declaration
    where they are first used."""
    is_bound = any(_nodes(func.body, lambda node: isinstance(node, _FOR) and node.thread_tag))
    if is_bound:
        func = func.replace(body=_transformed(func.body, _launched))
    else:
        func = _with_names(func)
    return _with_views(func).with_attr("from_legacy_te_schedule", True)


def _with_names(func):
    """Common indices are computed once, inside of all guards."""
    guards: dict = {}

    def hide(node):
        if not isinstance(node, _IF):
            return None
        stand_in = tir.Var("guard", "bool")
        guards[stand_in] = node.condition
        return node.replace(condition=stand_in)

    hidden = func.replace(body=_transformed(func.body, hide))
    named = _core.lowering_step("common_subexpr_elim", hidden)
    return named.replace(body=tir.substitute(named.body, guards))


def _with_views(func):
    views: list = []  # (flat buffer as lowering made it, its view)
    for buffer in _flat_buffers(func.body):
        shape = _view_shape(func, buffer)
        views.append((buffer, buffer.replace(shape=shape, data_alignment=64)))

    def renamed(node):
        for buffer, view in views:
            if isinstance(node, _STORE | _LOAD) and node.buffer.same_as(buffer):
                return node.replace(buffer=view)
        return None

    body = _transformed(func.body, renamed)
    for _, view in views:
        body = _declared(body, view)
    return func.replace(body=body)


def _view_shape(func, flat_buffer) -> list:
    """Of memory with strides, the first stride times the first extent."""
    for buffer in func.buffers:
        if buffer is not None and buffer.data.same_as(flat_buffer.data) and len(buffer.strides):
            return [buffer.strides[0] * buffer.shape[0]]
    return list(flat_buffer.shape)


def _transformed(node, change):
    from ..tir_functions import ir_transform

    return ir_transform(node, None, change)


def _nodes(stmt, wanted) -> list:
    found: list = []
    tir.post_order_visit(stmt, lambda node: found.append(node) if wanted(node) else None)
    return found


def _uses(stmt, var) -> bool:
    return bool(_nodes(stmt, lambda node: isinstance(node, _VAR) and node.same_as(var)))


# ---------------------------------------------------------------- guards


def _without_unit_loop(node):
    if isinstance(node, _FOR) and not node.thread_tag and _is_one(node.extent):
        return tir.substitute(node.body, {node.loop_var: node.min})
    return None


def _is_one(extent) -> bool:
    return isinstance(extent, classes["ir.IntImm"]) and extent.value == 1


def _with_guards(node, serial: list):
    if isinstance(node, _IF):
        return None if node.else_case is not None else _nested(node.condition, node.then_case)
    if isinstance(node, _FOR) and not node.thread_tag:
        return _hoisted(node, serial)
    return None


def _nested(condition, body):
    if isinstance(condition, _AND):
        return _nested(condition.a, _nested(condition.b, body))
    if not isinstance(condition, classes["tir.Call"]):
        condition = tir.likely(condition)
    return tir.IfThenElse(condition, body)


def _hoisted(loop, serial: list):
    """Guards that do not depend on the loop, but on one of `serial`, stand around it."""
    inside, outside = loop.body, []
    kept = []
    while isinstance(inside, _IF) and inside.else_case is None:
        stays = _uses(inside.condition, loop.loop_var) or not any(
            _uses(inside.condition, var) for var in serial
        )
        (kept if stays else outside).append(inside.condition)
        inside = inside.then_case
    if not outside:
        return None
    for condition in reversed(kept):
        inside = tir.IfThenElse(condition, inside)
    changed = loop.replace(body=inside)
    for condition in reversed(outside):
        changed = tir.IfThenElse(condition, changed)
    return changed


# ---------------------------------------------------------------- threads and views


def _launched(node):
    from .stages import thread_axis

    if not isinstance(node, _FOR) or not node.thread_tag:
        return None
    axis = thread_axis(node.thread_tag, name=node.thread_tag.replace(".", "_"))
    body = tir.substitute(node.body, {node.loop_var: axis.var})
    return tir.AttrStmt(axis, "thread_extent", node.extent, body)


def _flat_buffers(body) -> list:
    """Buffers that the program accesses and does not declare, in the order of their first use."""
    declared = _nodes(
        body, lambda node: isinstance(node, classes["tir.DeclBuffer"] | classes["tir.AllocBuffer"])
    )
    known = [node.buffer for node in declared]
    found: list = []

    def note(buffer):
        if not any(buffer.same_as(each) for each in (*known, *found)):
            found.append(buffer)

    def visit(stmt):
        if isinstance(stmt, _STORE):
            note(stmt.buffer)  # before what is read
        for load in _nodes(stmt, lambda node: isinstance(node, _LOAD)):
            note(load.buffer)

    for stmt in _nodes(body, lambda node: isinstance(node, _STORE | classes["tir.Evaluate"])):
        visit(stmt)
    return found


def _accesses(stmt, buffer) -> bool:
    return bool(_nodes(stmt, lambda node: isinstance(node, _STORE | _LOAD) and node.buffer.same_as(buffer)))


def _declared(stmt, buffer):
    """`stmt` with `buffer` declared around the smallest statement that has all its uses."""
    if isinstance(stmt, classes["tir.SeqStmt"]):
        users = [n for n, item in enumerate(stmt.seq) if _accesses(item, buffer)]
        items = list(stmt.seq)
        if len(users) == 1 and not isinstance(items[users[0]], _STORE | classes["tir.Evaluate"]):
            items[users[0]] = _declared(items[users[0]], buffer)
            return stmt.replace(seq=items)
        first = users[0]  # what follows may use it, too: so it needs no block of its own
        rest = items[first:]
        inside = tir.DeclBuffer(buffer, rest[0] if len(rest) == 1 else stmt.replace(seq=rest))
        return stmt.replace(seq=[*items[:first], inside]) if first else inside
    for name, field in _BODIES.items():
        if isinstance(stmt, classes[name]) and not _is_used_outside(stmt, field, buffer):
            return stmt.replace(**{field: _declared(getattr(stmt, field), buffer)})
    return tir.DeclBuffer(buffer, stmt)


def _is_used_outside(stmt, field: str, buffer) -> bool:
    """True if `stmt` accesses the buffer in another part than this one."""
    return any(
        _accesses(getattr(stmt, name), buffer)
        for name in stmt.field_names
        if name not in ("span", field) and getattr(stmt, name) is not None
    )
