"""Look-ups in tables of keys, and labels of classifiers, which may be strings: against onnxruntime."""

import numpy as np
import pytest
from node_testing import refusal_of, run_op
from onnx import helper, numpy_helper
from string_testing import check, compiled, found, texts

import tilewright
from tilewright.frontend.onnx import from_onnx

DOMAIN = "ai.onnx.ml"
rng = np.random.default_rng(0)


def model_of(op, kind, shape, outputs=(8,), opset=2, **attrs):
    names = [f"y{n}" for n in range(len(outputs))]
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], names, name="n", domain=DOMAIN, **attrs)],
        "g",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info(name, each, None) for name, each in zip(names, outputs, strict=True)],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def refused(model, kind=tilewright.UserError) -> str:
    with pytest.raises(kind) as problem:
        from_onnx(model)
    return str(problem.value)


# ---- LabelEncoder


def encoded(x, opset=2, **attrs):
    """A LabelEncoder of numbers."""
    return run_op("LabelEncoder", [x], domain=DOMAIN, opset=opset, **attrs)[0]


def test_label_encoder():
    x = np.int64([[1, 5, 7], [-3, 5, 0]])
    keys, values = [5, -3, 1], [0.5, 1.5, 2.5]
    found = encoded(x, keys_int64s=keys, values_floats=values, default_float=-1.0)
    np.testing.assert_array_equal(found, np.float32([[2.5, 0.5, -1], [1.5, 0.5, -1]]))
    found = encoded(x, keys_int64s=keys, values_int64s=[10, 2**40, 30])
    np.testing.assert_array_equal(found, [[30, 10, -1], [2**40, 10, -1]])


def test_label_encoder_of_floats_and_nan():
    x = np.float32([1.5, np.nan, 2, -1])
    found = encoded(x, keys_floats=[2.0, float("nan"), 1.5, 2.0], values_int64s=[1, 2, 3, 4])
    np.testing.assert_array_equal(found, [3, 2, 4, -1])  # of equal keys the last
    found = encoded(x, keys_floats=[float("nan")], values_floats=[0.5])
    np.testing.assert_array_equal(found, np.float32([0, 0.5, 0, 0]))


def test_label_encoder_of_integers_that_are_no_doubles():
    x = np.int64([2**53, 2**53 + 1, 5])
    keys, values = [2**53 + 1, 2**53], [2**60 + 1, 2**60 + 3]
    right = np.int64([2**60 + 3, 2**60 + 1, -7])
    np.testing.assert_array_equal(encoded(x, keys_int64s=keys, values_int64s=values, default_int64=-7), right)
    tensors = {"keys_tensor": keys, "values_tensor": values, "default_tensor": [-7]}
    tensors = {name: numpy_helper.from_array(np.int64(each)) for name, each in tensors.items()}
    np.testing.assert_array_equal(encoded(x, 4, **tensors), right)


def test_the_last_of_equal_keys_counts():
    found = encoded(np.int64([1, 2, 3]), keys_int64s=[1, 2, 1], values_int64s=[10, 20, 30])
    np.testing.assert_array_equal(found, [30, 20, -1])


def test_tensors_of_label_encoders_that_are_refused():
    x = np.int64([1])
    two = numpy_helper.from_array(np.int64([5, 6]))
    for default, text in [
        (np.int64([7, 8]), "2 elements of int64"),
        (np.float32([7]), "1 element of float32"),
    ]:
        tensors = {
            "keys_tensor": two,
            "values_tensor": two,
            "default_tensor": numpy_helper.from_array(default),
        }
        assert refusal_of("LabelEncoder", [x], domain=DOMAIN, opset=4, **tensors) == (
            f'error: LabelEncoder node "n": attribute "default_tensor" has {text}, expected one int64'
        )
    bytes_ = numpy_helper.from_array(np.uint8([5, 6]))
    assert refusal_of(
        "LabelEncoder",
        [x],
        domain=DOMAIN,
        opset=4,
        kind=tilewright.Unsupported,
        keys_tensor=bytes_,
        values_tensor=two,
    ) == (
        'unsupported: LabelEncoder node "n": attribute "keys_tensor" has dtype uint8, supported are float32, float64, '
        "int32 and int64"
    )


