"""How indices are made of loops by fusing and splitting, as objects: sums of digits of loop variables.

found = iter_map([i * 4 + j], {i: 8, j: 4})
(digit,) = found.indices[0].args          # one digit: all of the fused iterator i * 4 + j
digit.source.source.args                  # its own digits: i, scale 4, and j, scale 1
"""

import abc

from .. import _core
from . import Analyzer, _core_of, _ranges


class IterMapExpr(abc.ABC):
    """A part of an index in normal form."""

    def __str__(self) -> str:
        return str(self.to_expr())

    __repr__ = __str__

    @abc.abstractmethod
    def to_expr(self):
        """Its value as an expression."""


class IterMark:
    """An iterator that takes each of 0 .. extent - 1.

    source  a loop variable (minus its first value), or a sum of digits
    extent  how many values
    """

    def __init__(self, source, extent):
        self.source = source
        self.extent = extent

    def __repr__(self) -> str:
        return f"IterMark({self.source}, extent={self.extent})"


class IterSplitExpr(IterMapExpr):
    """(source // lower_factor % extent) * scale: a digit of an iterator; all of it by default."""

    def __init__(self, source: IterMark, lower_factor=1, extent=None, scale=1):
        self.source = source
        self.lower_factor = lower_factor
        self.extent = source.extent // lower_factor if extent is None else extent
        self.scale = scale

    def to_expr(self):
        """Its value as an expression."""
        value = self.source.source
        value = value.to_expr() if isinstance(value, IterMapExpr) else value
        analyzer = Analyzer()
        is_top = analyzer.can_prove_equal(
            self.lower_factor * self.extent - self.source.extent + 0 * value, 0 * value
        )
        value = value // self.lower_factor
        return analyzer.simplify((value if is_top else value % self.extent) * self.scale)


class IterSumExpr(IterMapExpr):
    """args[0] + args[1] + ... + base."""

    def __init__(self, args, base):
        self.args = list(args)
        self.base = base

    def to_expr(self):
        """Its value as an expression."""
        return Analyzer().simplify(sum((arg.to_expr() for arg in self.args), start=self.base))


class IterMapResult:
    """`indices` in normal form, one sum for each; none and the reason in `errors` if there is no such form."""

    def __init__(self, indices: list[IterSumExpr], reason: str):
        self.indices = indices
        self.errors = [reason] if reason else []


class _Maker:
    """Makes objects of the core's parts; digits of one loop variable have one mark."""

    def __init__(self):
        self.marks = {}

    def mark(self, parts) -> IterMark:
        var, first, fused, extent = parts
        if var is None:
            return IterMark(self.sum(fused, is_fused=True), extent)
        if var not in self.marks:
            self.marks[var] = IterMark(Analyzer().simplify(var - first), extent)
        return self.marks[var]

    def sum(self, parts, is_fused=False) -> IterSumExpr:
        args, base, _ = parts
        digits = [
            IterSplitExpr(self.mark(mark), lower, extent, scale) for mark, lower, extent, scale, _ in args
        ]
        if is_fused or len(digits) < 2:
            return IterSumExpr(digits, base)
        return IterSumExpr([_fused(digits)], base)


def _fused(digits: list[IterSplitExpr]) -> IterSplitExpr:
    """One digit that is all of an iterator which the given ones make up."""
    simplify, unit = Analyzer().simplify, digits[-1].scale
    inner = [
        IterSplitExpr(each.source, each.lower_factor, each.extent, simplify(each.scale // unit))
        for each in digits
    ]
    last = sum(
        ((each.extent - 1) * each.scale for each in inner[1:]), start=(inner[0].extent - 1) * inner[0].scale
    )
    mark = IterMark(IterSumExpr(inner, unit * 0), simplify(last + 1))
    return IterSplitExpr(mark, unit * 0 + 1, mark.extent, unit)


def iter_map(indices, domains, predicate=True, level: str = "surjective", analyzer=None) -> IterMapResult:
    """The normal form of `indices` over loops, as sums of digits.

    indices    expressions of the loop variables
    domains    {Var: Range or (begin, end)}, outermost first
    predicate  holds where the loops run; default True
    level      "bijective", "surjective" or "injective"; default surjective
    """
    found, reason = _core.iter_map_parts(
        list(indices), _ranges(domains), predicate, level, _core_of(analyzer)
    )
    maker = _Maker()
    return IterMapResult([maker.sum(each) for each in found], reason)
