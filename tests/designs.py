"""Designs of the generic space, for tests of its rules."""

import tilewright as tw
from tilewright import _core, tune


def task_of(func, target="llvm -num-cores=4"):
    return tune.Task("main", func, None, tw.target.Target(target))


def designs_of(func, target="llvm -num-cores=4", rules=None):
    """The traces of the designs of a function, of all rules or some."""
    return tune.DefaultSpace(rules).explained(task_of(func, target))[0]


def attempts_of(func):
    """{(block, rule): reason} of all rules that were tried; the reason is empty where it was applied."""
    return {(block, rule): reason for block, rule, reason in tune.DefaultSpace().explained(task_of(func))[1]}


def candidates(func, count, seed=0, rules=None):
    """At most `count` schedules of the space."""
    program = tw.Schedule(task_of(func).module)
    search = _core.Search(program._core, designs_of(func, rules=rules), [], None, seed, 16, 1)
    return [tw.Schedule._of(each.sch) for each in search.ask(count)]
