"""Several patterns at once in a dataflow block, tied by who uses whose result."""

from ...errors import UserError
from ...ir._nodes import classes
from ..analysis import free_vars
from ._open import current_context, open_contexts
from .nodes import CallPattern, KindPattern, Match, Pattern, WildcardPattern

_VarBinding = classes["relax.VarBinding"]


class PatternContext:
    """Collects `p >> q` (only q uses what p matches) and `p ^ q` (q uses it) inside of a `with` block.

    >>> from tilewright.relax.pattern import PatternContext, is_op, wildcard
    >>> with PatternContext() as ctx:
    ...     product = is_op("relax.matmul")(wildcard(), wildcard())
    ...     relu = product >> is_op("relax.nn.relu")(wildcard())
    >>> found = ctx.match_dfb(mod["main"].body.blocks[0])
    """

    def __init__(self):
        self.patterns: list = []  # in order of their first use
        self.uses: list = []  # (what is used, by whom, whether by nobody else, as which argument or -1)

    @staticmethod
    def current() -> "PatternContext":
        """The context of the innermost `with` block; raises UserError outside of one."""
        return current_context()

    def __enter__(self) -> "PatternContext":
        return open_contexts.push(self)

    def __exit__(self, *exception) -> None:
        open_contexts.pop()

    def add_use(self, used: Pattern, user: Pattern, only: bool, index: int = -1) -> Pattern:
        """Requires that what `user` matches uses what `used` matches; `user`, so that uses can be chained."""
        for pattern in (used, user):
            if not isinstance(pattern, Pattern):
                raise UserError(
                    f"a use between patterns: found a Python {type(pattern).__name__}, expected a pattern"
                )
            if not any(pattern is known for known in self.patterns):
                self.patterns.append(pattern)
        self.uses.append((used, user, only, index))
        return user

    def match_dfb(self, block) -> dict | None:
        """{pattern: variable} that satisfies all patterns and uses in `block`, a dataflow block; None if there is none."""
        return _Search(self, block).run()


class _Search:
    """Assigns variables to patterns one after the other, and goes back where a use does not hold."""

    def __init__(self, context: PatternContext, block):
        self.context = context
        self.values = {b.var: b.value for b in block.bindings if isinstance(b, _VarBinding)}
        self.users: dict = {}
        for var, value in self.values.items():
            for used in _direct_uses(value):
                self.users.setdefault(used, []).append(var)
        self.outside = [var for var in self.users if var not in self.values]

    def run(self) -> dict | None:
        return self._assign(0, {}, Match(self.values.get))

    def _assign(self, number: int, chosen: dict, match: Match) -> dict | None:
        if number == len(self.context.patterns):
            return {**match.found, **chosen}
        pattern = self.context.patterns[number]
        for var in [*self.values, *self.outside]:
            before = dict(match.found)
            if any(var is taken for taken in chosen.values()):
                continue
            if self._fits(pattern, var, match) and self._uses_hold({**chosen, pattern: var}):
                found = self._assign(number + 1, {**chosen, pattern: var}, match)
                if found is not None:
                    return found
            match.found = before
        return None

    def _fits(self, pattern: Pattern, var, match: Match) -> bool:
        # a call with fewer arguments than the program's is tied by the uses instead
        if var not in self.values and not isinstance(pattern, (WildcardPattern, KindPattern)):
            return False
        if isinstance(pattern, CallPattern) and not pattern.args:
            call = match.value_of(var)
            return hasattr(call, "args") and match.attempt(pattern.op, call.op)
        return match.attempt(pattern, var)

    def _uses_hold(self, chosen: dict) -> bool:
        for used, user, only, index in self.context.uses:
            if used not in chosen or user not in chosen:
                continue
            users = self.users.get(chosen[used], [])
            if not any(chosen[user] is each for each in users) or (only and len(users) != 1):
                return False
            if index >= 0 and not self._is_argument(chosen[used], chosen[user], index):
                return False
        return True

    def _is_argument(self, var, user, index: int) -> bool:
        args = getattr(self.values[user], "args", [])
        return index < len(args) and args[index] is var


def _direct_uses(value) -> list:
    return free_vars(value)
