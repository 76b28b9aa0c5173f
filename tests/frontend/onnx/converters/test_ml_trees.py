"""Ensembles of trees: numbers against onnxruntime's and against a walk written here."""

import numpy as np
import pytest
from node_testing import check_rows, model_of, refusal_of, run, run_op
from onnx import TensorProto, helper

import tilewright
from tilewright.frontend.onnx import from_onnx

DOMAIN = "ai.onnx.ml"


def forest(rng, num_trees, depth, columns, values=None, modes=("BRANCH_LEQ",), leaf=0.2):
    """Attributes nodes_... of random trees, and the leaves [(tree, node)]."""
    kept = {name: [] for name in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
                                  "missing_value_tracks_true")}  # fmt: skip
    leaves = []
    for tree in range(num_trees):
        count, open_nodes = 1, [(0, 0)]
        while open_nodes:
            node, level = open_nodes.pop(0)
            is_leaf = level == depth or (level > 0 and rng.random() < leaf)
            row = {"treeids": tree, "nodeids": node, "featureids": 0, "values": 0.0, "modes": "LEAF",
                   "truenodeids": 0, "falsenodeids": 0, "missing_value_tracks_true": 0}  # fmt: skip
            if is_leaf:
                leaves.append((tree, node))
            else:
                value = rng.choice(values) if values is not None else rng.standard_normal()
                row |= {"featureids": int(rng.integers(columns)), "values": float(np.float32(value)),
                        "modes": str(rng.choice(modes)), "truenodeids": count, "falsenodeids": count + 1,
                        "missing_value_tracks_true": int(rng.integers(2))}  # fmt: skip
                open_nodes += [(count, level + 1), (count + 1, level + 1)]
                count += 2
            for name, value in row.items():
                kept[name].append(value)
    return {f"nodes_{name}": value for name, value in kept.items()}, leaves


def weights(leaves, rng, what, targets, per_leaf=1, low=-1.0):
    rows = [(tree, node, int(rng.integers(targets)) if per_leaf == 1 else n)
            for tree, node in leaves for n in range(per_leaf)]  # fmt: skip
    return {
        f"{what}_treeids": [row[0] for row in rows],
        f"{what}_nodeids": [row[1] for row in rows],
        f"{what}_ids": [row[2] for row in rows],
        f"{what}_weights": [float(np.float32(value)) for value in rng.uniform(low, 1, len(rows))],
    }


def check(op, x, outputs=1, opset=3, **options):
    check_rows(op, x, outputs, opset, **options)


def rows(rng, count=127, columns=7, dtype="float32"):
    return rng.standard_normal((count, columns)).astype(dtype)


@pytest.mark.parametrize("num_trees", [1, 5, 17])
@pytest.mark.parametrize("function", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_regressor(num_trees, function):
    rng = np.random.default_rng(num_trees)
    nodes, leaves = forest(rng, num_trees, 5, 7)
    check("TreeEnsembleRegressor", rows(rng), n_targets=1, aggregate_function=function, base_values=[0.5],
          **nodes, **weights(leaves, rng, "target", 1))  # fmt: skip


@pytest.mark.parametrize("per_leaf", [1, 3])
def test_several_targets(per_leaf):
    rng = np.random.default_rng(3)
    nodes, leaves = forest(rng, 9, 4, 7)
    check(
        "TreeEnsembleRegressor",
        rows(rng),
        n_targets=3,
        **nodes,
        **weights(leaves, rng, "target", 3, per_leaf),
    )


@pytest.mark.parametrize(
    "mode", ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "all"]
)
def test_modes_at_equal_numbers_and_nan(mode):
    rng = np.random.default_rng(5)
    modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
    nodes, leaves = forest(rng, 5, 4, 3, values=[-1, 0, 1], modes=modes if mode == "all" else [mode])
    x = rng.choice(np.float32([-1, 0, 1, np.nan, 0.5]), (127, 3))
    attrs = {**nodes, **weights(leaves, rng, "target", 1)}
    found = run_op("TreeEnsembleRegressor", [x], domain=DOMAIN, opset=3, n_targets=1, **attrs)[0]
    np.testing.assert_allclose(found[:, 0], walked(x, attrs), rtol=1e-4, atol=1e-5)


