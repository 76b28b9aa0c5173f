"""The open PatternContexts, which patterns tell about calls and uses."""

from ..._stack import ContextStack
from ...errors import UserError

open_contexts = ContextStack()


def current_context():
    """The PatternContext of the innermost `with` block; raises UserError outside of one."""
    if open_contexts.top is None:
        raise UserError(
            "a use between patterns stands outside of a PatternContext"
            "\nhelp: write it inside of `with PatternContext() as ctx:`"
        )
    return open_contexts.top


def expect(pattern) -> None:
    """Makes `pattern` one of those that the innermost context looks for; does nothing outside of a `with` block."""
    context = open_contexts.top
    if context is not None and not any(pattern is known for known in context.patterns):
        context.patterns.append(pattern)
