"""te.decl_tensor_intrin: a tensor expression, and statements that compute it, as intrinsics of schedules of blocks."""

from tilewright import ir, te, tir
from tilewright.errors import Unsupported, UserError
from tilewright.ir._nodes import classes
from tilewright.schedule import Schedule

from ..nodes import make_buffer

_EXPR, _STMT, _BLOCK = classes["PrimExpr"], classes["Stmt"], classes["tir.BlockRealize"]


class TensorIntrin:
    """What te.decl_tensor_intrin declares: s[C].tensorize(axis, intrin) lets it compute a tile.

    name     as it was declared
    op       what it computes
    inputs   the tensors that op reads
    buffers  memory of the inputs, then of the results
    parts    {"whole", "reset", "update": the name under which sch.tensorize knows this part, or ""}
    """

    def __init__(self, name: str, op, buffers: list, parts: dict):
        self.name, self.op, self.inputs = name, op, op.input_tensors
        self.buffers, self.parts = buffers, parts

    def __repr__(self) -> str:
        return f"TensorIntrin({self.name}, {self.op})"

    def __call__(self, *args, **named):
        raise Unsupported(
            f"{self.name}: a te.compute of calls of an intrinsic is not supported\n"
            "help: write the formula, and s[C].tensorize(axis, intrin)"
        )


def decl_tensor_intrin(
    op, fcompute, name: str = "tensor_intrin", binds=None, scalar_params=None, default_buffer_params=None
) -> TensorIntrin:
    """An intrinsic that computes what the operation `op` does.

    op                     a te.compute over placeholders of constant shape
    fcompute               of (ins, outs), buffers: a statement or call, or (body, reset, update) of a reduction, any of which may be
                           None: body computes all terms, reset sets the results to their first value, update adds terms
    name                   for errors; default "tensor_intrin"
    binds                  {tensor: the buffer that fcompute gets}; default compact memory
    default_buffer_params  options of tir.decl_buffer for tensors without a buffer
    Raises                 UserError if op is no te.compute, or a buffer is not of its tensor's shape and dtype
    As in te.decl_tensor_intrin(c.op, lambda ins, outs: tir.call_extern("int32", "f", outs[0].access_ptr("w")), name="f").
    """
    if not isinstance(op, classes["te.Compute"]):
        raise UserError(
            f"decl_tensor_intrin: {name} is declared by {op}, expected the operation of a te.compute"
        )
    if scalar_params:
        raise Unsupported(
            f"decl_tensor_intrin: {name} has scalar parameters\nhelp: let fcompute take numbers from the scope around it"
        )
    tensors = [*op.input_tensors, *(op.output(n) for n in range(op.num_outputs))]
    buffers = [_buffer(tensor, dict(binds or {}), default_buffer_params or {}, name) for tensor in tensors]
    count = len(op.input_tensors)
    body, reset, update = _statements(fcompute(buffers[:count], buffers[count:]), name)
    descriptions = _Descriptions(tensors, op)
    parts = {
        "whole": _registered(name, descriptions.whole, body, buffers, count),
        "reset": _registered(f"{name}.reset", descriptions.reset, reset, buffers[count:], 0),
        "update": _registered(f"{name}.update", descriptions.update, update, buffers, count, adds=True),
    }
    return TensorIntrin(name, op, buffers, parts)


def _buffer(tensor, binds: dict, options: dict, name: str):
    """The memory of a tensor, with strides and an offset of its own."""
    buffer = binds.get(tensor)
    shape = list(tensor.shape)
    if buffer is None:
        buffer = make_buffer(shape, tensor.dtype, tensor.op.name, **options)
    if buffer.dtype != tensor.dtype or not ir.structural_equal(list(buffer.shape), shape):
        raise UserError(
            f"decl_tensor_intrin: tensor {tensor.op.name} of {name} is {_text(shape)} of {tensor.dtype}, "
            f"but its buffer {_text(buffer.shape)} of {buffer.dtype}"
        )
    changes = {}
    if not len(buffer.strides):
        changes["strides"] = _compact(shape)
    if buffer.elem_offset is None:
        changes["elem_offset"] = tir.Var(f"{buffer.name}_elem_offset", "int32")
    return buffer.replace(**changes) if changes else buffer


