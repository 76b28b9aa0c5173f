"""The smallest part of a graph that still fails."""

import dataclasses

import numpy as np

from .graph import Graph, Param, Step, doubled, run_step


def shrink(graph: Graph, fails, max_tries: int = 150) -> Graph:
    """A graph with as few steps as possible for which `fails(graph)` is still true."""
    tries = 0
    smallest = graph.pruned()
    is_smaller = True
    while is_smaller and tries < max_tries:
        is_smaller = False
        for candidate in _candidates(smallest):
            tries += 1
            if tries > max_tries:
                break
            if _is_valid(candidate) and fails(candidate):
                smallest, is_smaller = candidate, True
                break
    return smallest


def _is_valid(graph: Graph) -> bool:
    return bool(graph.results)


def _candidates(graph: Graph):
    """Graphs with less: one result, the last step gone, a step turned into a parameter, no constants, no plain segments."""
    if len(graph.results) > 1:
        for name in graph.results:
            yield dataclasses.replace(graph, results=[name]).pruned()
    by_name = {step.name: step for step in graph.steps}
    for name in graph.results if len(graph.results) == 1 else ():
        for arg in sorted(by_name[name].used() & by_name.keys()) if name in by_name else ():
            if not by_name[arg].is_tuple:
                yield dataclasses.replace(graph, results=[arg]).pruned()
    for step in reversed(graph.steps):
        if not step.is_tuple and len(graph.steps) > 1:
            yield _with_parameter(graph, step)
    for name, param in graph.params.items():
        if param.is_constant:
            params = {**graph.params, name: dataclasses.replace(param, is_constant=False)}
            yield dataclasses.replace(graph, params=params)
    if graph.plain:
        yield dataclasses.replace(graph, plain=set())


def _with_parameter(graph: Graph, step: Step) -> Graph:
    """The graph with the value of `step` as a parameter."""
    values = []
    for sample, n in enumerate(graph.sizes):
        known = {name: doubled(param.values[sample]) for name, param in graph.params.items()}
        for each in graph.steps:
            run_step(each, known, n)
        values.append(np.asarray(known[step.name]).astype(step.types[0].dtype))
    param = Param(step.name, step.types[0], values)
    steps = [each for each in graph.steps if each is not step]
    return dataclasses.replace(graph, steps=steps, params={**graph.params, step.name: param}).pruned()
