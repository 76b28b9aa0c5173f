"""tvm.arith: bounds of regions as sets."""

from tilewright.arith import regions

from .arith import IntervalSet, _domain


def _sets(bounds, region, var_dom: dict, predicate) -> list | None:
    """The results of `bounds` as sets."""
    domains = {var: _domain(domain) for var, domain in var_dom.items()}
    found = bounds(region, domains, predicate)
    return None if found is None else [IntervalSet(low, high) for low, high in found]


def estimate_region_strict_bound(region, var_dom: dict, predicate=True) -> list | None:
    """A set per Range of `region`: together exactly what is reached while {Var: Range} run; None if they are not found."""
    return _sets(regions.exact_bounds, region, var_dom, predicate)


def estimate_region_upper_bound(region, var_dom: dict, predicate=True) -> list:
    """A set per Range of `region`, outside of which nothing is reached."""
    return _sets(regions.outer_bounds, region, var_dom, predicate)


NAMES = {
    "detect_clip_bound": regions.clip_bounds,
    "estimate_region_lower_bound": estimate_region_strict_bound,  # sets all of which is reached: the exact ones
    "estimate_region_strict_bound": estimate_region_strict_bound,
    "estimate_region_upper_bound": estimate_region_upper_bound,
}
