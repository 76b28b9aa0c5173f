"""Tensor expressions: what each element of a tensor is computed from."""

from contextlib import contextmanager

from .. import _core
from .._guard import guard_module
from .._numbers import plain
from ..errors import UserError
from ..ir._nodes import classes, methods_for

Tensor = classes["te.Tensor"]
IterVar = classes["tir.IterVar"]
_PrimExpr = classes["PrimExpr"]


def placeholder(shape, dtype: str = "float32", name: str = "placeholder"):
    """An input tensor.

    shape  ints or expressions, one per dimension
    dtype  element type; default float32
    name   of the parameter; default "placeholder"
    >>> A = te.placeholder((128, 128), "float32", name="A")
    """
    return _core.te_placeholder(_shape(shape), dtype, name)


def compute(shape, fcompute, name: str = "compute", tag: str = "", attrs: dict | None = None):
    """The tensor of `shape` whose element at the axes is `fcompute(*axes)`.

    shape     ints or expressions, one per dimension
    fcompute  called once with one variable per dimension; gives an expression, or a tuple of several
    name      of the block and buffer; default "compute"
    tag       what `C.op.tag` says; default that of te.tag_scope around, or ""
    attrs     copied to the block; default none
    Returns   a tensor, or a list of them if fcompute gives several
    Raises    UserError if there is both a tag and a te.tag_scope around
    >>> C = te.compute((128, 128), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    """
    names = (
        []
        if fcompute.__code__.co_flags & 0x04
        else list(fcompute.__code__.co_varnames[: fcompute.__code__.co_argcount])
    )
    tensors = _core.te_compute(_shape(shape), fcompute, name, _tagged(attrs, tag), names)
    return tensors[0] if len(tensors) == 1 else tensors


_tags = []  # of the te.tag_scope around


@contextmanager
def tag_scope(tag: str):
    """Operations made inside, of te.compute, te.extern and te.scan, carry `tag`; also a decorator of functions.

    Raises   UserError if there is a te.tag_scope around already
    >>> with te.tag_scope(tag="conv2d"):
    ...     C = te.compute((128, 128), lambda i, j: A[i, j] + B[i, j], name="C")
    """
    if _tags:
        raise UserError(f"te.tag_scope: {tag!r} is inside of {_tags[-1]!r}\nhelp: an operation has one tag")
    _tags.append(tag)
    try:
        yield
    finally:
        _tags.pop()


def _tagged(attrs: dict | None, tag: str) -> dict:
    if _tags and tag:
        raise UserError(f"te.tag_scope: the operation has a tag, {tag!r}, inside of {_tags[-1]!r}")
    tag = tag or (_tags[-1] if _tags else "")
    return {**(attrs or {}), **({"tag": tag} if tag else {})}


def reduce_axis(dom, name: str = "rv"):
    """An axis to reduce over: `dom` is (begin, end) or a Range.

    >>> k = te.reduce_axis((0, 128), "k")
    """
    if not isinstance(dom, classes["ir.Range"]):
        begin, end = dom
        extent = end - begin
        begin = (
            begin if isinstance(begin, _PrimExpr) else _core.const(begin, getattr(extent, "dtype", "int32"))
        )
        dom = _core.make_node("ir.Range", {"min": begin, "extent": extent})
    return _core.te_reduce_axis(dom, name)