def walked(x, attrs):
    """The sums of the leaves that each row reaches."""
    compare = {"LEQ": np.less_equal, "LT": np.less, "GTE": np.greater_equal, "GT": np.greater, "EQ": np.equal,
               "NEQ": lambda a, b: a != b}  # fmt: skip
    names = ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids",
             "missing_value_tracks_true")  # fmt: skip
    nodes = {row[:2]: row[2:] for row in zip(*(attrs[f"nodes_{name}"] for name in names), strict=True)}
    leaf = dict(zip(zip(attrs["target_treeids"], attrs["target_nodeids"], strict=True), attrs["target_weights"],
                    strict=True))  # fmt: skip
    sums = []
    for row in x:
        total = 0.0
        for tree in sorted(set(attrs["nodes_treeids"])):
            at = 0
            while nodes[tree, at][0] != "LEAF":
                mode, feature, value, yes, no, nan_is_yes = nodes[tree, at]
                number = row[feature]
                is_yes = (
                    bool(nan_is_yes) if np.isnan(number) else compare[mode[7:]](number, np.float32(value))
                )
                at = yes if is_yes else no
            total += leaf[tree, at]
        sums.append(total)
    return np.array(sums, "float32")


@pytest.mark.parametrize("dtype", ["float64", "int64", "int32"])
def test_other_dtypes(dtype):
    rng = np.random.default_rng(7)
    nodes, leaves = forest(rng, 5, 4, 7)
    x = (10 * rows(rng)).astype(dtype)
    attrs = {**nodes, **weights(leaves, rng, "target", 1)}
    found = run_op("TreeEnsembleRegressor", [x], domain=DOMAIN, opset=3, n_targets=1, **attrs)[0]
    assert found.dtype == "float32"
    np.testing.assert_allclose(found[:, 0], walked(x, attrs), rtol=1e-4, atol=1e-5)


def test_no_rows():
    rng = np.random.default_rng(7)
    nodes, leaves = forest(rng, 5, 4, 7)
    attrs = {**nodes, **weights(leaves, rng, "target", 1)}
    found = run_op("TreeEnsembleRegressor", [rows(rng, 0)], domain=DOMAIN, opset=3, n_targets=1, **attrs)[0]
    assert found.shape == (0, 1)


