"""Strings in graphs: operators that move, choose and compare them, inputs and outputs; numbers against onnxruntime."""

import threading

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from string_testing import TEXTS, check, compiled, found, parsed, texts

import tilewright
from tilewright.frontend.onnx import from_onnx

X = texts(*TEXTS[:6], shape=[2, 3])


def refused(text: str, kind=tilewright.UserError, opset: int = 21) -> str:
    with pytest.raises(kind) as problem:
        from_onnx(parsed(text, opset))
    return str(problem.value)


@pytest.mark.parametrize("shape", ["10", "n"])
def test_strings_pass(shape):
    model = parsed(f"g (string[{shape}] x) => (string[{shape}] y) {{ y = Identity(x) }}")
    check(model, texts(*TEXTS))
    main = compiled(model)
    assert list(main(TEXTS)) == TEXTS
    assert list(main(np.array(TEXTS[:5] * 2))) == TEXTS[:5] * 2
    assert list(main([each.encode() for each in TEXTS])) == TEXTS
    assert list(main(np.array([b"a", b"bc"] * 5))) == ["a", "bc"] * 5


def test_result_is_an_array_of_objects():
    (y,) = found(parsed("g (string x) => (string y) { y = Identity(x) }"), np.array("a", object))
    assert (y.shape, y.dtype) == ((), object)


MOVES = {
    "Reshape": "<int64[1] s = {-1}> { y = Reshape(x, s) }",
    "Transpose": "{ y = Transpose(x) }",
    "Gather": "<int64[2] i = {-1, 0}> { y = Gather<axis = 1>(x, i) }",
    "Concat": "{ y = Concat<axis = 0>(x, x) }",
    "Slice": "<int64[2] s = {1, 1}, int64[2] e = {2, 9}> { y = Slice(x, s, e) }",
    "Expand": "<int64[3] s = {2, 1, 1}> { y = Expand(x, s) }",
    "Tile": "<int64[2] s = {2, 1}> { y = Tile(x, s) }",
    "Unsqueeze": "<int64[1] s = {0}> { y = Unsqueeze(x, s) }",
    "Where": '<bool[3] c = {1, 0, 1}, string[1] a = {"new"}> { y = Where(c, x, a) }',
    "Equal": '<string[3] a = {"", "new", "Tilewright"}> { y = Equal(x, a) }',
    "Shape": "{ y = Shape(x) }",
    "GatherElements": "<int64[1, 3] i = {1, 0, 1}> { y = GatherElements(x, i) }",
    "ScatterElements": '<int64[1, 1] i = {1}, string[1, 1] u = {"u"}> { y = ScatterElements(x, i, u) }',
    "Split": "<int64[2] s = {1, 2}> { y, z = Split<axis = 1>(x, s) }",
    "Compress": "<bool[2] c = {0, 1}> { y = Compress<axis = 0>(x, c) }",
    "Sequence": "<int64 i = {1}> { q = SequenceConstruct(x, x) y = SequenceAt(q, i) }",
    "Optional": "{ o = Optional(x) y = OptionalGetElement(o) }",
}


@pytest.mark.parametrize("op", MOVES)
def test_moves(op):
    output = {"Equal": "bool", "Shape": "int64"}.get(op, "string")
    inside = MOVES[op]
    for shape in ("2, 3", "n, 3", "n, m"):
        if shape == "n, m" and op in ("Split", "Where", "Equal"):
            continue
        check(parsed(f"g (string[{shape}] x) => ({output} y) {inside}"), X)


def test_strings_of_the_model():
    model = parsed("""g (int64[n] i) => (string[n] y, string z, string[m] w) <string[3] table = {"b", "", "a"}> {
        y = Gather(table, i)
        z = Constant<value_string = "one">()
        w = Constant<value_strings = ["b", "two"]>()
    }""")
    y, z, w = check(model, np.array([2, 1, 0, 2]))
    assert y.tolist() == ["a", "", "b", "a"]
    assert z[()] == "one"
    assert w.tolist() == ["b", "two"]


def test_padding_is_the_empty_string():
    model = parsed("g (string[3] x) => (string[n] y) <int64[2] p = {1, 2}> { y = Pad(x, p) }")
    (y,) = found(model, texts("a", "b", "c"))
    assert y.tolist() == ["", "a", "b", "c", "", ""]


