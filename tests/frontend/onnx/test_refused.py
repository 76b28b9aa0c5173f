"""Operators that are known but not imported: the refusal says why, and what can be done instead."""

import pytest
from onnx import helper

import tilewright
from tilewright.frontend.onnx import operators

REASONS = {
    "BeamSearch": (
        "it searches for tokens, and runs a decoder as often as it needs",
        "compile the decoder, the subgraph of the node, and search in the program that calls it",
    ),
    "PackedAttention": (
        "it packs sequences without padding, for graphics processors",
        "optimize the model without packing (convert_to_packing_mode)",
    ),
    "PagedAttention": (
        "its sequences lie in pages, or one after the other, as a server hands them out",
        "export the model with GroupQueryAttention",
    ),
    "SparseAttention": (
        "a table says which blocks of keys each query reads",
        "export the model with GroupQueryAttention or MultiHeadAttention",
    ),
    "QOrderedMatMul": (
        "its integers lie in an order of one maker's graphics processors",
        "quantize the model with QuantizeLinear and DequantizeLinear",
    ),
    "EPContext": ("it holds a program of another compiler", "take the model from before that compiler"),
    "BitmaskDropout": ("it is made for training", "export the model for inference"),
    "MatMulNBitsMlp": (
        "it joins products for graphics processors in browsers",
        "optimize the model for another processor, with MatMulNBits",
    ),
    "Tokenizer": ("it takes text apart", "make numbers of text before the model"),
}


def model_of(*nodes):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(list(nodes), "g", [value("x", 1, [2])], [value("y", 1, None)])
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


@pytest.mark.parametrize("op", REASONS)
def test_reasons(op):
    reason, advice = REASONS[op]
    node = helper.make_node(op, ["x"], ["y"], "n", domain="com.microsoft")
    with pytest.raises(tilewright.Unsupported) as refused:
        tilewright.compile(model_of(node))
    assert str(refused.value) == (
        f"unsupported: the model uses operators that cannot be imported: com.microsoft::{op} (n): {reason}\nhelp: {advice}"
    )
    assert f"com.microsoft::{op}" not in operators()


def test_one_of_several():
    nodes = [
        helper.make_node("Snpe", ["x"], ["z"], "n", domain="com.microsoft"),
        helper.make_node("Nothing", ["z"], ["y"], "m"),
    ]
    with pytest.raises(tilewright.Unsupported) as refused:
        tilewright.compile(model_of(*nodes))
    first, second = str(refused.value).split("\n")
    assert first.endswith("Nothing (m); com.microsoft::Snpe (n): it holds a program of another compiler")
    assert second.startswith("help: express them with other operators where the model is exported")
