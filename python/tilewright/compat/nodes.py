"""Fields, constructors and methods of nodes under the names that TVM gives them."""

import enum
import math

import tilewright as tw
from tilewright import _core, arith, runtime, tir
from tilewright.errors import UserError
from tilewright.ir._nodes import classes

from . import constructors


class ForKind(enum.Enum):
    """How a loop runs."""

    SERIAL = 0
    PARALLEL = 1
    VECTORIZED = 2
    UNROLLED = 3
    THREAD_BINDING = 4


def _kind_name(kind) -> str:
    return kind if isinstance(kind, str) else ForKind(kind).name.lower()


def make_for(loop_var, min, extent, kind, body, thread_binding=None, annotations=None, span=None):
    """tir.For with the arguments of TVM's constructor."""
    tag = thread_binding.thread_tag if thread_binding is not None else ""
    return tir.For(
        min=tir.const_like(min, loop_var),
        extent=tir.const_like(extent, loop_var),
        loop_var=loop_var,
        for_kind=_kind_name(kind),
        thread_tag=tag,
        annotations=annotations or {},
        body=body,
    )


def make_prim_func(params, body, ret_type=None, buffer_map=None, attrs=None, span=None):
    """tir.PrimFunc with the arguments of TVM's constructor; a Buffer among the parameters is one of its own."""
    buffers = [(buffer_map or {}).get(param) for param in params]
    names, found = [], []
    for param, buffer in zip(params, buffers, strict=True):
        is_buffer = isinstance(param, tir.Buffer)
        names.append(tir.Var(param.name, "handle") if is_buffer else param)
        found.append(param if is_buffer else buffer)
    return tir.PrimFunc(params=names, buffers=found, body=body, ret_type=ret_type, attrs=attrs or {})


def make_buffer(
    shape,
    dtype="float32",
    name="buffer",
    data=None,
    strides=None,
    elem_offset=None,
    scope="global",
    data_alignment=-1,
    offset_factor=0,
    buffer_type="",
    axis_separators=None,
    span=None,
):
    """tir.decl_buffer with the arguments of TVM."""
    shape = shape if isinstance(shape, (list, tuple)) else [shape]
    buffer = tir.decl_buffer(
        [tir.const_like(extent, None) for extent in shape], dtype, name, scope or "global"
    )
    if elem_offset is None and offset_factor:
        elem_offset = tir.Var(f"{name}_elem_offset", "int32")
    is_default = elem_offset is None or (isinstance(elem_offset, int) and elem_offset == offset_factor == 0)
    changes = {
        "data": data,
        "strides": [tir.const_like(stride, None) for stride in strides] if strides else None,
        "elem_offset": None if is_default else tir.const_like(elem_offset, None),
        "data_alignment": data_alignment if data_alignment > 0 else None,
        "offset_factor": offset_factor or None,
        "axis_separators": list(axis_separators) if axis_separators else None,
    }
    changes = {key: value for key, value in changes.items() if value is not None}
    return buffer.replace(**changes) if changes else buffer


class DataType(str):
    """The name of a dtype, with its parts."""

    __slots__ = ()

    @property
    def lanes(self) -> int:
        """Values per vector; 1 for a scalar."""
        return int(self.rpartition("x")[2]) if "x" in self else 1

    @property
    def bits(self) -> int:
        """Bits of a value."""
        digits = self.partition("x")[0].partition("_")[0].lstrip("abcdefghijklmnopqrstuvwxyz")
        return int(
            digits[:2] if self.startswith("float8") else digits or (1 if self.startswith("bool") else 64)
        )


def _map_indices(self, indices, analyzer=None) -> list:
    """The new indices for given ones, simplified."""
    values = dict(zip(self.initial_indices, indices, strict=True))
    return [arith.Analyzer().simplify(tir.substitute(index, values)) for index in self.final_indices]


class Scope(str):
    """A storage scope; Buffer.scope() of TVM is Buffer.scope here, and both work."""

    __slots__ = ()

    def __call__(self) -> str:
        return str(self)


def _flat_strides(buffer) -> list:
    strides, step = [], tir.const(1)
    for extent in reversed(list(buffer.shape)):
        strides.insert(0, step)
        step = step * extent
    return list(buffer.strides) or strides


def _offset_of(self, indices) -> list:
    """[the place of an element, counted from `data`]."""
    place = self.elem_offset if self.elem_offset is not None else tir.const(0)
    for index, stride in zip(indices, _flat_strides(self), strict=True):
        place = place + index * stride
    return [arith.Analyzer().simplify(place)]


_MASKS = {"r": 1, "w": 2}


def _access_ptr(self, access_mask, ptr_type="handle", content_lanes=1, offset=0, extent=None):
    """A pointer to the elements from `offset` on; access_mask is "r", "w", "rw", or their numbers."""
    mask = sum(_MASKS[each] for each in access_mask) if isinstance(access_mask, str) else access_mask
    size = tir.const(1)
    for length in self.shape:
        size = size * length
    start = offset + (self.elem_offset if self.elem_offset is not None else 0)
    kind = tir.Call(dtype=self.dtype, op=classes["ir.Op"]("tir.type_annotation"), args=[])
    args = [kind, self.data, start, size if extent is None else extent, mask]
    args = [tir.const_like(each, None) if isinstance(each, int) else each for each in args]
    return tir.Call(dtype="handle", op=classes["ir.Op"]("tir.tvm_access_ptr"), args=args)


def _flattened(self):
    """The same memory as a buffer of one dimension."""
    size = tir.const(1)
    for extent in self.shape:
        size = size * extent
    return self.replace(shape=[arith.Analyzer().simplify(size)], strides=[], axis_separators=[])