def test_branches_and_loops():
    model = parsed("""g (bool c, string[n] x, int64 times) => (string[n] y, string[m] z) {
        y = If(c) <then_branch = t () => (string[n] a) { a = Identity(x) },
                   else_branch = e () => (string[n] b) <string[1] no = {"no"}> { s = Shape(x) b = Expand(no, s) }>
        always = Constant<value = bool {1}>()
        z = Loop(times, always, x) <body = body (int64 i, bool go, string[k] part) => (bool next, string[k] longer) {
            next = Identity(go)
            longer = Concat<axis = 0>(part, x)
        }>
    }""")
    main = compiled(model)
    y, z = main(np.array(True), texts("a", "ä"), np.array(2))
    assert (y.tolist(), z.tolist()) == (["a", "ä"], ["a", "ä"] * 3)
    y, z = main(np.array(False), texts("a", "ä"), np.array(0))
    assert (y.tolist(), z.tolist()) == (["no", "no"], ["a", "ä"])


def test_sequences_come_in_and_go_out():
    model = parsed(
        "g (seq(string[n]) s, string[n] x) => (seq(string[n]) t, int64 n) { t = SequenceInsert(s, x) n = SequenceLength(t) }"
    )
    model.graph.input[0].type.sequence_type.elem_type.tensor_type.elem_type = 8
    t, n = compiled(model)([texts("a"), texts("b", "c")], texts("d"))
    assert [each.tolist() for each in t] == [["a"], ["b", "c"], ["d"]]
    assert n.numpy() == 3


def test_no_strings_and_no_elements():
    model = parsed(
        "g (string[n] x) => (string[m] y, bool[n] e) { y = Concat<axis = 0>(x, x) e = Equal(x, x) }"
    )
    y, e = check(model, np.empty(0, object))
    assert y.shape == (0,) and e.shape == (0,)


def test_long_strings():
    model = parsed(
        "g (string[n] x) => (bool[n] y, string[n] z) { z = Identity(x) one = Constant<value_int = 0>() first = Gather(x, one) y = Equal(x, first) }"
    )
    long = "ä" * 100_000
    y, z = found(model, texts(long, long[:-1], long[:-1] + "b"))
    assert y.tolist() == [True, False, False]
    assert [len(each) for each in z] == [100_000, 99_999, 100_000]


def test_calls_do_not_share_strings():
    model = parsed('g (string[n] x) => (bool[n] y) <string[1] a = {"a"}> { y = Equal(x, a) }')
    main, other = compiled(model), compiled(parsed("g (string[n] x) => (string[n] y) { y = Identity(x) }"))
    for texts_of_call in (["a", "b"], ["b", "a"], ["c", "c"]):
        assert main(texts_of_call).numpy().tolist() == [each == "a" for each in texts_of_call]
        assert other(texts_of_call[::-1]).tolist() == texts_of_call[::-1]


def test_threads_have_pools_of_their_own():
    main = compiled(
        parsed(
            "g (string[n] x, string[n] y) => (bool[n] e, string[m] z) { e = Equal(x, y) z = Concat<axis = 0>(x, y) }"
        )
    )
    wrong = []

    def work(number: int) -> None:
        for n in range(50):
            x = [f"{number}.{n}.{k}" for k in range(20)]
            y = [each if k % 2 else each + "!" for k, each in enumerate(x)]
            e, z = main(x, y)
            if e.numpy().tolist() != [k % 2 == 1 for k in range(20)] or z.tolist() != x + y:
                wrong.append((number, n))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_inputs_that_are_kept():
    vm = tilewright.VirtualMachine(
        tilewright.compile(parsed("g (string[n] x) => (string[m] y) { y = Concat<axis = 0>(x, x) }"))
    )
    vm.set_input("main", ["a", "b"])
    assert vm["main"](["c"]).tolist() == ["c", "c"]
    vm.invoke_stateful("main")
    assert vm["main"](x=["d"]).tolist() == ["d", "d"]
    assert vm.get_outputs("main").tolist() == ["a", "b", "a", "b"]