@pytest.mark.parametrize("post_transform", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("per_leaf", [1, 3])
def test_classifier_of_three(post_transform, per_leaf):
    rng = np.random.default_rng(11)
    nodes, leaves = forest(rng, 17, 4, 7)
    check("TreeEnsembleClassifier", rows(rng), 2, post_transform=post_transform, classlabels_int64s=[10, 30, 20],
          base_values=[0.1, 0.2, 0.3], **nodes, **weights(leaves, rng, "class", 3, per_leaf))  # fmt: skip


@pytest.mark.parametrize("post_transform", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("low", [-1.0, 0.0])
def test_two_classes_with_scores_of_one(post_transform, low):
    rng = np.random.default_rng(13)
    nodes, leaves = forest(rng, 5, 4, 7)
    check("TreeEnsembleClassifier", rows(rng), 2, post_transform=post_transform, classlabels_int64s=[10, 30],
          **nodes, **weights(leaves, rng, "class", 1, low=low))  # fmt: skip


def test_two_classes_with_scores_of_the_second():
    rng = np.random.default_rng(13)
    nodes, leaves = forest(rng, 5, 4, 7)
    own = weights(leaves, rng, "class", 1)
    own["class_ids"] = [1] * len(own["class_ids"])
    check("TreeEnsembleClassifier", rows(rng), 2, classlabels_int64s=[10, 30], **nodes, **own)


def test_two_classes_with_scores_of_both():
    rng = np.random.default_rng(17)
    nodes, leaves = forest(rng, 5, 4, 7)
    attrs = {**nodes, **weights(leaves, rng, "class", 2, 2), "classlabels_int64s": [10, 30]}
    labels, scores = run_op("TreeEnsembleClassifier", [rows(rng)], 2, domain=DOMAIN, opset=3, **attrs)
    np.testing.assert_array_equal(labels, np.where(scores[:, 1] > scores[:, 0], 30, 10))


def stump(**more):
    """A tree of one test: 1 where column 0 is at most 0.5, else 2."""
    return {
        "nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0],
        "nodes_values": [0.5, 0.0, 0.0], "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0], "target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0],
        "target_weights": [1.0, 2.0], **more,
    }  # fmt: skip


X = np.zeros((5, 2), "float32")


def test_labels_that_are_strings():
    own = {name.replace("target", "class"): value for name, value in stump().items()}
    attrs = {**own, "classlabels_strings": ["a", "b"], "domain": DOMAIN, "opset": 3}
    model = model_of("TreeEnsembleClassifier", [X], 2, **attrs)
    labels, scores = tilewright.VirtualMachine(tilewright.compile(model))["main"](X)
    assert labels.tolist() == ["b"] * 5
    np.testing.assert_array_equal(scores.numpy(), [[0, 1]] * 5)
    del model.graph.output[0]
    np.testing.assert_array_equal(run(model, [X])[0], [[0, 1]] * 5)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"nodes_values": [0.5]}, 'attribute "nodes_values" has 1 values for 3 nodes of trees'),
        (
            {"nodes_modes": ["BRANCH_GE", "LEAF", "LEAF"]},
            'attribute "nodes_modes" has "BRANCH_GE"\nhelp: did you mean BRANCH_GT, BRANCH_GTE or BRANCH_EQ?',
        ),
        ({"nodes_nodeids": [0, 1, 1]}, "tree 0 has two nodes 1"),
        ({"nodes_truenodeids": [7, 0, 0]}, "tree 0 has no node 7"),
        ({"nodes_truenodeids": [0, 0, 0]}, "tree node 0 is reached in two ways"),
        ({"nodes_featureids": [-1, 0, 0]}, "a tree node compares column -1, expected at least 0"),
        ({"nodes_featureids": [2, 0, 0]}, "trees compare column 2, but the input has 2"),
        ({"target_ids": [0, 1]}, "a leaf has a weight for target 1 of 1"),
        ({"base_values": [1.0, 2.0]}, 'attribute "base_values" has 2 values, expected 1'),
    ],
)
def test_trees_that_are_wrong(change, text):
    found = refusal_of("TreeEnsembleRegressor", [X], domain=DOMAIN, opset=3, n_targets=1, **stump(**change))
    assert found == f'error: TreeEnsembleRegressor node "n": {text}'


def test_inputs_and_classes_that_are_wrong():
    assert refusal_of("TreeEnsembleRegressor", [X[0]], domain=DOMAIN, opset=3, n_targets=1, **stump()) == (
        'error: TreeEnsembleRegressor node "n": the input has 1 dimension, expected 2'
    )
    own = {name.replace("target", "class"): value for name, value in stump().items()}
    assert refusal_of(
        "TreeEnsembleClassifier", [X], 2, domain=DOMAIN, opset=3, classlabels_int64s=[1], **own
    ) == ('error: TreeEnsembleClassifier node "n": 1 label of classes, expected at least 2')
    more = {"domain": DOMAIN, "opset": 3, "kind": tilewright.Unsupported, "classlabels_int64s": [1, 2], **own}
    assert refusal_of("TreeEnsembleClassifier", [X], 2, base_values=[1.0, 2.0], **more) == (
        'unsupported: TreeEnsembleClassifier node "n": '
        'attribute "base_values" has 2 values, but leaves have weights for one class only'
    )
    assert refusal_of("TreeEnsembleClassifier", [X], 2, post_transform="PROBIT", **more) == (
        'unsupported: TreeEnsembleClassifier node "n": post_transform is PROBIT, but only one of two classes has scores'
    )


