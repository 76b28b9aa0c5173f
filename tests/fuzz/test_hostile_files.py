"""Files that were made to do harm: each kind is refused, and a process that ends or grows is found."""

import functools

import pytest
from hostile_files import KINDS, check, generate
from onnx import TensorProto, helper

import tilewright
from tilewright.frontend.onnx import from_onnx


@functools.cache
def seeds() -> dict:
    """The first seeds by kind."""
    found = {}
    for seed in range(1000):
        found.setdefault(generate(seed).kind, []).append(seed)
    return found


def test_a_seed_gives_the_same_file():
    assert generate(7).data == generate(7).data != generate(8).data
    assert set(seeds()) == set(KINDS)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_files_of_each_kind(kind, tmp_path):
    results = list(check.campaign(tmp_path).results(seeds()[kind][:10], 1))
    assert [f"seed {each.seed}: {each.problem}" for each in results if each.problem] == []
    assert len(results) == 10
    if KINDS[kind][1]:
        assert all(each.is_refused for each in results)


def test_a_process_that_ends_or_grows_is_found(tmp_path):
    campaign = check.campaign(tmp_path)
    assert campaign.crashed(2, "", "SIGKILL").problem == "the process ended: SIGKILL"
    assert campaign.is_last(check.Result(4, "kind", "2000 MB of memory"))
    assert not campaign.is_last(check.Result(4, "kind", "it was imported"))


def test_a_number_for_each_element_of_a_huge_tensor_is_not_asked_for():
    """Seed 9901: k has 2**40 elements, each of which would have become a dimension."""
    kinds = {"x": (TensorProto.FLOAT, [3, 4]), "k": (TensorProto.INT64, [2**40])}
    infos = [helper.make_tensor_value_info(name, *kind) for name, kind in kinds.items()]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    nodes = [helper.make_node("TopK", ["x", "k"], ["y", "i"])]
    model = helper.make_model(
        helper.make_graph(nodes, "g", infos, outputs),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    with pytest.raises(tilewright.Unsupported) as error:
        from_onnx(model)
    assert str(error.value) == (
        'unsupported: TopK node that makes "y": input "k" is known only at run time\n'
        "help: make it a constant where the model is exported"
    )