def test_the_library_keeps_the_strings(tmp_path):
    model = parsed(
        'g (int64[n] i) => (string[n] y) <string[2] t = {"first", "zweite ä"}> { y = Gather(t, i) }'
    )
    tilewright.compile(model).export_library(tmp_path / "model.so")
    main = tilewright.VirtualMachine(tilewright.load_module(tmp_path / "model.so"))["main"]
    assert main(np.array([1, 0, 1])).tolist() == ["zweite ä", "first", "zweite ä"]


def test_signature():
    vm = tilewright.VirtualMachine(
        tilewright.compile(parsed("g (string[n, 3] x, float[n] f) => (string[n, 3] y) { y = Identity(x) }"))
    )
    assert [str(each) for each in (*vm.inputs, *vm.outputs)] == [
        "x: string[n, 3]",
        "f: float32[n]",
        "y: string[n, 3]",
    ]
    assert vm.inputs[0].dtype == "string" and vm.inputs[0].shape == ("n", 3)


def test_times_are_measured():
    vm = tilewright.VirtualMachine(
        tilewright.compile(parsed("g (string[n] x) => (string[n] y) { y = Identity(x) }"))
    )
    assert vm.time_evaluator("main", number=1)(["a"]).mean > 0


# ---- refused


@pytest.mark.parametrize("op", ["Add", "Less", "ReduceSum", "TopK", "Relu", "MatMul"])
def test_arithmetic_is_refused(op):
    second = {"Add": ", x", "Less": ", x", "MatMul": ", x", "TopK": ", k"}.get(op, "")
    outputs = "y, i" if op == "TopK" else "y"
    text = f"g (string[3] x) => (string[3] y) <int64[1] k = {{1}}> {{ {outputs} = {op}(x{second}) }}"
    assert refused(text) == (
        f'error: {op} node that makes "y": input "x" holds strings, expected numbers\n'
        "help: Cast, LabelEncoder and TfIdfVectorizer make numbers of strings"
    )


def test_strings_beside_numbers_are_refused():
    assert refused("g (string[3] x, int64[3] i) => (string[6] y) { y = Concat<axis = 0>(i, x) }") == (
        'error: Concat node that makes "y": input "x" holds strings, but input "i" numbers\n'
        "help: Cast, LabelEncoder and TfIdfVectorizer make numbers of strings"
    )


def test_branches_of_strings_and_numbers():
    assert refused("""g (bool c, string[2] x, int64[2] i) => (string[2] y) {
        y = If(c) <then_branch = t () => (string[2] a) { a = Identity(x) }, else_branch = e () => (int64[2] b) { b = Identity(i) }>
    }""") == (
        'error: If node that makes "y": one of its branches returns strings where the other returns numbers\n'
        "help: Cast, LabelEncoder and TfIdfVectorizer make numbers of strings"
    )


def test_loops_that_change_what_they_carry():
    assert refused("""g (int64 times, string[2] x, int64[2] i) => (string[2] y) {
        always = Constant<value = bool {1}>()
        y = Loop(times, always, i) <body = body (int64 n, bool go, int64[2] p) => (bool next, string[2] q) {
            next = Identity(go)
            q = Identity(x)
        }>
    }""") == (
        'error: Loop node that makes "y": the carried value "i" holds strings in one iteration and numbers in the next\n'
        "help: Cast, LabelEncoder and TfIdfVectorizer make numbers of strings"
    )


def test_attributes_of_strings():
    node = helper.make_node("ConstantOfShape", ["s"], ["y"], value=helper.make_tensor("v", 8, [1], [b"a"]))
    shape = helper.make_tensor_value_info("s", 7, [1])
    graph = helper.make_graph([node], "g", [shape], [helper.make_tensor_value_info("y", 8, None)])
    with pytest.raises(tilewright.UserError) as problem:
        from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10))
    assert str(problem.value) == (
        'error: ConstantOfShape node that makes "y": attribute "value" holds strings, expected numbers\n'
        "help: Cast, LabelEncoder and TfIdfVectorizer make numbers of strings"
    )


def with_initializer(tensor):
    model = parsed("g (int64[n] i) => (string[n] y) { y = Gather(t, i) }")
    model.graph.initializer.append(tensor)
    return model


