"""Counts of n-grams, against onnxruntime."""

import numpy as np
import pytest
from onnx import helper
from string_testing import check, compiled, found, texts

import tilewright
from tilewright.frontend.onnx import from_onnx

TOKENS = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7]  # unigrams 2, 3, 5, 4; bigrams 5 6, 7 8, 6 7
X = np.array([[1, 1, 3, 3, 3, 7], [8, 6, 7, 5, 6, 8]])


def model_of(x_shape, kind=7, opset=9, **attrs):
    attrs = {
        "mode": "TF", "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0, "ngram_counts": [0, 4],
        "ngram_indexes": [0, 1, 2, 3, 4, 5, 6], **({} if "pool_strings" in attrs else {"pool_int64s": TOKENS}), **attrs,
    }  # fmt: skip
    graph = helper.make_graph(
        [helper.make_node("TfIdfVectorizer", ["x"], ["y"], name="n", **attrs)],
        "g",
        [helper.make_tensor_value_info("x", kind, x_shape)],
        [helper.make_tensor_value_info("y", 1, None)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


@pytest.mark.parametrize("shape", [[2, 6], ["n", 6], ["n", "m"]])
@pytest.mark.parametrize("skips", [0, 1, 5])
@pytest.mark.parametrize("lengths", [(1, 1), (1, 2), (2, 2)])
def test_counts(shape, skips, lengths):
    check(model_of(shape, max_skip_count=skips, min_gram_length=lengths[0], max_gram_length=lengths[1]), X)


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("weights", [None, [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]])
def test_modes(mode, weights):
    attrs = {} if weights is None else {"weights": weights}
    check(model_of(["n", 6], mode=mode, max_skip_count=1, **attrs), X)


def test_rows_vectors_and_int32():
    check(model_of([6]), X[0])
    check(model_of(["m"]), X[1])
    check(model_of(["n", 6], kind=6), X.astype("int32"))


def test_columns_that_are_elsewhere():
    check(model_of(["n", 6], ngram_indexes=[9, 0, 3, 1, 7, 2, 8]), X)


def test_strings():
    pool = ["2", "drei", "5", "", "5", "6", "7", "8", "6", "7"]
    x = texts("1", "1", "drei", "", "3", "7", "8", "6", "7", "5", "6", "8", shape=[2, 6])
    for skips in (0, 5):
        check(model_of(["n", 6], kind=8, pool_strings=pool, max_skip_count=skips), x)


def test_long_grams():
    rng = np.random.default_rng(0)
    attrs = {
        "pool_int64s": [1, 2, 1, 2, 2, 1, 1, 2, 1, 1, 2, 2],
        "ngram_counts": [0, 2, 6],
        "ngram_indexes": [0, 1, 2, 3, 4, 5],
    }
    x = rng.integers(0, 4, (5, 127))
    for least, most, skips in ((1, 3, 0), (2, 3, 2), (3, 3, 7)):
        check(
            model_of(["n", 127], min_gram_length=least, max_gram_length=most, max_skip_count=skips, **attrs),
            x,
        )


def test_many_grams():
    rng = np.random.default_rng(1)
    pairs = rng.permutation(np.stack(np.meshgrid(np.arange(60), np.arange(60)), -1).reshape(-1, 2))[:1000]
    x = rng.integers(0, 70, (7, 50))
    check(
        model_of(
            ["n", 50],
            pool_int64s=pairs.ravel().tolist(),
            ngram_counts=[0, 0],
            ngram_indexes=list(range(1000)),
            max_skip_count=3,
        ),
        x,
    )


def test_short_and_no_rows():
    for columns in (0, 1):
        (y,) = found(model_of(["n", "m"], max_skip_count=2), X[:, :columns])
        np.testing.assert_array_equal(y, np.zeros((2, 7)))
    assert found(model_of(["n", 6]), X[:0])[0].shape == (0, 7)


def test_reuse():
    main = compiled(model_of(["n", "m"]))
    for columns in (6, 2, 4):
        np.testing.assert_array_equal(
            main(X[:, :columns]).numpy(), found(model_of([2, columns]), X[:, :columns])[0]
        )


def test_refusals():
    def error(kind=tilewright.UserError, **more):
        with pytest.raises(kind) as problem:
            from_onnx(model_of(**{"x_shape": ["n", "m"], **more}))
        return str(problem.value).replace('TfIdfVectorizer node "n": ', "")

    assert error(x_shape=[1, 2, 3]) == "error: the input has 3 dimensions, expected at most 2"
    assert error(min_gram_length=3) == "error: min_gram_length is 3, but max_gram_length 2"
    assert error(ngram_counts=[0, 3]) == (
        'error: attribute "ngram_counts" says that 7 tokens of the pool, 3 to 10, are 2-grams'
    )
    assert error(ngram_indexes=[0, 1]) == 'error: attribute "ngram_indexes" has 2 numbers for more n-grams'
    empty = model_of(["n"], ngram_counts=[10])
    del next(each for each in empty.graph.node[0].attribute if each.name == "ngram_indexes").ints[:]
    with pytest.raises(tilewright.UserError) as problem:
        from_onnx(empty)
    assert str(problem.value) == 'error: TfIdfVectorizer node "n": attribute "ngram_indexes" is empty'
    assert error(weights=[1.0]) == 'error: attribute "weights" has 1 values, expected 7'
    assert error(mode="X").startswith('error: mode is "X"')
    assert error(pool_strings=["a"], pool_int64s=[1]) == (
        'error: attributes "pool_int64s" and "pool_strings" are both given, expected one of them'
    )
    unset = model_of(["n"])
    del next(each for each in unset.graph.node[0].attribute if each.name == "pool_int64s").ints[:]
    with pytest.raises(tilewright.UserError) as problem:
        from_onnx(unset)
    assert str(problem.value).removeprefix('error: TfIdfVectorizer node "n": ') == (
        'attributes "pool_int64s" and "pool_strings" are left out, expected one of them'
    )
    assert error(pool_strings=["a"]) == "error: the input holds numbers, but the pool strings"
    assert error(kind=tilewright.UserError, x_shape=["n"], ngram_counts=[11]) == (
        'error: attribute "ngram_counts" says that 0 tokens of the pool, 11 to 10, are 1-grams'
    )
    assert error(tilewright.Unsupported, max_skip_count=100) == (
        "unsupported: max_skip_count is 100, at most 63 are supported\n"
        "help: n-grams with so many tokens between theirs say little; export the model with fewer"
    )
