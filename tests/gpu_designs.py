"""Designs of the space for GPUs, for tests of its rules."""

import tilewright as tw
from tilewright import _core, te, tune
from tilewright.schedule import Schedule

TARGET = "nvidia/tesla-p100"


def matmul(n, m, k):
    a, b = te.placeholder((n, k), name="A"), te.placeholder((k, m), name="B")
    kk = te.reduce_axis((0, k), name="k")
    return te.create_prim_func(
        [a, b, te.compute((n, m), lambda i, j: te.sum(a[i, kk] * b[kk, j], axis=kk), name="C")]
    )


def row_sums(n, k):
    a, kk = te.placeholder((n, k), name="A"), te.reduce_axis((0, k), name="k")
    return te.create_prim_func([a, te.compute((n,), lambda i: te.sum(a[i, kk], axis=kk), name="S")])


def task_of(func, target=TARGET):
    return tune.Task("main", func, None, tw.Target(target))


def designs_of(func, rules, target=TARGET):
    """(traces, {(block, rule): reason}) of the designs of a function by some rules."""
    traces, attempts = tune.DefaultSpace(rules).explained(task_of(func, target))
    return traces, {(block, rule): reason for block, rule, reason in attempts}


def candidates(func, count, rules, target=TARGET):
    """At most `count` schedules of the space that the target runs, the best by the model first."""
    task, model = task_of(func, target), _core.GpuModel(tw.Target(target))
    search = _core.Search(
        Schedule(task.module)._core, designs_of(func, rules, target)[0], [model], model, 0, 32, 1
    )
    return [Schedule._of(each.sch) for each in search.ask(count)]
