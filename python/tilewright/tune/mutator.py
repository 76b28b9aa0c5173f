"""How the search changes candidates: other decisions of what traces draw."""

from .. import _core
from ..errors import Unsupported, UserError
from ..schedule import Trace


class Mutator:
    """Makes another trace of a candidate's; a subclass needs apply(trace, seed).

    The trace that it gives is replayed from the program, and left out where a step is refused.
    >>> class Again(tilewright.tune.Mutator):
    ...     def apply(self, trace, seed):
    ...         return tilewright.tune.undecided(trace)
    >>> tilewright.tune.tune(MyModule, database=tilewright.tune.RecordFile("tune.db"), trials=1, mutators={Again(): 1.0})
    """

    def apply(self, trace: Trace, seed: int) -> Trace | None:
        """Another trace, or None where there is none; `seed` is of what it draws."""
        raise Unsupported(
            f"{type(self).__name__} has no method apply(trace, seed)\n"
            "help: define it, as tune.MutateSamples does"
        )


class MutateSamples(Mutator):
    """Decides one sample otherwise: factors of a tile move a prime from one to another, others are drawn again.

    primitives  the steps whose samples it decides; default (): all
    >>> tilewright.tune.MutateSamples("sample_perfect_tile").primitives
    ['sample_perfect_tile']
    """

    def __init__(self, *primitives: str):
        known = {
            name for name, _, _, args in _core.primitive_table() if any(arg[0] == "decision" for arg in args)
        }
        for name in primitives:
            if name not in known:
                raise UserError(
                    f'MutateSamples: "{name}" draws nothing\nhelp: one of {", ".join(sorted(known))}'
                )
        self.primitives = list(primitives)

    def apply(self, trace: Trace, seed: int) -> Trace | None:
        return _core.mutated_trace(trace, seed, self.primitives)


def undecided(trace: Trace) -> Trace:
    """The trace without what it drew, so that replaying it draws again."""
    return _core.undecided_trace(trace)


def _is_in_cpp(mutator: Mutator) -> bool:
    return isinstance(mutator, MutateSamples) and type(mutator).apply is MutateSamples.apply


def weighted(mutators) -> list[tuple]:
    """[(what, weight)] as the search takes mutators: {mutator: weight}, or a list of mutators of equal weight.

    Raises UserError for what is no mutator, and weights that are not above 0
    """
    pairs = list(mutators.items()) if isinstance(mutators, dict) else [(each, 1.0) for each in mutators]
    for mutator, weight in pairs:
        if not isinstance(mutator, Mutator):
            raise UserError(f"mutators has a Python {type(mutator).__name__}, expected tune.Mutator")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not weight > 0:
            raise UserError(
                f"mutators gives {type(mutator).__name__} the weight {weight!r}, expected more than 0"
            )
    return [(each.primitives if _is_in_cpp(each) else each, float(weight)) for each, weight in pairs]