def test_label_encoder_of_tensors():
    def tensor(values, name):
        return numpy_helper.from_array(np.array(values), name)

    found = encoded(np.float64([1, 2, 3]), 4, keys_tensor=tensor([1.0, 3.0], "k"), values_tensor=tensor([10, 30], "v"),
                    default_tensor=tensor([7], "d"))  # fmt: skip
    np.testing.assert_array_equal(found, [10, 7, 30])


def test_label_encoders_that_are_refused():
    x = np.int64([1])
    assert refusal_of("LabelEncoder", [x], domain=DOMAIN, opset=2, keys_int64s=[1, 2], values_int64s=[1]) == (
        'error: LabelEncoder node "n": 2 keys and 1 value, expected as many, and one at least'
    )
    assert refusal_of("LabelEncoder", [x], domain=DOMAIN, opset=2, keys_floats=[1.0], values_int64s=[1]) == (
        'error: LabelEncoder node "n": the input is int64, but its keys are float32'
    )


WORDS = texts("b", "unknown", "", "ä", "a", "b")


@pytest.mark.parametrize("shape", [[2, 3], ["n", 3]])
def test_strings_to_numbers(shape):
    x = WORDS.reshape(2, 3)
    keys = ["b", "a", "", "ä"]
    check(
        model_of(
            "LabelEncoder",
            8,
            shape,
            (7,),
            keys_strings=keys,
            values_int64s=[3, 1, 4, 2**40],
            default_int64=-7,
        ),
        x,
    )
    check(model_of("LabelEncoder", 8, shape, (7,), keys_strings=keys, values_int64s=[3, 1, 4, 1]), x)
    check(
        model_of(
            "LabelEncoder",
            8,
            shape,
            (1,),
            keys_strings=keys,
            values_floats=[0.5, 1.5, 2.5, 3.5],
            default_float=9.0,
        ),
        x,
    )


def test_numbers_to_strings():
    attrs = {"keys_int64s": [5, 1, -3], "values_strings": ["five", "", "ä"]}
    x = np.array([[1, 5], [2, -3]])
    check(model_of("LabelEncoder", 7, ["n", 2], **attrs, default_string="none"), x)
    check(model_of("LabelEncoder", 7, ["n", 2], **attrs), x)
    attrs = {
        "keys_floats": [0.5, float("nan")],
        "values_strings": ["half", "none"],
        "default_string": "other",
    }
    (y,) = found(model_of("LabelEncoder", 1, [3], **attrs), np.float32([np.nan, 0.5, 1]))
    assert y.tolist() == ["none", "half", "other"]


def test_strings_to_strings():
    attrs = {"keys_strings": ["a", "b"], "values_strings": ["b", "a"]}
    check(model_of("LabelEncoder", 8, ["n"], **attrs), WORDS)
    check(model_of("LabelEncoder", 8, ["n"], **attrs, default_string=""), WORDS)


def test_tensors_of_strings():
    def tensor(name, *values):
        return helper.make_tensor(name, 8, [len(values)], [each.encode() for each in values])

    number = numpy_helper.from_array
    keys, values = tensor("k", "a", "b"), number(np.int64([10, 20]), "v")
    default = number(np.int64([-5]), "d")
    (y,) = found(
        model_of(
            "LabelEncoder", 8, ["n"], (7,), 4, keys_tensor=keys, values_tensor=values, default_tensor=default
        ),
        WORDS,
    )
    assert y.tolist() == [20, -5, -5, -5, 10, 20]
    (y,) = found(
        model_of(
            "LabelEncoder",
            7,
            ["n"],
            (8,),
            4,
            keys_tensor=values,
            values_tensor=keys,
            default_tensor=tensor("d", "?"),
        ),
        np.array([20, 1]),
    )
    assert y.tolist() == ["b", "?"]


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_short_values(dtype):
    keys = helper.make_tensor("k", 8, [2], [b"a", b"b"])
    values, default = (numpy_helper.from_array(np.array(each, dtype), "v") for each in ([10, -20], [5]))
    model = model_of(
        "LabelEncoder",
        8,
        ["n"],
        (3 if dtype == "int8" else 5,),
        4,
        keys_tensor=keys,
        values_tensor=values,
        default_tensor=default,
    )
    (y,) = found(model, WORDS)
    assert y.dtype == dtype and y.tolist() == [-20, 5, 5, 5, 10, -20]


