"""tvm.tir.Schedule, Trace and IndexMap: constructors and methods under the names and with the arguments of TVM's."""

import inspect

import numpy

import tilewright as tw
from tilewright import arith, ir, tir
from tilewright.errors import Unsupported, UserError
from tilewright.ir._nodes import classes
from tilewright.schedule import Schedule, State

from . import traces

_IndexMap = classes["tir.IndexMap"]


def make_schedule(
    mod, *, seed=None, debug_mask="none", error_render_level="detail", enable_check=True
) -> Schedule:
    """A schedule of a module, or of a function under the name "main"; enable_check has no effect, all steps are checked."""
    if isinstance(mod, tir.PrimFunc):
        mod = ir.IRModule({"main": mod})
    return Schedule(mod, seed=seed, debug_mask=debug_mask, error_render_level=error_render_level)


def _can_decompose_padding(self, block, loop) -> bool:
    """True if decompose_padding accepts the block and the loop."""
    try:
        self.copy().decompose_padding(block, loop)
    except (UserError, Unsupported):
        return False
    return True


class StmtSRef:
    """Where a loop or block stands in the program of a schedule, as it was when this was made.

    stmt    a For or a Block
    parent  where the loop or block around it stands; None for a root block
    """

    def __init__(self, ways_out: list):
        self.stmt = ways_out[0]
        self._around = ways_out[1:]

    @property
    def parent(self):
        """Where the loop or block around it stands; None for a root block."""
        return StmtSRef(self._around) if self._around else None

    def __eq__(self, other) -> bool:
        return isinstance(other, StmtSRef) and self.stmt.same_as(other.stmt)

    def __hash__(self) -> int:
        return hash(self.stmt)


def _get_sref(self, rand_var_or_stmt) -> StmtSRef:
    """Where the loop or block of a handle, or a For or Block of the program, stands."""
    is_stmt = isinstance(rand_var_or_stmt, (tir.For, tir.Block))
    return StmtSRef(self._core.ways_out(rand_var_or_stmt if is_stmt else self.get(rand_var_or_stmt)))


def _get(self, rand_var_or_sref, run=Schedule.get):
    """The loop or block that a handle, or a StmtSRef, stands for."""
    return rand_var_or_sref.stmt if isinstance(rand_var_or_sref, StmtSRef) else run(self, rand_var_or_sref)


# ---------------------------------------------------------------- index maps

AXIS_SEPARATOR = "axis_separator"


def from_func(mapping, ndim=None, inverse_index_map=None, *, index_dtype="int32"):
    """The index map that a Python function describes; `ndim` says how many indices *args stands for."""
    found, separators = from_func_with_separators(mapping, ndim, inverse_index_map, index_dtype=index_dtype)
    if separators:
        raise UserError("IndexMap.from_func: the map has axis separators; use from_func_with_separators")
    return found


def from_func_with_separators(mapping, ndim=None, inverse_index_map=None, *, index_dtype="int32"):
    """(map, places of IndexMap.AXIS_SEPARATOR among the new indices)."""
    names = []
    for each in inspect.signature(mapping).parameters.values():
        if each.kind is each.VAR_POSITIONAL:
            if ndim is None:
                raise UserError(f"IndexMap: *{each.name} needs ndim, the number of dimensions")
            names += [f"{each.name}_{n}" for n in range(ndim - len(names))]
        else:
            names.append(each.name)
    variables = [tir.Var(name, index_dtype) for name in names]
    result = mapping(*variables)
    separators, indices = [], []
    for each in result if isinstance(result, (list, tuple)) else [result]:
        if each is AXIS_SEPARATOR:
            separators.append(len(indices))
        else:
            indices.append(each)
    return _IndexMap(variables, [tir.const_like(index, variables[0]) for index in indices]), separators


def _num_indices(sch, block, buffer) -> int:
    """How many indices a map takes: those of a buffer of a block, or the axes of the block for buffer None."""
    looking = sch.fork(0)  # a look leaves no step
    block = looking.get(looking.get_block(block) if isinstance(block, str) else block)
    if buffer is None:
        return len(block.iter_vars)
    if isinstance(buffer, tir.Buffer):
        return len(buffer.shape)
    regions = [*block.writes, *block.reads]
    if isinstance(buffer, str):
        regions = [each for each in regions if each.buffer.name == buffer]
    elif isinstance(buffer, (list, tuple)):
        chosen = block.reads if buffer[0] == "read" else block.writes
        regions = chosen[buffer[1] : buffer[1] + 1] if buffer[1] >= 0 else []
    return len(regions[0].buffer.shape) if regions else 0


