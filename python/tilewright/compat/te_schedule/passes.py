"""te.schedule: what TVM's own steps said about schedules by stages: ranges of axes, who reads what, what may be inlined."""

from tilewright.errors import Unsupported
from tilewright.ir._nodes import classes

from ..tir_functions import pre_order_visit
from .lowering import scheduled
from .stages import Schedule, Stage, _operation

_COMPUTE = classes["te.Compute"]


def infer_bound(sch: Schedule) -> dict:
    """{axis: its Range}, of all axes of stages and of the threads that they are bound to.

    What is computed inside of another stage's loop has ranges in terms of that stage's axes. Stages that are computed where they are
    read have none.
    """
    return dict(sch._core.infer_bounds())


def schedule_ops(sch: Schedule, bounds: dict | None = None, debug_keep_trivial_loop: bool = False):
    """The statement of the loop program that the schedule describes, of blocks; `bounds` is not needed."""
    ops = [stage.op for stage in sch.stages]
    states = [tensor.op for op in ops if isinstance(op, classes["te.Scan"]) for tensor in op.state]
    inputs = [op for op in ops if isinstance(op, classes["te.Placeholder"]) and op not in states]
    args = [op.output(n) for op in (*inputs, *sch.outputs) for n in range(op.num_outputs)]
    return scheduled(sch, args)["main"].body


def create_read_graph(ops) -> dict:
    """{operation: the tensors that it reads}, of `ops` and all that they depend on."""
    graph: dict = {}

    def visit(op):
        if op in graph:
            return
        graph[op] = op.input_tensors
        for tensor in graph[op]:
            visit(tensor.op)

    for op in ops:
        visit(_operation(op))
    return graph


def post_dfs_order(roots, graph: dict) -> list:
    """The operations of a graph of create_read_graph that `roots` depend on, producers first."""
    order: list = []

    def visit(op):
        for tensor in graph[op]:
            visit(tensor.op)
        if op not in order:
            order.append(op)

    for op in roots:
        visit(_operation(op))
    return order


def create_attach_path(sch: Schedule) -> dict:
    """{operation: the axes whose loops are around its stage, innermost first}"""
    return {stage.op: _around(stage) for stage in sch.stages}


def _around(stage: Stage) -> list:
    axes: list = []
    while (place := stage.attached) is not None:
        stage, axis = place
        leaves = stage.leaf_iter_vars
        axes += reversed(leaves[: leaves.index(axis) + 1])
    return axes


# ---------------------------------------------------------------- inlining


def _inline(sch: Schedule, is_wanted) -> None:
    for stage in sch.stages:
        is_untouched = stage.attach_type == 1 and stage.all_iter_vars == list(getattr(stage.op, "axis", []))
        if isinstance(stage.op, _COMPUTE) and is_untouched and not stage.is_output and is_wanted(stage.op):
            stage.compute_inline()


def _loads(op) -> list:
    """The reads of tensors in its formulas; what computes those tensors is no part of them."""
    found: list = []

    def visit(node) -> bool:
        if not isinstance(node, classes["tir.ProducerLoad"]):
            return True
        found.append(node)
        for index in node.indices:
            pre_order_visit(index, visit)
        return False

    for value in op.body:
        pre_order_visit(value, visit)
    return found


def is_injective(op) -> bool:
    """True if each element is computed without a reduction."""
    return isinstance(op, _COMPUTE) and not op.reduce_axis


def is_elementwise(op) -> bool:
    """True if an element is computed from those of the same place."""
    names = [axis.var for axis in op.axis]
    return is_injective(op) and all(_same(list(load.indices), names) for load in _loads(op))


def is_broadcast(op) -> bool:
    """True if an element is computed from those whose indices are some of its own, in order."""
    names = [axis.var for axis in op.axis]
    return is_injective(op) and all(_is_part(list(load.indices), names) for load in _loads(op))


def _same(indices: list, names: list) -> bool:
    return len(indices) == len(names) and all(a.same_as(b) for a, b in zip(indices, names, strict=True))


def _is_part(indices: list, names: list) -> bool:
    rest = iter(names)
    return all(any(index.same_as(name) for name in rest) for index in indices)


def auto_inline_elemwise(sch: Schedule) -> None:
    """compute_inline of all stages of which nothing was decided and that are computed element by element."""
    _inline(sch, is_elementwise)


def auto_inline_broadcast(sch: Schedule) -> None:
    """compute_inline of all stages of which nothing was decided and that repeat what they read."""
    _inline(sch, is_broadcast)


def auto_inline_injective(sch: Schedule) -> None:
    """compute_inline of all stages of which nothing was decided and that are no reductions."""
    _inline(sch, is_injective)


def _refused(name: str, reason: str, instead: str):
    def call(*args, **named):
        raise Unsupported(f"{name}: {reason}\nhelp: {instead}")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Refused: {reason}."
    return call


NAMES = {
    "InferBound": infer_bound,
    "ScheduleOps": schedule_ops,
    "CreateReadGraph": create_read_graph,
    "PostDFSOrder": post_dfs_order,
    "CreateAttachPath": create_attach_path,
    "AutoInlineElemWise": auto_inline_elemwise,
    "AutoInlineBroadcast": auto_inline_broadcast,
    "AutoInlineInjective": auto_inline_injective,
    "SchedulePostProcToPrimFunc": _refused(
        "SchedulePostProcToPrimFunc",
        "statements are those of a loop program from the start",
        "tvm.lower(s, args, binds=...) gives the function",
    ),
    "VerifyCompactBuffer": _refused(
        "VerifyCompactBuffer", "buffers know their strides", "binds= of tvm.lower and tvm.build gives them"
    ),
    **{
        name: _refused(name, "scans become loops in order", "te.scan and s[update] say what the steps are")
        for name in ("ScanGetBody", "ScanFixPointAnalysis")
    },
}