def test_version_1_counts():
    model = model_of("LabelEncoder", 8, ["n"], (7,), 1, classes_strings=["b", "a"], default_int64=-2)
    assert found(model, WORDS)[0].tolist() == [0, -2, -2, -2, 1, 0]
    model = model_of("LabelEncoder", 7, ["n"], (8,), 1, classes_strings=["b", "a"], default_string="none")
    assert found(model, np.array([1, 0, 7, -1]))[0].tolist() == ["a", "b", "none", "none"]


def test_category_mapper():
    attrs = {
        "cats_strings": ["a", "b"],
        "cats_int64s": [10, 20],
        "default_int64": 7,
        "default_string": "none",
    }
    check(model_of("CategoryMapper", 8, ["n"], (7,), 1, **attrs), WORDS)
    check(model_of("CategoryMapper", 7, ["n"], (8,), 1, **attrs), np.array([20, 3, 10]))


def test_a_large_vocabulary():
    words = [f"word {n}" for n in range(20_000)]
    main = compiled(
        model_of("LabelEncoder", 8, ["n"], (7,), keys_strings=words, values_int64s=list(range(20_000)))
    )
    chosen = rng.integers(0, 25_000, 1000)
    expected = [n if n < 20_000 else -1 for n in chosen]
    assert main([f"word {n}" for n in chosen]).numpy().tolist() == expected


def test_refusals():
    assert refused(model_of("LabelEncoder", 8, [1], keys_int64s=[1], values_int64s=[1])) == (
        'error: LabelEncoder node "n": the input is strings, but its keys are int64'
    )
    assert refused(model_of("LabelEncoder", 7, [1], keys_strings=["a"], values_int64s=[1])) == (
        'error: LabelEncoder node "n": the input is int64, but its keys are strings'
    )
    assert refused(model_of("LabelEncoder", 7, [1], keys_int64s=[1, 2], values_strings=["a"])) == (
        'error: LabelEncoder node "n": 2 keys and 1 value, expected as many, and one at least'
    )


def test_one_hot_encoder():
    check(model_of("OneHotEncoder", 8, ["n", 3], (1,), 1, cats_strings=["b", "ä", ""]), WORDS.reshape(2, 3))
    assert refused(model_of("OneHotEncoder", 7, [3], (1,), 1, cats_strings=["b"])) == (
        'error: OneHotEncoder node "n": the input holds numbers, but its categories are strings'
    )
    assert refused(model_of("OneHotEncoder", 8, [3], (1,), 1, cats_int64s=[1])) == (
        'error: OneHotEncoder node "n": the input holds strings, but its categories are numbers'
    )


