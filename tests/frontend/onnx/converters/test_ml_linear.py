"""Linear models and support vectors: numbers against onnxruntime's."""

import numpy as np
import pytest
from node_testing import check_rows, refusal_of

import tilewright

DOMAIN = "ai.onnx.ml"
rng = np.random.default_rng(0)
X = rng.standard_normal((127, 3)).astype("float32")


def floats(*shape):
    return [float(np.float32(value)) for value in rng.standard_normal(shape).ravel()]


def check(op, x=X, **options):
    check_rows(op, x, **options)


@pytest.mark.parametrize("targets", [1, 2])
def test_linear_regressor(targets):
    check("LinearRegressor", targets=targets, coefficients=floats(targets, 3), intercepts=floats(targets))


@pytest.mark.parametrize("post_transform", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"])
def test_linear_classifier_of_three(post_transform):
    attrs = {"coefficients": floats(3, 3), "intercepts": floats(3), "classlabels_ints": [10, 30, 20]}
    check("LinearClassifier", outputs=2, post_transform=post_transform, **attrs)


@pytest.mark.parametrize("post_transform", ["NONE", "LOGISTIC"])
@pytest.mark.parametrize("rows", [1, 2])
def test_linear_classifier_of_two(post_transform, rows):
    attrs = {"coefficients": floats(rows, 3), "intercepts": floats(rows), "classlabels_ints": [10, 30]}
    check("LinearClassifier", outputs=2, post_transform=post_transform, **attrs)


KERNELS = ["LINEAR", "POLY", "RBF", "SIGMOID"]
PARAMS = [0.5, 0.25, 3.0]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("one_class", [0, 1])
def test_svm_regressor(kernel, one_class):
    attrs = {"n_supports": 5, "support_vectors": floats(5, 3), "coefficients": floats(5), "rho": [0.5]}
    check("SVMRegressor", kernel_type=kernel, kernel_params=PARAMS, one_class=one_class, **attrs)


def test_linear_svm_regressor():
    check("SVMRegressor", coefficients=floats(3), rho=[0.5], kernel_params=PARAMS)


@pytest.mark.parametrize("kernel", KERNELS)
def test_svm_classifier_of_three(kernel):
    attrs = {"support_vectors": floats(5, 3), "coefficients": floats(2, 5), "rho": floats(3)}
    check("SVMClassifier", outputs=2, kernel_type=kernel, kernel_params=PARAMS, vectors_per_class=[2, 1, 2],
          classlabels_ints=[10, 30, 20], **attrs)  # fmt: skip


@pytest.mark.parametrize("post_transform", ["NONE", "LOGISTIC"])
def test_svm_classifier_of_two(post_transform):
    attrs = {"support_vectors": floats(5, 3), "coefficients": floats(5), "rho": floats(1)}
    check("SVMClassifier", outputs=2, kernel_type="RBF", kernel_params=PARAMS, vectors_per_class=[2, 3],
          classlabels_ints=[10, 30], post_transform=post_transform, **attrs)  # fmt: skip


def test_linear_svm_classifier():
    attrs = {
        "coefficients": floats(3, 3),
        "rho": [0.5],
        "kernel_params": PARAMS,
        "classlabels_ints": [10, 30, 20],
    }
    check("SVMClassifier", outputs=2, **attrs)


LABELS = {"classlabels_ints": [1, 2, 3]}


@pytest.mark.parametrize(
    ("op", "attrs", "text"),
    [
        ("LinearRegressor", {"coefficients": floats(3), "targets": 2},
         'attribute "coefficients" has 3 values for 2 rows'),
        ("LinearRegressor", {"coefficients": floats(4)}, "the input has 3 columns, the model 4"),
        ("LinearRegressor", {"coefficients": floats(3), "intercepts": floats(2)},
         'attribute "intercepts" has 2 values, expected 1'),
        ("SVMRegressor", {"coefficients": floats(3)}, 'attribute "rho" has 0 values, expected 1'),
        ("SVMClassifier", {"coefficients": floats(3, 3), **LABELS}, 'attribute "rho" has 0 values, expected 1'),
        ("SVMClassifier", {"coefficients": floats(2, 4), "vectors_per_class": [1, 1, 1], **LABELS},
         'attribute "coefficients" has 4 columns and "vectors_per_class" 3 numbers, expected 3 and 3'),
    ],
)  # fmt: skip
def test_models_that_are_wrong(op, attrs, text):
    outputs = 2 if "classlabels_ints" in attrs else 1
    assert refusal_of(op, [X], outputs, domain=DOMAIN, opset=1, **attrs) == f'error: {op} node "n": {text}'


def test_probabilities_of_support_vectors():
    attrs = {"coefficients": floats(2, 3), "vectors_per_class": [1, 1, 1], "prob_a": floats(3), **LABELS}
    assert refusal_of(
        "SVMClassifier", [X], 2, domain=DOMAIN, opset=1, kind=tilewright.Unsupported, **attrs
    ) == (
        'unsupported: SVMClassifier node "n": attribute "prob_a" asks for probabilities, which are found by iteration\n'
        "help: export the model without probabilities, e.g. SVC(probability=False)"
    )


def test_very_many_pairs_of_classes():
    count = 20000
    attrs = {
        "classlabels_ints": range(count),
        "coefficients": [1.0] * (count - 1),
        "support_vectors": [1.0],
        "rho": [0.0],
    }
    sizes = [1] + [0] * (count - 1)
    text = refusal_of("SVMClassifier", [X[:, :1]], outputs=2, domain=DOMAIN, opset=1, kind=tilewright.Unsupported,
                      vectors_per_class=sizes, **attrs)  # fmt: skip
    assert text == (
        'unsupported: SVMClassifier node "n": 20000 classes with 1 '
        "support vectors: each pair of classes gets a row of weights"
    )
