"""The model of a seed: an operator, now and then with others before and behind it."""

import random

from . import control_makers, layer_makers  # noqa: F401 (they add to MAKERS)
from .makers import MAKERS
from .model import Input, Model, floats


def generate(seed: int) -> Model:
    pick = random.Random(seed)
    operator = pick.choice(sorted(MAKERS))
    model = Model(operator, seed)
    MAKERS[operator](model, pick)
    if pick.random() < 0.3:
        before(model, pick)
    if pick.random() < 0.3:
        behind(model, pick)
    model.declare(pick)
    return model


def before(model: Model, pick: random.Random) -> None:
    """An input goes through an operator that moves or changes its elements first."""
    names = [name for name, each in model.inputs.items() if each.data is floats and each.shape]
    if not names:
        return
    name = pick.choice(names)
    shape = model.inputs[name].shape
    given = f"{name}_"
    kind = pick.choice(["Neg", "Transpose", "ReduceSum", "Squeeze"])
    helper = Model("", 0)
    if kind == "Neg":
        helper.node("Neg", given, name)
        moved = list(shape)
    elif kind == "Transpose":
        order = pick.sample(range(len(shape)), len(shape))
        moved = [shape[axis] for axis in order]
        helper.node("Transpose", given, name, perm=[order.index(axis) for axis in range(len(shape))])
    elif kind == "Squeeze":
        moved = [1, *shape]
        model.constant(f"{name}_axes", [0])
        helper.node("Squeeze", f"{given} {name}_axes", name)
    else:
        moved = ["more", *shape]
        model.constant(f"{name}_axes", [0])
        helper.node("ReduceSum", f"{given} {name}_axes", name, keepdims=0)
    model.inputs[given] = Input(moved, floats)
    del model.inputs[name]
    model.nodes[:0] = helper.nodes


def behind(model: Model, pick: random.Random) -> None:
    """The first result goes through an operator that takes all shapes."""
    for node in model.nodes:
        node.output[:] = ["y_" if name == "y" else name for name in node.output]
    kind = pick.choice(["Identity", "Flatten", "Concat", "Shape"])
    if kind == "Flatten":
        model.node("Flatten", "y_", axis=0)
    elif kind == "Concat":
        model.constant("y_all", [-1])
        model.node("Reshape", "y_ y_all", "y_flat")
        model.node("Concat", "y_flat y_flat", axis=0)
    elif kind == "Shape":
        model.node("Shape", "y_", "y_extents")
        model.node("Identity", "y_", "y")
        model.outputs.append("y_extents")
    else:
        model.node("Identity", "y_")