def extern(
    shape,
    inputs,
    fcompute,
    name: str = "extern",
    dtype=None,
    in_buffers=None,
    out_buffers=None,
    tag: str = "",
    attrs: dict | None = None,
):
    """The tensors that a statement computes as a whole, e.g. a call of a registered function.

    shape        of the result, or a list of shapes, one per result
    inputs       tensors that it reads
    fcompute     called once with the buffers of the inputs and of the results; gives a statement, or the call to make:
                 tir.call_packed hands buffers over as tensors
    name         of the block, and of a single result; default "extern"
    dtype        of the results, one for all or a list; default that of the inputs if they have one
    in_buffers   buffers that fcompute gets for the inputs, e.g. with a symbolic shape; default made from the inputs
    out_buffers  the same for the results
    tag          what `C.op.tag` says; default that of te.tag_scope around, or ""
    attrs        copied to the block; default none
    Returns      a tensor, or a list of them if several shapes are given
    Raises       UserError if a buffer does not fit its tensor, or the dtype is not known
    >>> from tilewright import tir
    >>> te.extern((128, 128), [A, B], lambda ins, outs: tir.call_packed("mm", ins[0], ins[1], outs[0]), name="C")
    """
    inputs = _listed(inputs)
    if isinstance(shape, str):
        raise UserError(
            "te.extern: the shape is a Python str, expected integers or expressions, or lists of them"
        )
    shape = plain(shape)
    given = [shape] if isinstance(shape, int | float | _PrimExpr) else list(shape)
    is_one = not given or isinstance(plain(given[0]), int | float | _PrimExpr)
    shapes = [given] if is_one else [_shape(s) for s in given]
    dtypes = _extern_dtypes(name, dtype, inputs, len(shapes))
    if in_buffers is None:
        in_buffers = [
            _core.make_buffer(tensor.name, list(tensor.shape), tensor.dtype, "global") for tensor in inputs
        ]
    if out_buffers is None:
        numbered = len(shapes) > 1
        out_buffers = [
            _core.make_buffer(f"{name}_v{n}" if numbered else name, list(each), dtypes[n], "global")
            for n, each in enumerate(shapes)
        ]
    out_buffers = _listed(out_buffers)
    if len(out_buffers) != len(shapes):
        raise UserError(f"{name}: {len(out_buffers)} output buffers for {len(shapes)} shapes")
    tensors = _core.te_extern(name, inputs, _listed(in_buffers), out_buffers, fcompute, _tagged(attrs, tag))
    return tensors[0] if len(tensors) == 1 else tensors


def _extern_dtypes(name: str, dtype, inputs: list, count: int) -> list:
    if dtype is None:
        known = sorted({tensor.dtype for tensor in inputs})
        if len(known) != 1:
            raise UserError(
                f"{name}: the dtype of the result is not known: the inputs have {', '.join(known) or 'none'}\n"
                "help: say dtype=..."
            )
        dtype = known[0]
    dtypes = [dtype] * count if isinstance(dtype, str) else list(dtype)
    if len(dtypes) != count:
        raise UserError(f"{name}: {len(dtypes)} dtypes for {count} shapes")
    return dtypes


def scan(
    init,
    update,
    state_placeholder,
    inputs=None,
    name: str = "scan",
    tag: str = "",
    attrs: dict | None = None,
):
    """Steps one after the other, each of which computes its states from those of the steps before.

    Dimension 0 of all tensors is the step. What the update reads of other computations that depend on a state is computed in
    the same step.

    init               the first step of each state, or the first steps
    update             each state at a step; reads state_placeholder at earlier steps
    state_placeholder  placeholders of the states' shapes
    inputs             what else is read; for readers of the program
    name               of the results; default "scan"
    tag                what `C.op.tag` says; default that of te.tag_scope around, or ""
    attrs              kept with the operation; default none
    Returns            the states at all steps: a tensor, or a list of them if there are several
    Raises             UserError if shapes disagree, or a step reads what is not computed before it
    >>> X = te.placeholder((128, 128), name="X")
    >>> state = te.placeholder((128, 128), name="state")
    >>> first = te.compute((1, 128), lambda _, i: X[0, i], name="first")
    >>> following = te.compute((128, 128), lambda t, i: state[t - 1, i] + X[t, i], name="following")
    >>> sums = te.scan(first, following, state, inputs=[X], name="sums")
    """
    given = [_listed([] if each is None else each) for each in (init, update, state_placeholder, inputs)]
    tensors = _core.te_scan(name, *given, _tagged(attrs, tag))
    return tensors[0] if len(tensors) == 1 else tensors


def gradient(output, inputs, head=None):
    """The derivatives of `output` by each of `inputs`, as tensors.

    Reverse mode: sums, products, largest and smallest of affine indices, and elementwise math. Of equal largest terms each has
    the same share.

    output   a tensor of floats
    inputs   tensors that it depends on, one or a list
    head     what the derivatives are multiplied by and summed over: its last dimensions are those of the output; default none:
             all of them, of shape output.shape + input.shape
    Returns  a list of tensors, each of the shape of the head's first dimensions and of its input
    Raises   UserError for integers or a head that does not fit, Unsupported for what has no derivative
    >>> C = te.compute((128,), lambda i: A[i, i] * A[i, i], name="C")
    >>> dA, = te.gradient(C, [A], te.placeholder((128,), name="dC"))
    """
    return _core.te_gradient(output, _listed(inputs), head)


