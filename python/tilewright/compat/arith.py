"""tvm.arith: the names that TVM gives to tilewright.arith."""

from tilewright import arith, ir, tir
from tilewright.arith import iter_map

from .analysis import undefined_vars


class ConstIntBound:
    """min_value <= x <= max_value."""

    POS_INF = 2**63 - 1
    NEG_INF = -(2**63 - 1)

    def __init__(self, min_value, max_value):
        self.min_value = self.NEG_INF if min_value is None else min_value
        self.max_value = self.POS_INF if max_value is None else max_value

    def __eq__(self, other) -> bool:
        return (self.min_value, self.max_value) == (other.min_value, other.max_value)

    __hash__ = None


class ModularSet:
    """x == base modulo coeff."""

    def __init__(self, coeff: int, base: int):
        self.coeff = coeff
        self.base = base


class IntervalSet:
    """All integers from min_value to max_value; a side that is None has no bound."""

    def __init__(self, min_value, max_value):
        self.min_value = min_value
        self.max_value = max_value

    def is_nothing(self) -> bool:
        """True if no integer is surely in it."""
        bounded = self.min_value is not None and self.max_value is not None
        return bounded and arith.Analyzer().can_prove(self.max_value < self.min_value)

    def is_everything(self) -> bool:
        """True if no side has a bound."""
        return self.min_value is None and self.max_value is None

    @staticmethod
    def vector(value):
        """The values of a ramp or a scalar."""
        return IntervalSet(value, value)

    single_point = vector


def _domain(value):
    if isinstance(value, IntervalSet):
        return ir.Range(value.min_value, value.max_value - value.min_value + 1)
    return value


class ProofStrength:
    """How hard can_prove tries; tilewright always tries its hardest."""

    DEFAULT = 0
    SYMBOLIC_BOUND = 1


class Analyzer(arith.Analyzer):
    """tilewright.arith.Analyzer with the methods of TVM's."""

    def bind(self, var, expr, allow_override: bool = False) -> None:
        """Says that `var` is in a Range, or stands for an expression."""
        super().bind(var, expr)

    def const_int_bound(self, expr) -> ConstIntBound:
        """The constants around `expr`."""
        return ConstIntBound(*self.const_bounds(expr))

    def modular_set(self, expr) -> ModularSet:
        """The remainder that all values of `expr` have modulo some number."""
        return ModularSet(*super().modular_set(expr))

    def simplify(self, expr, steps: int = 2):
        """A simpler expression."""
        return super().simplify(expr)

    rewrite_simplify = canonical_simplify = arith.Analyzer.simplify

    def can_prove(self, expr, strength=ProofStrength.DEFAULT) -> bool:
        """True only if `expr` always holds."""
        return super().can_prove(expr)

    def can_prove_greater_equal(self, expr, lower_bound: int) -> bool:
        """True only if `expr` is never below lower_bound."""
        return super().can_prove(expr >= lower_bound)

    def can_prove_less(self, expr, upper_bound: int) -> bool:
        """True only if `expr` is always below upper_bound."""
        return super().can_prove(expr < upper_bound)

    def int_set(self, expr, dom_map=None) -> IntervalSet:
        """The values of `expr` while the variables of {Var: Range or IntervalSet} run."""
        domains = {var: _domain(domain) for var, domain in (dom_map or {}).items()}
        return IntervalSet(*self.interval(expr, domains))

    def constraint_scope(self, constraint):
        """A `with` block in which `constraint` holds."""
        return self.assume(constraint)

    def update(self, var, info, override: bool = False) -> None:
        """Takes over a ConstIntBound of `var`."""
        if info.min_value != ConstIntBound.NEG_INF:
            self.require(var >= info.min_value)
        if info.max_value != ConstIntBound.POS_INF:
            self.require(var <= info.max_value)


class IterMapLevel:
    """The property that a map must have."""

    Bijective = 0
    Surjective = 1
    NoCheck = 3


_LEVELS = {0: "bijective", 1: "surjective", 3: "injective"}


def _level(check_level) -> str:
    if isinstance(check_level, int):
        return _LEVELS[check_level]
    name = str(check_level).lower()
    return "injective" if name == "nocheck" else name


def detect_iter_map(
    indices, input_iters, predicate=True, check_level=IterMapLevel.Surjective, simplify_trivial_iterators=True
) -> iter_map.IterMapResult:
    """The normal form of indices over {Var: Range}."""
    return iter_map.iter_map(indices, input_iters, predicate, _level(check_level))


