"""Facts about integer expressions: simpler forms, proofs, bounds, iterator maps.

analyzer = tilewright.arith.Analyzer()
analyzer.bind(i, (0, 16))
analyzer.simplify((i * 4 + 3) // 4)
"""

from contextlib import contextmanager

from .. import _core
from .._guard import guard_module
from ..ir._nodes import classes

_Range = classes["ir.Range"]


def _range(domain):
    """`domain` as a Range: one already, (begin, end), or an extent."""
    if isinstance(domain, _Range):
        return domain
    begin, end = domain if isinstance(domain, (tuple, list)) else (0, domain)
    return _Range(begin, end - begin)


def _ranges(domains) -> list:
    return [(var, _range(domain)) for var, domain in dict(domains or {}).items()]


class Analyzer:
    """Simplifies and proves under what it was told of variables.  "Proved" is never wrong; "not proved" may be."""

    def __init__(self):
        self._core = _core.Analyzer()

    def bind(self, var, domain) -> None:
        """Says that `var` is in `domain`, a Range or (begin, end), or equals `domain`, an expression."""
        if isinstance(domain, (_Range, tuple, list)):
            self._core.bind_range(var, _range(domain))
        else:
            self._core.bind_value(var, domain)

    def require(self, condition) -> None:
        """Says that `condition`, a bool expression, holds."""
        self._core.require(condition)

    @contextmanager
    def assume(self, condition):
        """A `with` block in which `condition` holds."""
        assumption = self._core.assume(condition)
        try:
            yield self
        finally:
            assumption.close()

    def simplify(self, expr):
        """An expression of equal value and dtype that is no more complex."""
        return self._core.simplify(expr)

    def can_prove(self, condition) -> bool:
        """True only if `condition` always holds."""
        return self._core.can_prove(condition)

    def can_prove_equal(self, a, b) -> bool:
        """True only if a == b always."""
        return self._core.can_prove_equal(a, b)

    def const_bounds(self, expr) -> tuple:
        """(smallest, largest) value of `expr` as ints; None where there is no bound."""
        return self._core.const_bounds(expr)

    def modular_set(self, expr) -> tuple[int, int]:
        """(coeff, base) with expr == base modulo coeff; coeff 1 says nothing, coeff 0 that expr is base."""
        return self._core.modular_set(expr)

    def interval(self, expr, domains) -> tuple:
        """(min, max) of `expr` as expressions while the variables run.

        domains  {Var: Range or (begin, end)}
        Returns  None for a side without bound
        """
        return self._core.interval(expr, _ranges(domains))

    def deduce_bound(self, var, condition, domains=None):
        """(min, max) of the values of `var` for which `condition` surely holds; None if nothing is found.

        domains  {Var: Range} of other variables, whatever values of which must satisfy it; default none
        """
        return self._core.deduce_bound(var, condition, _ranges(domains))


def detect_iter_map(indices, domains, predicate=True, level: str = "surjective", analyzer=None) -> tuple:
    """(indices in their normal form, "") if loops make them by fusing and splitting, else ([], the reason).

    indices    expressions of the loop variables
    domains    {Var: Range or (begin, end)}, outermost first
    predicate  holds where the loops run; default True
    level      "bijective", "surjective" or "injective"; default surjective
    """
    return _core.detect_iter_map(list(indices), _ranges(domains), predicate, level, _core_of(analyzer))


def normalize_iter_map(indices, domains, predicate=True, analyzer=None) -> list:
    """The indices in the simplest form that their normal form gives; one without is simplified as it is."""
    return _core.normalize_iter_map(list(indices), _ranges(domains), predicate, _core_of(analyzer))


def inverse_affine_iter_map(indices, domains, outputs, analyzer=None) -> dict:
    """{loop variable: its value in terms of `outputs`}, one output per index.

    Raises UserError, with the reason, if the map is not one to one.
    """
    return dict(
        _core.inverse_affine_iter_map(list(indices), _ranges(domains), list(outputs), _core_of(analyzer))
    )


def padded_ranges(domains, indices) -> dict:
    """{loop variable: its range, made as long as the digits in `indices` repeat}: range(14) in digits of 4 becomes range(16)."""
    return dict(_core.padded_ranges(_ranges(domains), list(indices)))


def subspace_divide(indices, domains, inner_vars, predicate=True, analyzer=None) -> tuple:
    """([(outer, outer extent, inner, inner extent)] per index, outer predicate, inner predicate, reason).

    inner_vars  the loop variables of one tile
    Returns     an empty list and the reason if an index or the predicate mixes the tile with what is around it
    """
    return _core.subspace_divide(
        list(indices), _ranges(domains), list(inner_vars), predicate, _core_of(analyzer)
    )


def simplify_program(func):
    """The loop program with every expression simplified under the loops and conditions around it; itself if nothing changes."""
    return _core.simplify_program(func)


def _core_of(analyzer):
    return analyzer._core if analyzer is not None else _core.Analyzer()


__all__ = [
    "Analyzer", "detect_iter_map", "inverse_affine_iter_map", "normalize_iter_map", "padded_ranges",
    "simplify_program", "subspace_divide",
]  # fmt: skip

guard_module(__name__, globals(), __all__)