def extern_primfunc(input_tensors, primfunc, name: str = "extern", tag: str = "", attrs: dict | None = None):
    """The tensors that a loop program computes: its parameters that it writes are the results.

    input_tensors  what its other parameters are, in their order
    primfunc       a PrimFunc whose parameters are buffers
    name           of the block, and of a single result; default "extern"
    tag            what `C.op.tag` says; default that of te.tag_scope around, or ""
    attrs          copied to the block; default none
    Returns        a tensor, or a list of them if it writes several
    Raises         UserError if the number, shapes or dtypes of the tensors are not those of the buffers
    >>> te.extern_primfunc([A, B], te.create_prim_func([A, B, C]), name="C")
    """
    tensors = _core.te_extern_primfunc(_listed(input_tensors), primfunc, name, _tagged(attrs, tag))
    return tensors[0] if len(tensors) == 1 else tensors


def create_prim_func(args, index_dtype: str = "void", global_symbol: str = "main"):
    """The loop program that computes the output tensors among `args` from the placeholders among them.

    args     tensors and scalar variables, in the order of the function's parameters
    Raises   UserError if a placeholder that is used is not among args, or if a tensor is read outside of its shape where no condition
             guards it (of an open extent: whatever the extent is)
    >>> te.create_prim_func([A, B, C])
    """
    return _core.te_create_prim_func(list(args), global_symbol, index_dtype or "void")


def var(name: str = "n", dtype: str = "int32"):
    """A symbolic extent."""
    return _core.make_var(name, dtype)


size_var = var


def _reducer(core_function, binary_kind: str | None, doc: str):
    def reduce(expr, axis=None, where=None, init=None):
        axis = plain(axis)
        if axis is None or isinstance(axis, int | float | _PrimExpr):
            if binary_kind is None or axis is None:
                raise UserError(
                    "the axis to reduce over is missing\nhelp: axis=k with k = te.reduce_axis((0, n))"
                )
            return _core.binary(binary_kind, expr, axis)  # te.max(a, b): the larger of two values
        axes = list(axis) if isinstance(axis, list | tuple) else [axis]
        return core_function(expr, axes, where, init)

    reduce.__doc__ = doc
    return reduce


sum = _reducer(_core.te_sum, None, "The sum of `expr` over `axis`, a reduce axis or a list of them.")
prod = _reducer(_core.te_prod, None, "The product of `expr` over `axis`.")
max = _reducer(
    _core.te_max, "Max", "The largest `expr` over `axis`; te.max(a, b) of two values is their maximum."
)
min = _reducer(
    _core.te_min, "Min", "The smallest `expr` over `axis`; te.min(a, b) of two values is their minimum."
)
any = _reducer(_core.te_any, None, "Whether `expr` holds anywhere over `axis`.")
all = _reducer(_core.te_all, None, "Whether `expr` holds everywhere over `axis`.")


def comm_reducer(fcombine, fidentity, name: str = "reduce"):
    """A reduction of your own: a function of (expr, axis, where=None, init=None) like te.sum.

    fcombine   of (x, y): the two combined; order must not matter.  For several values at once x and y are tuples
               and so is the result
    fidentity  of one dtype per value: what changes nothing when combined, a number or expression, or a tuple
    name       for people; default "reduce"
    Returns    a reducer; of a tuple of expressions it gives a tuple, which te.compute makes tensors of
    >>> product = te.comm_reducer(lambda x, y: x * y, lambda dtype: tir.const(1, dtype), name="product")
    """

    def combine(x, y):
        return _listed(fcombine(x[0], y[0]) if len(x) == 1 else fcombine(tuple(x), tuple(y)))

    def reduce(expr, axis, where=None, init=None):
        if not isinstance(axis, list | tuple | IterVar):
            return fcombine(expr, axis)  # of two values
        sources = _listed(expr)
        dtypes = [source.dtype for source in sources]
        identity = [
            value if isinstance(value, _PrimExpr) else _core.const(value, dtypes[min(n, len(dtypes) - 1)])
            for n, value in enumerate(_listed(fidentity(*dtypes)))
        ]
        inits = [] if init is None else _listed(init)
        results = _core.te_reduce(combine, identity, sources, _listed(axis), where, inits)
        return tuple(results) if isinstance(expr, list | tuple) else results[0]

    reduce.__name__ = name
    return reduce


def _listed(value) -> list:
    return list(value) if isinstance(value, list | tuple) else [value]


def _shape(shape) -> list:
    return list(shape) if isinstance(shape, list | tuple) else [shape]


def _elementwise(name: str, *operands):
    """Arithmetic of tensors, with numbers and expressions for each element."""
    from .. import tir, topi

    tensors = [operand for operand in operands if isinstance(operand, Tensor)]
    if len(tensors) == len(operands):
        return getattr(topi, name)(*operands)
    tensor = tensors[0]
    combine = {"add": "__add__", "subtract": "__sub__", "multiply": "__mul__", "divide": "__truediv__"}[name]

    def element(*indices):
        left, right = (
            each(*indices) if isinstance(each, Tensor) else tir.const_like(each, tensor(*indices))
            for each in operands
        )
        return getattr(left, combine)(right)

    return compute(tensor.shape, element, name=f"T_{name}")


