"""The generator of random nodes: what it makes is legal for the references, and what is wrong is found."""

import numpy as np
import pytest
from random_nodes import MAKERS, check, generate
from random_nodes.check import difference, expected


def test_a_seed_gives_the_same_node():
    assert generate(7).text() == generate(7).text() != generate(8).text()
    assert generate(7).model() == generate(7).model()


def test_each_family_has_nodes_and_extents_are_open():
    made = [generate(seed) for seed in range(1500)]
    assert len({spec.op for spec in made}) > 100 > len(MAKERS)
    assert sum(bool(spec.open_axes) for spec in made) > 300


@pytest.mark.peers
def test_nearly_all_nodes_are_legal_for_a_reference():
    assert sum(bool(expected(generate(seed))) for seed in range(150)) > 140


@pytest.mark.peers
def test_a_wrong_number_is_found(monkeypatch):
    seed = next(seed for seed in range(99) if generate(seed).op == "MatMul")
    assert check.check(seed).problem == ""
    right = expected(generate(seed))
    monkeypatch.setattr(check, "expected", lambda spec: [[each + 1 for each in one] for one in right])
    assert ", expected " in check.check(seed).problem


def test_differences():
    spec = generate(0)
    one = np.ones(3, "float32")
    assert difference([one], [one], spec) == ""
    assert difference([one], [one.astype("float64")], spec) == "float32[3], expected float64[3]"
    assert difference([one], [one[:2]], spec) == "float32[3], expected float32[2]"
    assert difference([one], [one + 1], spec) == "[1. 1. 1.], expected [2. 2. 2.]"
    assert difference([one > 0], [one > 1], spec) != ""
