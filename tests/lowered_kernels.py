"""Kernels as lowering makes them, which the interpreter can run with the arguments of the program."""

import tilewright as tw
from tilewright import _core


def kernel_of(func, target):
    """The program with kernels, before its host's functions are split off."""
    for step, _ in _core.lowering_steps(target):
        func = _core.lowering_step(step, func, target)
    return with_views(func)


def with_views(func):
    """The same with the flat views of its parameters declared, which lowering leaves out."""
    pointers = {buffer.data for buffer in func.buffers if buffer is not None}
    views = []

    def look(node):
        buffer = getattr(node, "buffer", None)
        if isinstance(node, (tw.tir.BufferLoad, tw.tir.BufferStore)) and buffer.data in pointers:
            if not any(buffer.same_as(view) for view in views):
                views.append(buffer)

    tw.tir.post_order_visit(func.body, look)
    body = func.body
    for view in views:
        body = tw.tir.DeclBuffer(view, body)
    return func.replace(body=body)
