"""Makers of branches, loops and sequences, whose bodies change extents."""

import numpy as np
import onnx.parser

from .makers import maker
from .model import Model, integers


def graph(text: str):
    return onnx.parser.parse_graph(text)


@maker
def branches(m: Model, pick):
    """Of other extents in each branch; the condition is known only when the model runs, or depends on an extent."""
    m.input("x", "a", "b")
    if pick.random() < 0.5:
        m.input("c", data=integers(0, 2, "bool"))
    else:
        m.constant("first", 0)
        m.constant("most", 2)
        m.node("Shape", "x", "shape")
        m.node("Gather", "shape first", "extent")
        m.node("Greater", "extent most", "c")
    other = pick.choice(["r = Neg(x)", "r = Concat<axis = 1>(x, x)", "r = Tanh(x)"])
    m.node(
        "If",
        "c",
        "t",
        then_branch=graph("p () => (float[m, n] r) { r = Concat<axis = 0>(x, x) }"),
        else_branch=graph(f"q () => (float[m, n] r) {{ {other} }}"),
    )
    m.node("Exp", "t")
    m.opset = 17


def count(rng, shape, sizes):
    """Of no iterations onnxruntime collects a tensor without any extent that the body does not declare."""
    return np.asarray(rng.integers(1, 5), "int64")


@maker
def loop(m: Model, pick):
    """A carried value that grows or stays, and what is collected."""
    m.input("n", data=count)
    m.input("x", "a", "b")
    m.constant("yes", True, "bool")
    grows = pick.random() < 0.5
    step = "t = Concat<axis = 0>(s, x)" if grows else "t = Add(s, x)"
    body = f"""body (int64 i, bool c, float[k, l] s) => (bool d, float[m, n] t, float[b] u) {{
        d = Identity(c)
        {step}
        axes = Constant<value = int64[1] {{0}}>()
        u = ReduceSum<keepdims = 0>(t, axes)
    }}"""
    m.node("Loop", "n yes x", "y all", body=graph(body))
    m.outputs = ["y", "all"]


@maker
def scan(m: Model, pick):
    m.input("s", "b")
    m.input("x", "t", "b")
    m.input("z", "t", "b")
    body = """body (float[k] s, float[k] e, float[k] f) => (float[k] t, float[k] u) {
        p = Mul(e, f)
        t = Add(s, p)
        u = Tanh(t)
    }"""
    directions = [pick.randrange(2), pick.randrange(2)]
    m.node("Scan", "s x z", "y all", body=graph(body), num_scan_inputs=2, scan_input_directions=directions)
    m.outputs = ["y", "all"]


@maker
def scan_of_a_batch(m: Model, pick):
    m.opset = 8
    m.input("s", "n", "b")
    m.input("x", "n", "t", "b")
    body = """body (float[k] s, float[k] e) => (float[k] t, float[k] u) {
        t = Add(s, e)
        u = Tanh(t)
    }"""
    given = "-"
    if pick.random() < 0.5:
        given = "l"
        m.input("l", "n", data=lambda rng, shape, sizes: rng.integers(1, sizes["t"] + 1, shape))
    m.node(
        "Scan", f"{given} s x", "y all", body=graph(body), num_scan_inputs=1, directions=[pick.randrange(2)]
    )
    m.outputs = ["y", "all"]


@maker
def sequence(m: Model, pick):
    axis = pick.randrange(2)
    m.input("x", "a", "b")
    m.node("SplitToSequence", "x", "parts", axis=axis, keepdims=pick.randrange(2))
    m.constant("at", pick.choice([0, -1]))
    m.node("SequenceAt", "parts at", "part")
    m.node("SequenceErase", "parts at", "rest")
    m.node("SequenceLength", "rest", "n")
    m.node("Exp", "part")
    m.outputs = ["y", "n"]
