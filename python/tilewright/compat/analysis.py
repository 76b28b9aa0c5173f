"""tvm.tir.analysis: questions about loop programs."""

import tilewright as tw
from tilewright import _core, ir, tir
from tilewright.errors import UserError

from .transform import prim_func_pass


def verify_well_formed(program, assert_mode: bool = True) -> bool:
    """True if the program is well formed; else raises, or False without assert_mode."""
    try:
        tir.verify(program)
    except UserError:
        if assert_mode:
            raise
        return False
    return True


def OOBChecker():
    """A pass that changes nothing, and raises where an access certainly leaves its buffer."""
    return prim_func_pass(_verified, opt_level=0, name="tir.analysis.OOBChecker")


def _verified(func, mod, ctx):
    tir.verify(func)
    return func


def verify_memory(func) -> bool:
    """True if nothing touches memory of another device outside of a kernel: on the CPU, always."""
    target = func.attrs.get("target")
    if target is None or target.kind in ("llvm", "c"):
        return True
    threads, accesses = [], []

    def visit(node) -> None:
        if isinstance(node, tir.For) and node.thread_tag:
            tir.post_order_visit(node, threads.append)
        if isinstance(node, (tir.BufferLoad, tir.BufferStore)) and node.buffer.scope == "global":
            accesses.append(node)

    tir.post_order_visit(func.body, visit)
    return all(any(inside.same_as(access) for inside in threads) for access in accesses)


def get_block_access_region(block, buffer_var_map=None) -> list:
    """[regions read, regions written, regions of accesses through pointers]; the last are in the first two here."""
    reads, writes = _core.access_regions(block)
    return [reads, writes, []]


def get_block_read_write_region(block, buffer_var_map=None) -> list:
    """[regions read, regions written]"""
    return get_block_access_region(block)[:2]


def estimate_tir_flops(program) -> float:
    """Floating point operations of a function or of all functions of a module; 0 for what has no known number."""
    if isinstance(program, tw.IRModule):
        loop_programs = [func for func in program.functions.values() if isinstance(func, tir.PrimFunc)]
        return sum(estimate_tir_flops(func) for func in loop_programs)
    if not isinstance(program, tir.PrimFunc):
        program = tir.PrimFunc(params=[], buffers=[], body=program, attrs={})
    return float(_core.count_flops(program) or 0)


def calculate_allocated_bytes(func) -> dict:
    """{storage scope: bytes} of all buffers that the function allocates."""
    total: dict = {}

    def visit(node) -> None:
        buffers = node.alloc_buffers if isinstance(node, tir.Block) else []
        for buffer in [node.buffer] if isinstance(node, tir.AllocBuffer) else buffers:
            total[buffer.scope] = total.get(buffer.scope, 0) + _bytes(buffer)

    tir.post_order_visit(func.body, visit)
    return total


def calculate_workspace_bytes(func, byte_alignment: int = 1) -> int:
    """Bytes of the function's buffers in main memory after those that do not live together share them."""
    sizing = {
        "lower_match_buffer",
        "lower_init",
        "place_allocations",
        "lower_blocks",
        "compact_buffers",
        "flatten_buffers",
        "share_storage",
    }
    for step, _ in _core.lowering_steps("llvm"):
        if step in sizing:
            func = _core.lowering_step(step, func)
    total = 0

    def visit(node) -> None:
        nonlocal total
        if isinstance(node, tir.AllocBuffer) and node.buffer.scope == "global":
            total += -(-_bytes(node.buffer) // byte_alignment) * byte_alignment

    tir.post_order_visit(func.body, visit)
    return total


def _bytes(buffer) -> int:
    count = 1
    for extent in buffer.shape:
        if not isinstance(extent, tir.IntImm):
            raise UserError(
                f"buffer {buffer.name} has a size that is known only when the program runs: {extent}"
            )
        count *= extent.value
    kind, _, lanes = buffer.dtype.partition("x")
    kind = kind.partition("_")[0]  # float8_e4m3fn
    bits = {"bool": 8, "handle": 64}.get(kind)
    bits = int(kind.lstrip("abcdefghijklmnopqrstuvwxyz")) if bits is None else bits
    return -(-count * bits * int(lanes or 1) // 8)


def undefined_vars(node, defs=()) -> list:
    """Variables that `node` uses and neither defines nor finds in `defs`, in order of their first use."""
    uses, known = [], list(defs)

    def visit(child) -> None:
        if isinstance(child, tir.Var):
            uses.append(child)
        for field in ("loop_var", "var"):
            if field in getattr(child, "field_names", ()):
                known.append(getattr(child, field))
        if isinstance(child, tir.Block):
            known.extend(buffer.data for buffer in child.alloc_buffers)
        if isinstance(child, tir.AllocBuffer):
            known.append(child.buffer.data)

    tir.post_order_visit(node, visit)
    return [var for var in uses if not any(var.same_as(other) for other in known)]


def expr_deep_equal(lhs, rhs) -> bool:
    """True if two expressions are the same, with the same variables."""
    return ir.structural_equal(lhs, rhs)


def has_if_then_else(stmt) -> bool:
    """True if there is an if statement or T.if_then_else below."""
    found = []

    def visit(node) -> None:
        is_call = isinstance(node, tir.Call) and getattr(node.op, "name", "") == "tir.if_then_else"
        if is_call or isinstance(node, tir.IfThenElse):
            found.append(node)

    tir.post_order_visit(stmt, visit)
    return bool(found)


get_sblock_access_region = get_block_access_region
get_sblock_read_write_region = get_block_read_write_region
verify_tirx_well_formed = verify_well_formed

NAMES = {
    "assert_structural_equal": ir.assert_structural_equal,
    **{
        name: value
        for name, value in list(globals().items())
        if callable(value) and getattr(value, "__module__", "") == __name__ and not name.startswith("_")
    },
}
