"""Features and encoders: numbers against onnx's ReferenceEvaluator, or written here where the text says more."""

import numpy as np
import pytest
from node_testing import model_of, refusal_of, run, run_op
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

import tilewright

DOMAIN = "ai.onnx.ml"
rng = np.random.default_rng(0)
X = rng.standard_normal((5, 3)).astype("float32")


def check(op, inputs, opset=1, shapes=None, **attrs):
    model = model_of(op, inputs, domain=DOMAIN, opset=opset, shapes=shapes, **attrs)
    (right,) = ReferenceEvaluator(model).run(None, {f"x{n}": each for n, each in enumerate(inputs)})
    (found,) = run(model, inputs)
    assert found.shape == right.shape
    np.testing.assert_allclose(found, right, rtol=1e-6)


def refusal(op, inputs, opset=1, kind=tilewright.UserError, **attrs):
    return refusal_of(op, inputs, domain=DOMAIN, opset=opset, kind=kind, **attrs)


@pytest.mark.parametrize("numbers", [[2.0], [2.0, 0.5, 3.0]])
def test_scaler(numbers):
    check("Scaler", [X], offset=numbers, scale=numbers, shapes=[["n", 3]])
    assert refusal("Scaler", [X], offset=[1.0, 2.0]) == (
        'error: Scaler node "n": attribute "offset" has 2 values for 3 columns'
    )


def test_scaler_of_integers_gives_floats():
    x = np.arange(6).reshape(2, 3)
    found = run_op("Scaler", [x], domain=DOMAIN, opset=1, offset=[1.0], scale=[0.5])[0]
    np.testing.assert_array_equal(found, ((x - 1) * 0.5).astype("float32"))


@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_normalizer(norm):
    check("Normalizer", [X], norm=norm, shapes=[["n", 3]])
    zeros = run_op("Normalizer", [np.zeros((2, 3), "float32")], domain=DOMAIN, opset=1, norm=norm)[0]
    np.testing.assert_array_equal(zeros, np.zeros((2, 3)))


def test_imputer():
    x = np.where(X > 0.5, np.float32(np.nan), X)
    check("Imputer", [x], imputed_value_floats=[1.0, 2.0, 3.0], replaced_value_float=float("nan"))
    check("Imputer", [np.maximum(X, 0)], imputed_value_floats=[7.0], replaced_value_float=0.0)
    found = run_op("Imputer", [np.int64([[1, -1], [-1, 2]])], domain=DOMAIN, opset=1, imputed_value_int64s=[7, 8],
                   replaced_value_int64=-1)[0]  # fmt: skip
    np.testing.assert_array_equal(found, [[1, 8], [7, 2]])
    assert refusal("Imputer", [X], imputed_value_int64s=[1]) == (
        'error: Imputer node "n": attribute "imputed_value_floats" is missing for an input of float32'
    )


def test_binarizer():
    check("Binarizer", [X], threshold=0.25)


@pytest.mark.parametrize("threshold", [-0.5, 0.5, 1e30])
@pytest.mark.parametrize("dtype", ["int64", "int32", "float64"])
def test_binarizer_of_integers_compares_with_a_fraction(dtype, threshold):
    x = np.array([-2, -1, 0, 1, 2], dtype)
    found = run_op("Binarizer", [x], domain=DOMAIN, opset=1, threshold=threshold)[0]
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, (x > threshold).astype(dtype))


@pytest.mark.parametrize("dtype", ["float16", "int8", "bool"])
def test_imputer_of_other_dtypes(dtype):
    x = np.ones((2, 3), dtype)
    given = {"imputed_value_floats": [1.0], "imputed_value_int64s": [1]}
    assert refusal("Imputer", [x], kind=tilewright.Unsupported, **given) == (
        f'unsupported: Imputer node "n": the input has dtype {dtype}, supported are float32, float64, int32 and int64'
    )


@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("place", [3, -1])
def test_columns_that_are_not_there(place, is_constant):
    places = np.int64([0, place])
    model = model_of("ArrayFeatureExtractor", [X, places], domain=DOMAIN, opset=1)
    if is_constant:
        model.graph.initializer.append(numpy_helper.from_array(places, "x1"))
    with pytest.raises(tilewright.UserError, match=f"x1: element 1 is {place}, expected 0 to 2"):
        run(model, [X] if is_constant else [X, places])


def test_array_feature_extractor():
    for places in (np.int64([2, 0]), np.int64([[2, 0, 1, 1]])):
        check("ArrayFeatureExtractor", [X, places])
        check("ArrayFeatureExtractor", [X[0], places])
        check("ArrayFeatureExtractor", [X.reshape(5, 1, 3), places])
    assert refusal("ArrayFeatureExtractor", [np.float32(1), np.int64([0])]) == (
        'error: ArrayFeatureExtractor node "n": the input has 0 dimensions, expected at least 1'
    )


def test_feature_vectorizer():
    check("FeatureVectorizer", [X, X[:, :2]], inputdimensions=[3, 2])
    check("FeatureVectorizer", [X, X], inputdimensions=[2, 5])
    found = run_op("FeatureVectorizer", [np.int64([1, 2]), np.int64([[3]])], domain=DOMAIN, opset=1,
                   inputdimensions=[2, 1])[0]  # fmt: skip
    np.testing.assert_array_equal(found, np.float32([[1, 2, 3]]))
    assert refusal("FeatureVectorizer", [X, X], inputdimensions=[3]) == (
        'error: FeatureVectorizer node "n": attribute "inputdimensions" has 1 numbers for 2 inputs'
    )
    assert refusal("FeatureVectorizer", [X.reshape(5, 1, 3)], inputdimensions=[3]) == (
        'error: FeatureVectorizer node "n": input 0 has 3 dimensions, expected 1 or 2'
    )
    model = model_of("FeatureVectorizer", [X], domain=DOMAIN, opset=1, shapes=[[5, "n"]], inputdimensions=[3])
    with pytest.raises(tilewright.Unsupported) as refused:
        tilewright.compile(model)
    assert str(refused.value) == (
        'unsupported: FeatureVectorizer node "n": the number of columns of input 0 is known only at run time'
    )


def test_one_hot_encoder():
    x = np.int64([[1, 5], [9, 3]])
    for each in (x, x[0], x.astype("float32")):
        check("OneHotEncoder", [each], cats_int64s=[3, 1, 5])
    unsupported = tilewright.Unsupported
    assert refusal("OneHotEncoder", [x], kind=unsupported, cats_int64s=[3], zeros=0) == (
        'unsupported: OneHotEncoder node "n": zeros is 0, which asks for an error at numbers that are no category'
    )


@pytest.mark.parametrize("op", ["ZipMap", "DictVectorizer", "CastMap"])
def test_maps_are_no_tensors(op):
    assert refusal(op, [X], kind=tilewright.Unsupported) == (
        f'unsupported: {op} node "n": it reads or makes maps, which are no tensors\n'
        'help: take the tensor that it is made of as output, with skl2onnx: options={"zipmap": False}'
    )