# ---- TreeEnsemble


def test_leaves_for_several_of_very_many_targets():
    most = 2**31 - 1
    attrs = stump(target_treeids=[0, 0], target_nodeids=[1, 1], target_ids=[0, 1], target_weights=[1.0, 2.0])
    text = refusal_of("TreeEnsembleRegressor", [np.float32([[0, 1]])], domain=DOMAIN, opset=3, kind=tilewright.Unsupported,
                      n_targets=most, **attrs)  # fmt: skip
    assert text == (
        'unsupported: TreeEnsembleRegressor node "n": 4 nodes of trees with leaves for several of 2147483647 targets: '
        "each gets a row of weights"
    )


def test_the_average_of_no_trees():
    found = run_op(
        "TreeEnsembleRegressor", [np.float32([[0, 1]])], domain=DOMAIN, opset=3, aggregate_function="AVERAGE"
    )
    np.testing.assert_array_equal(found[0], [[0]])


def tensor(values, kind=TensorProto.FLOAT):
    return helper.make_tensor("t", kind, [len(values)], values)


def ensemble(**more):
    """Column 0: one of 1.2, 3.7, 8, 9; else at most 2. Leaves 5.23, 12.12, -12.23, 7.21."""
    return {
        "tree_roots": [0], "nodes_featureids": [0, 0, 0], "nodes_modes": tensor([0, 6, 6], TensorProto.UINT8),
        "nodes_splits": tensor([11.0, 232344.0, np.nan]), "membership_values": tensor([1.2, 3.7, 8, 9, np.nan, 12, 7, np.nan]),
        "nodes_trueleafs": [0, 1, 1], "nodes_truenodeids": [1, 0, 1], "nodes_falseleafs": [1, 0, 1],
        "nodes_falsenodeids": [2, 2, 3], "leaf_targetids": [0, 1, 2, 3], "leaf_weights": tensor([5.23, 12.12, -12.23, 7.21]),
        "n_targets": 4, "domain": DOMAIN, "opset": 5, **more,
    }  # fmt: skip


def test_sets():
    x = np.float32([1.2, 3.4, -0.12, np.nan, 12, 7]).reshape(-1, 1)
    found = run_op("TreeEnsemble", [x], **ensemble())[0]
    right = np.zeros((6, 4), "float32")
    for row, (column, value) in enumerate(
        [(0, 5.23), (3, 7.21), (3, 7.21), (2, -12.23), (2, -12.23), (1, 12.12)]
    ):
        right[row, column] = value
    np.testing.assert_allclose(found, right, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_results_have_the_dtype_of_the_input(dtype):
    x = np.array([[1.5], [12], [7]], dtype)
    found = run_op("TreeEnsemble", [x], **ensemble())[0]
    assert found.dtype == dtype
    np.testing.assert_allclose(found.sum(1), [7.21, -12.23, 12.12], rtol=1e-3)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"nodes_truenodeids": [1, 9, 1]}, "leaf 9 is used, but there are 4"),
        ({"tree_roots": [3]}, "tree node 3 is used, but there are 3"),
        ({"nodes_modes": tensor([0, 6, 9], TensorProto.UINT8)}, 'attribute "nodes_modes" has 9, expected 0 to 6'),
        ({"membership_values": tensor([1.0])},
         'attribute "membership_values" has too few sets, each ends with NaN'),
    ],
)  # fmt: skip
def test_ensembles_that_are_wrong(change, text):
    found = refusal_of("TreeEnsemble", [X[:, :1]], **{**ensemble(), **change})
    assert found == f'error: TreeEnsemble node "n": {text}'


def test_numbers_of_another_dtype():
    with pytest.raises(tilewright.Unsupported) as refused:
        from_onnx(
            model_of("TreeEnsemble", [X], **ensemble(leaf_weights=tensor([1, 2, 3, 4], TensorProto.UINT16)))
        )
    assert str(refused.value) == (
        'unsupported: TreeEnsemble node "n": attribute "leaf_weights" has dtype uint16'
    )
