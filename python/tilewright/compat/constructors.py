"""Nodes made with the arguments of TVM's constructors, in its order."""

from tilewright import arith, tir
from tilewright.ir._nodes import classes


def make_range(begin, end=None, span=None):
    """ir.Range from begin to before `end`; one argument counts from 0."""
    if end is None:
        begin, end = 0, begin
    extent = arith.Analyzer().simplify(tir.const_like(end, None) - begin)
    return classes["ir.Range"](tir.const_like(begin, extent), extent)


def make_let(var, value, body, span=None):
    """tir.Let with the arguments of TVM's constructor."""
    return tir.Let(var=var, value=tir.const_like(value, var), body=tir.const_like(body, None))


def make_let_stmt(var, value, body, span=None):
    """tir.LetStmt with the arguments of TVM's constructor."""
    return tir.LetStmt(var=var, value=tir.const_like(value, var), body=body)


def make_reduce(combiner, src, rdom, condition, value_index, init=None, span=None):
    """tir.Reduce with the arguments of TVM's constructor."""
    return tir.Reduce(
        combiner=combiner,
        axis=rdom,
        source=src,
        condition=condition,
        value_index=value_index,
        init=init or [],
        dtype=src[value_index].dtype,
    )


def make_assert_stmt(condition, message, body=None, span=None):
    """tir.AssertStmt with the arguments of TVM's constructor, `body` after it."""
    message = message.value if isinstance(message, tir.StringImm) else message
    first = tir.AssertStmt(condition, message)
    return first if body is None else tir.SeqStmt([first, body])


def make_block(
    iter_vars,
    reads,
    writes,
    name_hint,
    body,
    init=None,
    alloc_buffers=None,
    match_buffers=None,
    annotations=None,
    span=None,
):
    """tir.Block with the arguments of TVM's constructor."""
    return tir.Block(
        name_hint=name_hint,
        iter_vars=iter_vars,
        alloc_buffers=alloc_buffers or [],
        reads=reads,
        writes=writes,
        match_buffers=match_buffers or [],
        annotations=annotations or {},
        init=init,
        body=body,
    )


#: kinds of axes by TVM's numbers
AXES = {0: "spatial", 2: "reduce", 3: "scan", 4: "opaque"}


def make_iter_var(dom, var, iter_type, thread_tag="", span=None):
    """tir.IterVar with the arguments of TVM's constructor; iter_type is IterVar.DataPar and so on."""
    if isinstance(dom, (list, tuple)):
        dom = make_range(*dom)
    return tir.IterVar(
        var=tir.Var(var, "int32") if isinstance(var, str) else var,
        dom=dom,
        iter_type=AXES.get(iter_type, iter_type),
        thread_tag=thread_tag,
    )