def _vector_at(begin, lanes: int) -> list:
    """The indices of `lanes` elements that follow each other in the last dimension."""
    indices = [
        tir.const_like(index, None) for index in (begin if isinstance(begin, list | tuple) else [begin])
    ]
    if lanes > 1:
        indices[-1] = tir.Ramp(base=indices[-1], stride=tir.const_like(1, indices[-1]), lanes=lanes)
    return indices


def _vload(self, begin, dtype=None):
    """The element at `begin`; of a vector dtype, as many from there on as it has lanes."""
    wanted = DataType(dtype or self.dtype)
    if wanted.rpartition("x")[0] != self.dtype and wanted != self.dtype:
        raise UserError(f"vload: {self.name} holds {self.dtype}, which {wanted} is no vector of")
    return tir.BufferLoad(buffer=self, indices=_vector_at(begin, wanted.lanes // DataType(self.dtype).lanes))


def _vstore(self, begin, value):
    """Stores `value` at `begin`; a vector to the elements from there on."""
    value = value if isinstance(value, tir.PrimExpr) else tir.const(value, self.dtype)
    lanes = DataType(value.dtype).lanes // DataType(self.dtype).lanes
    return tir.BufferStore(self, value, _vector_at(begin, lanes))


def _thread_binding(self):
    """The thread that the loop is bound to, as IterVar; None for other loops."""
    if not self.thread_tag:
        return None
    domain = classes["ir.Range"](0, self.extent)
    return tir.IterVar(
        var=tir.Var("", self.loop_var.dtype), dom=domain, iter_type="spatial", thread_tag=self.thread_tag
    )


def _specialize(self, param_map: dict):
    """A copy with values for parameters: {variable: number or expression, handle: buffer}."""
    pairs = [
        (var, tir.const(value, var.dtype) if isinstance(value, int) else value)
        for var, value in param_map.items()
    ]
    return _core.specialize(self, pairs)


def _copy_to(self, target):
    """Copies the elements to a tensor, or to a new one on a device; returns it."""
    if not isinstance(target, runtime.Tensor):
        target = tw.empty(self.shape, self.dtype, target)
    return self.copy_to(target)


def _with_attrs(self, attr_map: dict):
    """The function with several attributes more."""
    for key, value in attr_map.items():
        self = self.with_attr(key, value)
    return self


def add() -> None:
    """Gives node classes the names that programs for TVM use."""
    func, loop, value_range = classes["tir.PrimFunc"], classes["tir.For"], classes["ir.Range"]
    func.buffer_map = property(
        lambda self: {p: b for p, b in zip(self.params, self.buffers, strict=True) if b is not None}
    )
    func.specialize = _specialize
    func.with_attrs = _with_attrs
    func.with_body = lambda self, new_body, span=None: self.replace(body=new_body)
    loop.thread_binding = property(_thread_binding)
    loop.step = property(lambda self: None)
    loop.kind = property(lambda self: ForKind[self.for_kind.upper()])
    region = classes["tir.BufferRegion"]
    region.full_region = staticmethod(
        lambda buffer: region(buffer, [value_range(0, extent) for extent in buffer.shape])
    )
    region.from_point = staticmethod(
        lambda buffer, indices: region(buffer, [value_range(each, 1) for each in indices])
    )
    axis = classes["tir.IterVar"]
    axis.DataPar, axis.CommReduce, axis.Ordered, axis.Opaque = constructors.AXES
    value_range.from_min_extent = staticmethod(lambda low, extent, span=None: value_range(low, extent))
    classes["tir.IndexMap"].map_indices = _map_indices
    classes["ir.Op"].get = staticmethod(lambda name: classes["ir.Op"](name))
    buffer = classes["tir.Buffer"]
    buffer.vload, buffer.vstore = _vload, _vstore
    buffer.access_ptr = _access_ptr
    buffer.offset_of = _offset_of
    buffer.get_flattened_buffer = _flattened
    buffer.scope = property(lambda self, scope=buffer.scope: Scope(scope.fget(self)))
    tw.IRModule.astext = lambda self, show_meta_data=True, annotate=None: self.script(
        show_meta=show_meta_data
    )
    tensor = runtime.Tensor
    tensor.asnumpy = tensor.numpy
    tensor.copyto = _copy_to
    tensor.numel = lambda self: math.prod(self.shape)
    tensor.size = property(tensor.numel)


def with_constructor(cls: type, make) -> type:
    """A stand-in for the node class `cls` that is called as `make`; isinstance and attributes are those of `cls`."""

    class StandIn(type):
        def __instancecheck__(cls_, value) -> bool:
            return isinstance(value, cls)

        def __getattr__(cls_, name: str):
            return getattr(cls, name)

    return StandIn(
        cls.__name__, (), {"__new__": lambda _, *args, **named: make(*args, **named), "__doc__": make.__doc__}
    )


NAMES = {
    "ForKind": ForKind,
    "For": with_constructor(tir.For, make_for),
    "PrimFunc": with_constructor(tir.PrimFunc, make_prim_func),
    "Range": with_constructor(classes["ir.Range"], constructors.make_range),
    "Let": with_constructor(tir.Let, constructors.make_let),
    "Reduce": with_constructor(tir.Reduce, constructors.make_reduce),
    "LetStmt": with_constructor(tir.LetStmt, constructors.make_let_stmt),
    "AssertStmt": with_constructor(tir.AssertStmt, constructors.make_assert_stmt),
    "IterVar": with_constructor(tir.IterVar, constructors.make_iter_var),
    "Block": with_constructor(tir.Block, constructors.make_block),
    "SBlock": with_constructor(tir.Block, constructors.make_block),
    "SBlockRealize": tir.BlockRealize,
    "decl_buffer": make_buffer,
}
