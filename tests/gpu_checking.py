"""Shared by tests of the default schedules for GPUs: operators as loop programs, scheduled, run thread by thread."""

from pathlib import Path

import tilewright
from tilewright import relax
from tilewright.relax import BlockBuilder
from tilewright.script import tir as T  # noqa: F401

MODELS = Path(__file__).resolve().parents[2] / "shared/models"
GPU = "nvidia/nvidia-a100"
PASSES = [
    "convert_layout",
    "fold_constant",
    "remove_identities",
    "fuse_attention",
    "legalize_ops",
    "dead_code_elimination",
    "fuse_ops",
    "fuse_tir",
    "dead_code_elimination",
]


def operator(function, *arguments):
    """The module of a function that calls an operator: arguments are (shape, dtype), or shapes of float32."""
    builder = BlockBuilder()
    types = [each if len(each) == 2 and isinstance(each[1], str) else (each, "float32") for each in arguments]
    params = [
        relax.Var(f"x{n}", relax.TensorType(list(shape), dtype)) for n, (shape, dtype) in enumerate(types)
    ]
    with builder.function("main", params):
        with builder.dataflow():
            result = builder.emit_output(function(*params))
        builder.emit_func_output(result)
    return passes(builder.get(), ["legalize_ops", "fuse_ops", "fuse_tir", "dead_code_elimination"])


def passes(module, names):
    for name in names:
        factory = "".join(part.capitalize() for part in name.split("_"))
        module = getattr(relax.transform, factory)()(module)
    return module


def kernels(module):
    return [
        (var.name_hint, func)
        for var, func in module.functions.items()
        if isinstance(func, tilewright.tir.PrimFunc)
    ]


def without_threads(func):
    """The blocks that no loop over threads is around."""
    lost = []

    def visit(stmt, has_threads):
        if isinstance(stmt, tilewright.tir.For):
            is_bound = stmt.thread_tag.startswith("threadIdx") if hasattr(stmt, "thread_tag") else False
            visit(stmt.body, has_threads or is_bound)
        elif isinstance(stmt, tilewright.tir.SeqStmt):
            for each in stmt.seq:
                visit(each, has_threads)
        elif isinstance(stmt, tilewright.tir.BlockRealize):
            if stmt.block.name_hint == "root":
                visit(stmt.block.body, has_threads)
            elif not has_threads:
                lost.append(stmt.block.name_hint)

    visit(func.body, False)
    return lost


def scheduled(func, target=GPU):
    sch = tilewright.schedule.by_rules(func, target)
    (name,) = [var.name_hint for var in sch.mod.get_global_vars()]
    assert without_threads(sch.mod[name]) == []
    return sch


def check(module, target=GPU):
    """Every kernel has threads, and computes what its definition says; gives the schedules."""
    found = [scheduled(func, target) for _, func in kernels(module)]
    assert found
    for sch in found:
        sch.verify()
    return found