def test_damaged_tensors():
    tensor = onnx.TensorProto(name="t", data_type=8, dims=[3], string_data=[b"a"])
    with pytest.raises(tilewright.UserError) as problem:
        from_onnx(with_initializer(tensor).SerializeToString())
    assert str(problem.value) == (
        'error: tensor "t" has shape [3], which is 3 strings, but 1 are given\n'
        "help: the file is damaged; export or download the model again"
    )
    tensor = onnx.TensorProto(name="t", data_type=8, dims=[1], string_data=[b"ab\xff"])
    with pytest.raises(tilewright.UserError) as problem:
        from_onnx(with_initializer(tensor).SerializeToString())
    assert str(problem.value) == (
        'error: tensor "t" has a string that is not UTF-8, from byte 2 on\n'
        "help: strings of ONNX are UTF-8; encode it so where the model is exported"
    )
    assert numpy_helper.to_array(onnx.TensorProto(data_type=8, dims=[0])).shape == (0,)


def test_arguments_that_are_no_strings():
    main = compiled(parsed("g (string[n] x) => (string[n] y) { y = Identity(x) }"))

    def error(value) -> str:
        with pytest.raises(tilewright.UserError) as problem:
            main(value)
        return str(problem.value)

    assert error(np.zeros(3, "float32")) == (
        "main: input \"x\" is float32[3], expected strings\nhelp: an array of str, e.g. numpy.array(['a', 'b'])"
    )
    assert (
        error(["a", 1])
        == 'main: input "x": element 1 is a Python int, expected a str\nhelp: convert it, e.g. str(x)'
    )
    assert error(["a\ud800"]) == (
        'main: input "x": string 0 has U+D800, half of a character, at 1\nhelp: UTF-8 has no surrogates'
    )
    assert error([b"ok", b"a\xff"]) == (
        'error: input "x": string 1 is not UTF-8, from byte 1 on\n'
        "help: encode it as UTF-8; other bytes are numbers, a tensor of uint8"
    )
    assert error(np.array([b"\xc3"])).startswith('error: input "x": string 0 is not UTF-8, from byte 0 on')
    assert "expected" in error([["a"]])


def test_pairs_of_tensors_are_checked():
    pool = tilewright.get_global_func("tilewright.string_pool")
    help_text = "\nhelp: a tensor of strings is a pair: uint8 with the bytes, and int64 with the number of bytes up to the end of each string"
    for data, ends in (([97], [2]), ([97, 98], [2, 1]), ([97], [-1])):
        with pytest.raises(tilewright.UserError) as problem:
            pool(np.array(data, "uint8"), np.array(ends))
        assert str(problem.value) == (
            f"error: string_pool: its strings do not end inside of their bytes, one after another{help_text}"
        )
    made = pool(np.frombuffer(b"ab", "uint8"), np.array([1, 2]))
    assert made(1) == "b"
    ids = tilewright.get_global_func("tilewright.string_ids")
    with pytest.raises(tilewright.UserError) as problem:
        ids(made, (np.zeros(1, "uint8"),), "x")
    assert str(problem.value) == 'error: input "x": tuple(uint8[1]) is no pair of bytes and ends'
    with pytest.raises(tilewright.UserError) as problem:
        ids(ids, (np.zeros(1, "uint8"), np.ones(1, "int64")), "x")
    assert str(problem.value) == "error: tilewright.string_ids is no pool of strings"


@pytest.mark.parametrize("is_sorted", [0, 1])
def test_unique(is_sorted):
    x = texts("b", "z new", "", "b", "a", "ä new", "z new", "😀")
    text = """g (string[n] x) => (string[m] y, int64[m] first, int64[n] place, int64[m] count) <string[2] own = {"b", "z"}> {
        y, first, place, count = Unique<sorted = SORTED>(x)
    }""".replace("SORTED", str(is_sorted))
    y, first, place, count = check(parsed(text), x)
    assert y[place].tolist() == x.tolist()
    assert y.tolist() == (sorted(set(x)) if is_sorted else list(dict.fromkeys(x)))
    check(parsed(text), x[:1])


def test_unique_rows():
    x = texts("b", "new", "a", "new", "b", "new", shape=[3, 2])
    y, first = found(
        parsed("g (string[n, 2] x) => (string[m, 2] y, int64[m] first) { y, first = Unique<axis = 0>(x) }"), x
    )
    assert y.tolist() == [["a", "new"], ["b", "new"]] and first.tolist() == [1, 0]