def _transform_layout(
    self,
    block,
    buffer,
    index_map,
    pad_value=None,
    *,
    assume_injective_transform=False,
    run=Schedule.transform_layout,
):
    """Schedule.transform_layout, whose map may take *args and give IndexMap.AXIS_SEPARATOR."""
    separators = []
    if inspect.isfunction(index_map):
        index_map, separators = from_func_with_separators(index_map, _num_indices(self, block, buffer))
    run(
        self,
        block,
        buffer,
        index_map,
        pad_value=pad_value,
        assume_injective_transform=assume_injective_transform,
    )
    if separators:
        self.set_axis_separator(block, buffer, separators)


def _transform_block_layout(self, block, index_map, run=Schedule.transform_block_layout):
    """Schedule.transform_block_layout, whose map may take *args."""
    if inspect.isfunction(index_map):
        index_map = from_func(index_map, _num_indices(self, block, None))
    run(self, block, index_map)


def _ranges(self, shape) -> dict:
    return {
        var: extent if isinstance(extent, ir.Range) else ir.Range(0, extent)
        for var, extent in zip(self.initial_indices, shape, strict=True)
    }


def _inverse(self, shape):
    """The map from the new indices to the old ones, for indices below `shape`."""
    outputs = [tir.Var(f"axis{n}", "int32") for n in range(len(self.final_indices))]
    found = arith.inverse_affine_iter_map(self.final_indices, _ranges(self, shape), outputs)
    values = [found.get(var, 0) for var in self.initial_indices]
    return _IndexMap(outputs, [tir.const_like(value, None) for value in values])


def _non_surjective_inverse(self, shape) -> tuple:
    """(the map back from the new indices, which of the new indices no old one goes to).

    The shape may be one that the map pads: range(14) in digits of 4 leaves [3, 2] and [3, 3] without an old index.
    """
    outputs = [tir.Var(f"axis{n}", "int32") for n in range(len(self.final_indices))]
    ranges = _ranges(self, shape)
    new_shape = _map_shape(self, shape)
    padded = arith.padded_ranges(ranges, self.final_indices)
    found = arith.inverse_affine_iter_map(self.final_indices, padded, outputs)
    values = [tir.const_like(found.get(var, 0), None) for var in self.initial_indices]
    analyzer = arith.Analyzer()
    for output, extent in zip(outputs, new_shape, strict=True):
        analyzer.bind(output, (0, extent))
    outside = tir.any(*[value >= ranges[var].extent for var, value in zip(ranges, values, strict=True)])
    return _IndexMap(outputs, values), analyzer.simplify(outside)


def _map_ndarray(self, arr_src):
    """A tensor with the elements at their new indices; places that no element goes to are zero."""
    source = arr_src.numpy()
    target = numpy.zeros([int(each) for each in _map_shape(self, source.shape)], source.dtype)
    for place in numpy.ndindex(*source.shape):
        new = [int(each) for each in self.map_indices([tir.const(each) for each in place])]
        target[tuple(new)] = source[place]
    return tw.tensor(target)


def _map_shape(self, shape, analyzer=None) -> list:
    """The extents of the new indices while the old ones are below `shape`."""
    analyzer, ranges = arith.Analyzer(), _ranges(self, shape)
    found = [analyzer.interval(index, ranges) for index in self.final_indices]
    return [analyzer.simplify(high + 1) for low, high in found]


def _is_equivalent_to(self, other) -> bool:
    """True if both give the same new indices for the same old ones."""
    if len(self.initial_indices) != len(other.initial_indices):
        return False
    found = other.map_indices(self.initial_indices)
    return len(found) == len(self.final_indices) and all(
        arith.Analyzer().can_prove(a == b) for a, b in zip(self.final_indices, found, strict=True)
    )


def add() -> None:
    """Gives Trace, Schedule and IndexMap these methods."""
    traces.add()
    Schedule.can_decompose_padding = _can_decompose_padding
    Schedule.get_sref = _get_sref
    Schedule.remove_rv = lambda self, rv: self._core.forget(rv)
    Schedule.get = _get
    State.get_sref = lambda self, stmt: self._schedule.get_sref(stmt)
    _IndexMap.AXIS_SEPARATOR = AXIS_SEPARATOR
    _IndexMap.from_func = staticmethod(from_func)
    _IndexMap.from_func_with_separators = staticmethod(from_func_with_separators)
    _IndexMap.inverse = _inverse
    _IndexMap.non_surjective_inverse = _non_surjective_inverse
    _IndexMap.map_ndarray = _IndexMap.map_tensor = _map_ndarray
    _IndexMap.map_shape = _map_shape
    _IndexMap.is_equivalent_to = _is_equivalent_to
    Schedule.get_sblock = Schedule.get_block
    Schedule.transform_layout = _transform_layout
    Schedule.transform_block_layout = _transform_block_layout
