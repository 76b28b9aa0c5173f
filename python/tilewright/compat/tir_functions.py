"""tvm.tir's functions that make calls of operators, and tvm.tir.stmt_functor."""

from tilewright import _core, tir
from tilewright.errors import UserError
from tilewright.script import parse

# the dtype of what an operator gives that has it not from its first argument
_RESULTS = {
    "isnullptr": "bool",
    "assume": "bool",
    "address_of": "handle",
    "tvm_access_ptr": "handle",
    "tvm_stack_alloca": "handle",
    "tvm_thread_allreduce": "handle",
    "lookup_param": "handle",
    "tvm_stack_make_array": "handle",
    "tvm_stack_make_shape": "handle",
}
# operators whose calls say the dtype first
_WITH_DTYPE = {
    "call_pure_extern",
    "call_llvm_intrin",
    "call_llvm_pure_intrin",
    "vectorlow",
    "vectorhigh",
    "vectorcombine",
    "undef",
    "large_uint_imm",
    "get_active_lane_mask",
}
_OTHERS = (
    "break_loop",
    "call_cpacked",
    "continue_loop",
    "dp4a",
    "start_profile_intrinsic",
    "end_profile_intrinsic",
    "tvm_fill_fragment",
    "tvm_load_matrix_sync",
    "tvm_mma_sync",
    "tvm_storage_sync",
    "tvm_store_matrix_sync",
    "tvm_struct_get",
    "tvm_struct_set",
    "type_annotation",
    "vscale",
)


def _without_count(args: tuple) -> tuple:
    """The arguments of an intrinsic of LLVM: until 2025 the number of those in its signature came first, as a uint32."""
    is_count = len(args) > 1 and isinstance(args[1], tir.IntImm) and args[1].dtype == "uint32"
    return (args[0], *args[2:]) if is_count else args


def _operator(name: str):
    def call_with_dtype(dtype, *args):
        args = _without_count(args) if name.startswith("call_llvm") else args
        return _core.call_op(dtype, name, list(args))

    def call(*args):
        return _core.call_op(_RESULTS.get(name, "int32"), name, list(args))

    made = call_with_dtype if name in _WITH_DTYPE else call
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"A call of the operator {name}."
    return made


def ret(val, span=None):
    """Leaves the function with `val`."""
    return _core.call_op(tir.const_like(val, None).dtype, "ret", [val])


def power(x, y, span=None):
    """x to the y."""
    return tir.pow(x, y)


def logaddexp(a, b, span=None):
    """log(exp(a) + exp(b)), without overflow."""
    high, low = tir.max(a, b), tir.min(a, b)
    return high + tir.log1p(tir.exp(low - high))


def add(lhs, rhs, span=None):
    """lhs + rhs."""
    return lhs + rhs


def subtract(lhs, rhs, span=None):
    """lhs - rhs."""
    return lhs - rhs


def multiply(lhs, rhs, span=None):
    """lhs * rhs."""
    return lhs * rhs


def stmt_seq(*args):
    """The statements one after the other; expressions are evaluated."""
    stmts = [each if isinstance(each, tir.Stmt) else tir.Evaluate(each) for each in args]
    return stmts[0] if len(stmts) == 1 else tir.SeqStmt(stmts)


def stmt_list(stmt) -> list:
    """The statements of a sequence; a list of `stmt` if it is none."""
    return list(stmt.seq) if isinstance(stmt, tir.SeqStmt) else [stmt]


# ---------------------------------------------------------------- stmt_functor


def _parts(value):
    """The values directly in a node, list or dictionary."""
    if isinstance(value, _core.Object):
        return [getattr(value, name) for name in value.field_names if name != "span"]
    return value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()


def pre_order_visit(stmt, fvisit) -> None:
    """Calls `fvisit` with each node before what is below it, and goes below where it returns True."""
    if isinstance(stmt, _core.Object) and not fvisit(stmt):
        return
    for part in _parts(stmt):
        pre_order_visit(part, fvisit)


# fields that define what others use
_DEFINITIONS = ("span", "loop_var", "var", "iter_vars", "buffer", "alloc_buffers")


def used_parts(node, *, with_axes: bool = False) -> list:
    """The fields of a node, those apart that define what others use; `with_axes`: the axes of blocks, too."""
    return [getattr(node, name) for name in _part_names(node, with_axes)]


def _part_names(node, with_axes: bool) -> list[str]:
    return [
        name for name in node.field_names if name not in _DEFINITIONS or (with_axes and name == "iter_vars")
    ]


def with_parts(node, change, *, with_axes: bool = False):
    """`node` with `change(part)` in the place of each node in its fields; itself if nothing changes."""

    def changed(value):
        if isinstance(value, (list, tuple)):
            items = [changed(item) for item in value]
            return value if all(_is_same(a, b) for a, b in zip(items, value, strict=True)) else items
        return change(value) if isinstance(value, _core.Object) else value

    fields = {}
    for name in _part_names(node, with_axes):
        old = getattr(node, name)
        new = changed(old)
        if not _is_same(new, old):
            fields[name] = _without_sequences(new) if isinstance(node, tir.SeqStmt) else new
    return node.replace(**fields) if fields else node


def _without_sequences(stmts: list) -> list:
    """Statements of which sequences among them are made of."""
    return [each for stmt in stmts for each in (stmt.seq if isinstance(stmt, tir.SeqStmt) else [stmt])]


def _is_same(a, b) -> bool:
    return a is b or (isinstance(a, _core.Object) and isinstance(b, _core.Object) and a.same_as(b))


def ir_transform(stmt, preorder, postorder, only_enable=None):
    """The program with nodes replaced.

    preorder     called before what is below: a node takes the place of all, None goes on
    postorder    called with the node after what is below has changed: a node takes its place, None keeps it
    only_enable  names of nodes that the two are called with, e.g. ["tir.For"]; default all
    """
    wanted = None if only_enable is None else {name.rpartition(".")[2] for name in only_enable}

    def changed(node):
        is_wanted = wanted is None or type(node).__name__ in wanted
        result = preorder(node) if is_wanted and preorder is not None else None
        if result is not None:
            return result
        node = with_parts(node, changed)
        result = postorder(node) if is_wanted and postorder is not None else None
        return node if result is None else result

    return changed(stmt)


def renew_defs(func):
    """The same function with variables and buffers of its own."""
    if not isinstance(func, tir.PrimFunc):
        raise UserError(f"renew_defs: a Python {type(func).__name__} is no PrimFunc")
    return parse(func.script(show_meta=True))


NAMES = {
    **{name: _operator(name) for name in (*_RESULTS, *sorted(_WITH_DTYPE), *_OTHERS)},
    "ret": ret,
    "power": power,
    "logaddexp": logaddexp,
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "stmt_seq": stmt_seq,
    "stmt_list": stmt_list,
}
STMT_FUNCTOR = {
    "post_order_visit": tir.post_order_visit,
    "pre_order_visit": pre_order_visit,
    "substitute": tir.substitute,
    "ir_transform": ir_transform,
    "renew_defs": renew_defs,
}