def test_columns_of_strings():
    graph = helper.make_graph(
        [helper.make_node("ArrayFeatureExtractor", ["x", "i"], ["y"], domain=DOMAIN)],
        "g",
        [helper.make_tensor_value_info("x", 8, ["n", 3]), helper.make_tensor_value_info("i", 7, [2])],
        [helper.make_tensor_value_info("y", 8, None)],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    check(helper.make_model(graph, opset_imports=opsets, ir_version=8), WORDS.reshape(2, 3), np.array([2, 0]))


# ---- labels of classifiers

CLASSES = ["setosa", "", "ä virginica"]
X = rng.standard_normal((127, 4)).astype("float32")


def forest(num_classes):
    """Five trees of two tests each, whose leaves have a probability for each class, or for the second of two, as scikit-learn's."""
    attrs = {name: [] for name in (
        "nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_values", "nodes_modes", "nodes_truenodeids", "nodes_falsenodeids",
        "class_treeids", "class_nodeids", "class_ids", "class_weights",
    )}  # fmt: skip
    for tree in range(5):
        for node, (mode, yes, no) in enumerate(
            [("BRANCH_LEQ", 1, 2), ("LEAF", 0, 0), ("BRANCH_LEQ", 3, 4), ("LEAF", 0, 0), ("LEAF", 0, 0)]
        ):
            row = (tree, node, int(rng.integers(0, 4)), float(rng.standard_normal()), mode, yes, no)
            for name, value in zip(list(attrs)[:7], row, strict=True):
                attrs[name].append(value)
            weights = rng.dirichlet(np.ones(num_classes)) / 5 if mode == "LEAF" else []
            for label, weight in enumerate(weights):
                if num_classes == 2 and label == 0:
                    continue  # where both classes have weights, onnxruntime asks only whether the second is above 0
                for name, value in zip(list(attrs)[7:], (tree, node, label, float(weight)), strict=True):
                    attrs[name].append(value)
    return attrs


@pytest.mark.parametrize("num_classes", [2, 3])
def test_forest(num_classes):
    labels = CLASSES[:num_classes]
    check(
        model_of(
            "TreeEnsembleClassifier",
            1,
            ["n", 4],
            (8, 1),
            1,
            classlabels_strings=labels,
            **forest(num_classes),
        ),
        X,
    )


@pytest.mark.parametrize("num_classes", [2, 3])
def test_linear(num_classes):
    labels = CLASSES[:num_classes]
    attrs = {
        "coefficients": rng.standard_normal(4 * num_classes).tolist(), "intercepts": rng.standard_normal(num_classes).tolist(),
        "post_transform": "SOFTMAX",
    }  # fmt: skip
    check(model_of("LinearClassifier", 1, ["n", 4], (8, 1), 1, classlabels_strings=labels, **attrs), X)


def test_support_vectors():
    attrs = {
        "coefficients": rng.standard_normal(12).tolist(), "support_vectors": rng.standard_normal(24).tolist(), "rho": [0.1, 0.2, 0.3],
        "vectors_per_class": [2, 2, 2], "kernel_type": "RBF", "kernel_params": [0.5, 0.0, 3.0], "post_transform": "NONE",
    }  # fmt: skip
    (labels, _) = found(
        model_of("SVMClassifier", 1, ["n", 4], (8, 1), 1, classlabels_strings=CLASSES, **attrs), X
    )
    (numbers, _) = found(
        model_of("SVMClassifier", 1, ["n", 4], (7, 1), 1, classlabels_ints=[0, 1, 2], **attrs), X
    )
    assert labels.tolist() == [CLASSES[n] for n in numbers]
    assert len(set(labels)) > 1


def test_scores_without_labels():
    model = model_of(
        "LinearClassifier", 1, [5, 4], (8, 1), 1, classlabels_strings=["a", "b"], coefficients=[1.0] * 8
    )
    del model.graph.output[0]
    assert found(model, X[:5])[0].shape == (5, 2)


def test_labels_are_read_by_nodes():
    nodes = [
        helper.make_node(
            "LinearClassifier",
            ["x"],
            ["label", "scores"],
            domain=DOMAIN,
            classlabels_strings=["no", "yes"],
            coefficients=[1.0] * 4 + [-1.0] * 4,
            intercepts=[0.0, 0.0],
        ),
        helper.make_node("Equal", ["label", "yes"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", 1, ["n", 4])], [helper.make_tensor_value_info("y", 9, None)],
        [helper.make_tensor("yes", 8, [1], [b"yes"])],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 19), helper.make_opsetid(DOMAIN, 1)]
    check(helper.make_model(graph, opset_imports=opsets, ir_version=9), X)