def iter_map_simplify(
    indices, input_iters, predicate=True, check_level=IterMapLevel.Surjective, simplify_trivial_iterators=True
) -> list:
    """The indices as simple as their normal form makes them."""
    return arith.normalize_iter_map(indices, input_iters, predicate)


def normalize_iter_map_to_expr(expr):
    """The expression that a part of a normal form stands for."""
    return expr.to_expr() if isinstance(expr, iter_map.IterMapExpr) else Analyzer().simplify(expr)


def _loops_of(sums) -> dict:
    """{loop variable: range} of the marks in sums of digits."""
    domains = {}
    for each in sums:
        for digit in each.args:
            source = digit.source.source
            if isinstance(source, iter_map.IterSumExpr):
                domains |= _loops_of([source])
                continue
            (var,) = undefined_vars(source)
            first = Analyzer().simplify(var - source)
            domains[var] = ir.Range(first, digit.source.extent)
    return domains


def inverse_affine_iter_map(iter_map_of_indices, outputs) -> dict:
    """{loop variable: its value} from the values that indices in normal form have."""
    indices = [normalize_iter_map_to_expr(each) for each in iter_map_of_indices]
    return arith.inverse_affine_iter_map(indices, _loops_of(iter_map_of_indices), outputs)


class _Part(iter_map.IterMapExpr):
    """A side of a divided index, whose digits are not asked for."""

    def __init__(self, expr):
        self._expr = expr

    def to_expr(self):
        """Its value as an expression."""
        return self._expr


def subspace_divide(
    bindings,
    input_iters,
    sub_iters,
    predicate=True,
    check_level=IterMapLevel.Surjective,
    simplify_trivial_iterators=True,
) -> list:
    """[outer, inner] marks of each index, and of the predicate at the end; empty if they cannot be told apart."""
    found, outer, inner, reason = arith.subspace_divide(bindings, input_iters, sub_iters, predicate)
    if reason:
        return []
    sides = [[iter_map.IterMark(_Part(a), m), iter_map.IterMark(_Part(b), n)] for a, m, b, n in found]
    return [*sides, [iter_map.IterMark(_Part(tir.const(0)), each) for each in (outer, inner)]]


def detect_linear_equation(expr, variables) -> list:
    """[a, b, ..., rest] with expr == a * x + b * y + ... + rest for variables x, y, ...; empty if it has no such form."""
    analyzer = Analyzer()
    nothing = {var: tir.const(0, var.dtype) for var in variables}
    rest = analyzer.simplify(tir.substitute(expr, nothing))
    found, total = [], rest
    for var in variables:
        one = tir.substitute(expr, {**nothing, var: tir.const(1, var.dtype)})
        found.append(analyzer.simplify(one - rest))
        total = total + found[-1] * var
    return [*found, rest] if analyzer.can_prove_equal(expr, total) else []


def deduce_bound(var, cond, hint_map, relax_map) -> IntervalSet:
    """The values of `var` for which `cond` holds whatever the other variables are."""
    domains = {key: _domain(value) for key, value in {**hint_map, **relax_map}.items()}
    found = Analyzer().deduce_bound(var, cond, domains)
    return IntervalSet(*(found or (tir.const(1), tir.const(0))))


NAMES = {
    "Analyzer": Analyzer,
    "ConstIntBound": ConstIntBound,
    "ModularSet": ModularSet,
    "IntervalSet": IntervalSet,
    "IntSet": IntervalSet,
    "ProofStrength": ProofStrength,
    "IterMapLevel": IterMapLevel,
    "detect_iter_map": detect_iter_map,
    "deduce_bound": deduce_bound,
    "detect_linear_equation": detect_linear_equation,
    "IterMapExpr": iter_map.IterMapExpr,
    "IterMapResult": iter_map.IterMapResult,
    "IterMark": iter_map.IterMark,
    "IterSplitExpr": iter_map.IterSplitExpr,
    "IterSumExpr": iter_map.IterSumExpr,
    "iter_map_simplify": iter_map_simplify,
    "normalize_iter_map_to_expr": normalize_iter_map_to_expr,
    "inverse_affine_iter_map": inverse_affine_iter_map,
    "subspace_divide": subspace_divide,
}
