"""The regions that indices reach while loops run, and the bounds that a condition puts on variables."""

from .. import tir
from . import Analyzer, _range, iter_map


def _uses(expr, variables) -> bool:
    used: list = []
    tir.post_order_visit(expr, lambda node: used.append(node) if isinstance(node, tir.Var) else None)
    return any(each.same_as(var) for each in used for var in variables)


def _narrowed(var_dom: dict, predicate):
    """The loops that run where `predicate` holds; None if it is more than bounds of single loops."""
    analyzer = Analyzer()
    for var, domain in var_dom.items():
        analyzer.bind(var, domain)
    open_conditions = [each for each in _conditions(predicate) if not analyzer.can_prove(each)]
    if not open_conditions:
        return var_dom
    bounds = clip_bounds(tir.all(*open_conditions), list(var_dom))
    narrowed = {}
    for n, (var, domain) in enumerate(var_dom.items() if bounds else ()):
        low, high = bounds[2 * n : 2 * n + 2]
        first = domain.min if low is None else tir.max(low, domain.min)
        end = domain.min + domain.extent
        end = end if high is None else tir.min(high + 1, end)
        narrowed[var] = tir.Range(min=analyzer.simplify(first), extent=analyzer.simplify(end - first))
    return narrowed or None


def _exact_sets(region, var_dom: dict, predicate):
    """The (min, max) of ranges whose starts are digits of the loops, each index apart from the others; None for others."""
    var_dom = _narrowed(var_dom, tir.const_like(predicate, None))
    if var_dom is None or any(_uses(each.extent, var_dom) for each in region):
        return None
    analyzer = Analyzer()
    starts = [each.min for each in region]
    for level in ("surjective", "injective"):  # without gaps between the starts, or with
        found = iter_map.iter_map(starts, var_dom, True, level).indices
        if found:
            break
    else:
        return None
    sets = []
    for start, each in zip(found, region, strict=True):
        last = start.base + each.extent - 1
        if start.args:
            (digit,) = start.args
            if level == "injective" and isinstance(digit.source.source, iter_map.IterSumExpr):
                return None  # digits with gaps among them
            # elements between two steps of the digit are to be reached
            if not analyzer.can_prove(tir.all(digit.scale >= 0, each.extent >= digit.scale)):
                return None
            last = last + (digit.extent - 1) * digit.scale
        sets.append((start.base, analyzer.simplify(last)))
    return sets


def exact_bounds(region, domains: dict, predicate=True) -> list[tuple] | None:
    """(min, max) per Range of `region`, which together are exactly what is reached; None if they are not found.

    region     Ranges of expressions of the loop variables
    domains    {Var: Range or (begin, end)} of the loops
    predicate  holds where the loops run; default True
    """
    return _exact_sets(region, {var: _range(domain) for var, domain in domains.items()}, predicate)


def outer_bounds(region, domains: dict, predicate=True) -> list[tuple]:
    """(min, max) per Range of `region`, outside of which nothing is reached; arguments as of exact_bounds."""
    domains = {var: _range(domain) for var, domain in domains.items()}
    exact = _exact_sets(region, domains, predicate)
    if exact is not None:
        return exact
    analyzer = Analyzer()
    for var, domain in domains.items():
        analyzer.bind(var, domain)
    analyzer.require(tir.const_like(predicate, None))
    sets = []
    for each in region:
        low, _ = analyzer.interval(each.min, domains)
        _, high = analyzer.interval(each.min + each.extent - 1, domains)
        sets.append((low, high))
    return sets


def _conditions(condition) -> list:
    if isinstance(condition, tir.And):
        return [*_conditions(condition.a), *_conditions(condition.b)]
    return [condition]


# comparison -> what of both sides is not negative where it holds
_NOT_NEGATIVE = {
    tir.LT: lambda a, b: b - a - 1,
    tir.LE: lambda a, b: b - a,
    tir.GT: lambda a, b: a - b - 1,
    tir.GE: lambda a, b: a - b,
}


def clip_bounds(expr, variables) -> list:
    """[lowest, highest value, ...] of each variable where `expr`, comparisons joined by and, holds.

    A side without a bound is None; the list is empty if a comparison is not between one of the variables and a value.
    """
    analyzer = Analyzer()
    bounds = [[None, None] for _ in variables]
    for condition in _conditions(expr):
        difference = _NOT_NEGATIVE.get(type(condition))
        if difference is None:
            return []
        difference = difference(condition.a, condition.b)
        rest = analyzer.simplify(
            tir.substitute(difference, {var: tir.const(0, var.dtype) for var in variables})
        )
        for place, var in enumerate(variables):
            if analyzer.can_prove_equal(difference, var + rest):
                low, high = bounds[place]
                bounds[place] = [-rest if low is None else tir.max(low, -rest), high]
                break
            if analyzer.can_prove_equal(difference, rest - var):
                low, high = bounds[place]
                bounds[place] = [low, rest if high is None else tir.min(high, rest)]
                break
        else:
            return []
    return [None if side is None else analyzer.simplify(side) for pair in bounds for side in pair]
