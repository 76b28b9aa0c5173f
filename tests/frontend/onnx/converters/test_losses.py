"""Losses of classifiers, against onnx's reference and torch."""

import numpy as np
import pytest
from onnx_peer import RNG, by_reference, by_us, check_open, model_of, some

import tilewright

SCORES, CLASSES = some(5, 7, 3, 2), RNG.integers(0, 7, (5, 3, 2))
WEIGHTS = RNG.uniform(0.5, 2, 7).astype("float32")


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("ignored", [None, 3, -5])
@pytest.mark.parametrize("has_weights", [False, True])
def test_losses(reduction, ignored, has_weights):
    classes = CLASSES.copy()
    if ignored is not None:
        classes[0, 0] = ignored
    arrays = [SCORES, classes] + [WEIGHTS] * has_weights
    attrs = {"reduction": reduction} | ({} if ignored is None else {"ignore_index": ignored})
    check_open("NegativeLogLikelihoodLoss", arrays, peer=by_reference, **attrs)
    check_open("SoftmaxCrossEntropyLoss", arrays, peer=by_reference, outputs=2, **attrs)


def test_one_sample_a_row():
    check_open(
        "SoftmaxCrossEntropyLoss", [SCORES[:, :, 0, 0], CLASSES[:, 0, 0].astype("int32")], peer=by_reference
    )


def test_half_is_summed_in_float32():
    scores = np.full((2048, 7), 4, "float16")
    classes = np.zeros(2048, "int64")
    check_open("NegativeLogLikelihoodLoss", [-scores, classes], reduction="mean", expected=[np.float16(4)])


def test_an_ignored_infinity_is_no_nan():
    scores = np.array([[-np.inf, -1], [-2, -3]], "float32")
    arrays = [scores, np.array([0, 1])]
    check_open("NegativeLogLikelihoodLoss", arrays, ignore_index=0, reduction="sum", expected=[np.float32(3)])


def test_no_samples():
    arrays = [SCORES[:0], CLASSES[:0]]
    check_open("NegativeLogLikelihoodLoss", arrays, reduction="sum", expected=[np.float32(0)])


@pytest.mark.parametrize("wrong", [-1, 7])
def test_a_class_that_is_none(wrong):
    classes = np.array([0, wrong, 1])
    with pytest.raises(tilewright.UserError) as error:
        by_us(model_of("NegativeLogLikelihoodLoss", [some(3, 7), classes]), [some(3, 7), classes])
    assert str(error.value) == (
        f'error: NegativeLogLikelihoodLoss node that makes "y0": x1: element 1 is {wrong}, expected 0 to 6'
    )