class TensorSlice:
    """A tensor with indices for its first dimensions: `A[i]` of a matrix, to be indexed further, as A[i][j].

    >>> row = A[0]
    >>> C = te.compute((128,), lambda j: row[j] + A[1][j])
    """

    def __init__(self, tensor, indices):
        self.tensor = tensor
        self.indices = tuple(indices) if isinstance(indices, list | tuple) else (indices,)

    def __getitem__(self, indices):
        more = indices if isinstance(indices, tuple) else (indices,)
        return self.tensor[self.indices + more]

    def __repr__(self) -> str:
        return f"TensorSlice({self.tensor.name}[{', '.join(map(str, self.indices))}])"

    __iter__ = None

    @property
    def dtype(self) -> str:
        """Element type."""
        return self.tensor.dtype

    def asobject(self):
        """The element; refused while indices are missing."""
        return _core.te_load(self.tensor, [_index(i) for i in self.indices])


@methods_for("te.Tensor")
class _Tensor:
    def __getitem__(self, indices):
        indices = indices if isinstance(indices, tuple) else (indices,)
        if len(indices) < len(self.shape):
            return TensorSlice(self, indices)
        return _core.te_load(self, [_index(i) for i in indices])

    def __call__(self, *indices):
        return _core.te_load(self, [_index(i) for i in indices])

    def __eq__(self, other):
        return isinstance(other, Tensor) and _core.te_tensor_key(self) == _core.te_tensor_key(other)

    def __hash__(self):
        return hash(_core.te_tensor_key(self))

    __iter__ = None  # its elements have no end that Python could find

    def __add__(self, other):
        return _elementwise("add", self, other)

    def __radd__(self, other):
        return _elementwise("add", other, self)

    def __sub__(self, other):
        return _elementwise("subtract", self, other)

    def __rsub__(self, other):
        return _elementwise("subtract", other, self)

    def __mul__(self, other):
        return _elementwise("multiply", self, other)

    def __rmul__(self, other):
        return _elementwise("multiply", other, self)

    def __truediv__(self, other):
        return _elementwise("divide", self, other)

    def __rtruediv__(self, other):
        return _elementwise("divide", other, self)

    def __neg__(self):
        return _elementwise("negative", self)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def name(self) -> str:
        """Name of the computation."""
        return self.op.name


class _Operation:
    @property
    def num_outputs(self) -> int:
        """How many tensors it computes."""
        return len(_core.te_outputs(self))

    def output(self, index: int):
        """The tensor number `index` of those that it computes."""
        return _core.te_outputs(self)[index]

    @property
    def input_tensors(self) -> list:
        """The tensors that it reads, each once."""
        return _core.te_inputs(self)

    @property
    def tag(self) -> str:
        """What tag= or te.tag_scope said; default ""."""
        return str(getattr(self, "attrs", {}).get("tag", ""))


methods_for("te.Placeholder", "te.Compute", "te.Extern", "te.Scan")(_Operation)


@methods_for("te.Scan")
class _Scan:
    @property
    def scan_axis(self):
        """The axis of the steps behind the inits."""
        return self.axis[0]

    @property
    def spatial_axis_(self) -> list:
        """An axis for each dimension of the states but the step."""
        return list(self.spatial_axis)

    @property
    def state_placeholder(self) -> list:
        """What the cell reads as states."""
        return list(self.state)


@methods_for("te.Compute")
class _Compute:
    @property
    def reduce_axis(self) -> list:
        """The axes that it reduces over; none if it is no reduction."""
        value = self.body[0]
        return list(value.axis) if isinstance(value, classes["tir.Reduce"]) else []


def _index(index):
    return index.var if isinstance(index, IterVar) else index


def __getattr__(name: str):
    """Math functions: te.exp(x) is tir.exp(x)."""
    from .. import tir

    found = getattr(tir, name, None)
    if name.startswith("_") or not callable(found) or isinstance(found, type):
        raise AttributeError(f"tilewright.te has no attribute {name!r}")
    return found


guard_module(
    __name__,
    globals(),
    [
        name
        for name in list(globals())
        if not name.startswith("_")
        and name not in ("UserError", "guard_module", "methods_for", "contextmanager")
    ],
)