def _compact(shape: list) -> list:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, tir.const(step))
        step *= int(extent)
    return strides


def _text(shape) -> str:
    return f"[{', '.join(str(extent) for extent in shape)}]"


def _statements(given, name: str) -> list:
    """[body, reset, update], each a statement or None."""
    parts = list(given) if isinstance(given, list | tuple) else [given]
    if not 1 <= len(parts) <= 3:
        raise UserError(
            f"decl_tensor_intrin: fcompute of {name} gives {len(parts)} statements, expected body, or (body, reset, update)"
        )
    parts += [None] * (3 - len(parts))
    for part in parts:
        if part is not None and not isinstance(part, _EXPR | _STMT):
            raise UserError(
                f"decl_tensor_intrin: fcompute of {name} gives a Python {type(part).__name__}, expected a statement or a call"
            )
    if parts[0] is None and parts[2] is None:
        raise UserError(f"decl_tensor_intrin: fcompute of {name} gives neither a body nor an update")
    return [tir.Evaluate(part) if isinstance(part, _EXPR) else part for part in parts]


class _Descriptions:
    """The programs that an intrinsic takes the place of, as sch.tensorize compares them."""

    def __init__(self, tensors: list, op):
        self._func = te.create_prim_func(tensors)
        self._count = len(op.input_tensors)
        self._has_terms = bool(op.reduce_axis)
        (self._name,) = (block.name_hint for block in _blocks(self._func.body) if block.name_hint != "root")

    def whole(self):
        """All terms, after the first value of a reduction."""
        return self._described(self._schedule(), self._name, slice(None))

    def reset(self):
        """The first values of a reduction."""
        return self._described(self._decomposed(), f"{self._name}_init", slice(self._count, None))

    def update(self):
        """The terms of a reduction."""
        return self._described(self._decomposed(), f"{self._name}_update", slice(None))

    def _schedule(self):
        return Schedule(ir.IRModule({"main": self._func}))

    def _decomposed(self):
        if not self._has_terms:
            raise UserError(
                f"decl_tensor_intrin: {self._name} is no reduction, so it takes a body alone, without reset and update"
            )
        sch = self._schedule()
        sch.decompose_reduction(self._name, sch.get_loops(self._name)[0])
        return sch

    def _described(self, sch, block: str, params: slice):
        """A function of one block that holds the loops around `block`."""
        outer = sch.get(sch.blockize(sch.get_loops(block)[0], preserve_unit_iters=False))
        first = {axis.var: axis.dom.min for axis in outer.iter_vars}
        body = tir.substitute(outer.body, first) if first else outer.body
        return _function(self._func.buffers[params], body, outer.reads, outer.writes)


def _blocks(stmt) -> list:
    found: list = []
    tir.post_order_visit(stmt, lambda node: found.append(node) if isinstance(node, tir.Block) else None)
    return found


def _function(buffers, body, reads, writes):
    block = tir.Block(name_hint="root", reads=reads, writes=writes, body=body)
    realize = tir.BlockRealize(iter_values=[], predicate=tir.const(True), block=block)
    params = [tir.Var(buffer.name, "handle") for buffer in buffers]
    return tir.PrimFunc(params=params, buffers=list(buffers), body=realize, ret_type=None, attrs={})


def _registered(name: str, description, stmt, buffers: list, num_inputs: int, adds: bool = False) -> str:
    """The name under which sch.tensorize knows the pair of description and statement; "" if there is no statement."""
    if stmt is None:
        return ""
    reads = [_whole(buffer) for buffer in buffers[:num_inputs]]
    writes = [_whole(buffer) for buffer in buffers[num_inputs:]]
    desc, impl = description(), _function(buffers, stmt, [*reads, *(writes if adds else [])], writes)
    free, number = name, 0
    while (known := tir.TensorIntrin.get(free, allow_missing=True)) is not None:
        if ir.structural_equal(known.desc, desc) and ir.structural_equal(known.impl, impl):
            return free
        number += 1
        free = f"{name}_{number}"
    tir.TensorIntrin.register(free, desc, impl)
    return free


def _whole(buffer):
    ranges = [classes["ir.Range"](tir.const(0), extent) for extent in buffer.shape]
    return tir.BufferRegion(buffer=buffer, region=ranges)
