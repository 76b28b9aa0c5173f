"""What the lint finds in default schedules: the list is whole, and each entry has its reason."""

import pytest
from devices.programs import PROGRAMS
from gpu_checking import GPU, kernels, operator

import tilewright

#: of a program: what is found of which buffer
FINDINGS = {
    # the elements that are read lie apart
    "strided_slice": {("coalescing", "A")},
    "conv_strided": {("coalescing", "pad_temp")},
    # neighbouring pixels have 3 channels each, which no step of 16 terms takes whole
    "conv_last": {("coalescing", "A")},
    # rows of 3 to 11 elements, shorter than a warp
    "resize_linear": {("coalescing", "T_places")},
    "softmax_of_columns": {("coalescing", "A"), ("coalescing", "T_softmax_exp")},
    "product": {("coalescing", "A")},
    "conv_of_groups": {("coalescing", "pad_temp")},
    "einsum": {("coalescing", "B")},
    # a thread has 4 columns of an odd number, which begin at no vector: loads of them are scalars
    "conv_open": {("coalescing", "conv2d_nchw"), ("banks", "pad_temp_reindex_pad")},
    # lanes write what they have of a fragment of tensor cores, 4 neighbours 16 bytes, and taps lie apart in the weights
    "matmul_half": {("coalescing", "T_cast")},
    "conv_half": {("coalescing", "T_cast"), ("coalescing", "B")},
    # queries and keys lie in blocks, of which threads have a row each
    "attention": {("coalescing", "T_products"), ("coalescing", "T_weights"), ("coalescing", "T_queries")},
}


def found(name):
    """Kinds and buffers of what the lint says, but for how many threads there are: programs are small here."""
    function, *arguments = PROGRAMS[name]
    findings = set()
    for _, func in kernels(operator(function, *arguments)):
        for finding in tilewright.schedule.by_rules(func, GPU).lint(GPU):
            words = str(finding).split()
            kind = words[0].rstrip(":")
            if kind in ("coalescing", "banks"):
                findings.add((kind, words[4]))
    return findings


@pytest.mark.parametrize("name", [name for name in PROGRAMS if not name.startswith(("cumsum", "cumprod"))])
def test_nothing_else_is_slow(name):
    assert found(name) == FINDINGS.get(name, set())


def test_the_list_names_programs():
    assert FINDINGS.keys() <= PROGRAMS.keys()
