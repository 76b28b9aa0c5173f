"""The generator of random models with open extents, and that it survives what it looks for."""

import pytest
from open_models import generate
from open_models.check import crashed, expected, session
from open_models.makers import MAKERS


def test_a_seed_gives_the_same_model():
    assert generate(7).proto() == generate(7).proto() != generate(8).proto()


def test_each_operator_has_models():
    assert {generate(seed).operator for seed in range(600)} == set(MAKERS)


@pytest.mark.peers
def test_legal_calls_are_legal_for_onnxruntime_and_many_others_are_not():
    refused = 0
    for seed in range(60):
        model = generate(seed)
        reference = session(model.proto())
        for call in model.calls(1, 2):
            answer = expected(reference, call.arrays)
            assert not (call.is_legal and isinstance(answer, str)), (seed, answer)
            refused += isinstance(answer, str)
    assert refused > 30


def test_a_crash_of_onnxruntime_is_not_ours():
    assert crashed(2, "ours", "SIGSEGV").problems == ["CRASH: SIGSEGV"]
    assert crashed(2, "onnxruntime", "SIGSEGV").unsupported == "onnxruntime: SIGSEGV"
