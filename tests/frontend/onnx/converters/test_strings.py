"""StringConcat, StringNormalizer, StringSplit, RegexFullMatch, Cast: against onnxruntime, onnx's reference or Python."""

import re

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from string_testing import TEXTS, check, compiled, found, parsed, require_same, texts

import tilewright
from tilewright.frontend.onnx import from_onnx


def model_of(op, shape, outputs=("string",), opset=21, kind=8, **attrs):
    names = [f"y{n}" for n in range(len(outputs))]
    kinds = {"string": 8, "bool": 9, "int64": 7, "float": 1}
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], names, name="n", **attrs)],
        "g",
        [helper.make_tensor_value_info("x", kind, shape)],
        [
            helper.make_tensor_value_info(name, kinds[each], None)
            for name, each in zip(names, outputs, strict=True)
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def refused(model, kind=tilewright.UserError) -> str:
    with pytest.raises(kind) as problem:
        from_onnx(model)
    return str(problem.value)


def call_error(model, *inputs, kind=tilewright.UserError) -> str:
    main = compiled(model)
    with pytest.raises(kind) as problem:
        main(*inputs)
    return str(problem.value)


# ---- StringConcat


@pytest.mark.parametrize("shape", ["2, 3", "n, 3", "n, m"])
def test_concat_broadcasts(shape):
    model = parsed(f"g (string[{shape}] x, string[3] z) => (string[n, 3] y) {{ y = StringConcat(x, z) }}")
    x, z = texts(*TEXTS[:6], shape=[2, 3]), texts("", "ä", "b")
    (y,) = check(model, x, z)
    assert y.tolist() == [[a + b for a, b in zip(row, z, strict=True)] for row in x]


def test_concat_of_long_and_no_strings():
    model = parsed("g (string[n] x) => (string[n] y, bool[n] e) { y = StringConcat(x, x) e = Equal(x, y) }")
    y, e = found(model, texts("ab" * 50_000, "", "c"))
    assert y.tolist() == ["ab" * 100_000, "", "cc"] and e.tolist() == [False, True, False]
    y, e = found(model, np.empty(0, object))
    assert y.shape == (0,)


def test_concat_makes_strings_that_equal_others():
    model = parsed("""g (string[n] x, string[n] z) => (bool[n] e) <string[1] ab = {"ab"}> {
        y = StringConcat(x, z)
        e = Equal(y, ab)
    }""")
    assert found(model, texts("a", "", "ab", "a"), texts("b", "ab", "", "c"))[0].tolist() == [
        True,
        True,
        True,
        False,
    ]


def test_concat_of_numbers_is_refused():
    assert refused(parsed("g (string[n] x, int64[n] i) => (string[n] y) { y = StringConcat(x, i) }")) == (
        'error: StringConcat node that makes "y": input "x" holds strings, but input "i" numbers\n'
        "help: Cast, LabelEncoder and TfIdfVectorizer make numbers of strings"
    )
    assert refused(parsed("g (int64[n] i) => (string[n] y) { y = StringConcat(i, i) }")) == (
        'error: StringConcat node that makes "y": input "i" is int64, expected strings'
    )


# ---- StringNormalizer

WORDS = texts("Monday", "tuesday", "WEDNESDAY", "monday", "Ärger", "ПРИВЕТ", "ΣΟΦΙΑ", "日本", "")


@pytest.mark.parametrize("change", ["LOWER", "UPPER", "NONE"])
@pytest.mark.parametrize("is_exact", [0, 1])
@pytest.mark.parametrize("words", [None, ["monday", "ärger"]])
def test_normalizer(change, is_exact, words):
    attrs = {} if words is None else {"stopwords": words}
    model = model_of(
        "StringNormalizer", ["n"], case_change_action=change, is_case_sensitive=is_exact, locale="C", **attrs
    )
    check(model, WORDS[:4])  # the locale C of onnxruntime knows ASCII only
    (y,) = found(model, WORDS)
    expected = [each for each in WORDS if each not in (words or [])]
    if not is_exact:
        expected = [each for each in WORDS if each.lower() not in (words or [])]
    change = {"LOWER": str.lower, "UPPER": str.upper, "NONE": str}[change]
    assert y.tolist() == [change(each) for each in expected]


def test_normalizer_of_a_row_and_of_nothing():
    model = model_of("StringNormalizer", [1, "n"], stopwords=["a"])
    assert found(model, texts("b", "a", "c", shape=[1, 3]))[0].tolist() == [["b", "c"]]
    assert found(model, texts("a", "a", shape=[1, 2]))[0].tolist() == [[""]]
    assert found(model_of("StringNormalizer", ["n"], stopwords=["a"]), texts("a"))[0].tolist() == [""]


def test_every_letter_with_a_simple_case():
    letters = [
        chr(n)
        for n in (
            *range(0x20, 0xB5),
            *range(0xB6, 0xDF),
            *range(0xE0, 0xFF),
            *range(0x391, 0x3A2),
            *range(0x410, 0x460),
        )
    ]
    letters += list("日한ไ😀€—ğĞšŠžŽćĆ")
    for change, method in (("LOWER", str.lower), ("UPPER", str.upper)):
        model = model_of("StringNormalizer", ["n"], case_change_action=change)
        assert found(model, texts(*letters))[0].tolist() == [method(each) for each in letters]


def test_letters_without_a_simple_case():
    upper = model_of("StringNormalizer", ["n"], case_change_action="UPPER")
    for text, code in (("ß", "00DF"), ("aµ", "00B5"), ("ﬁ", "FB01"), ("Ა", "1C90")):
        assert call_error(upper, texts(text), kind=tilewright.Unsupported) == (
            f"unsupported: the case of the character U+{code} is not known\n"
            "help: letters of ASCII, Latin, Greek and Cyrillic change their case; do it before the model is called"
        )
    lower = model_of("StringNormalizer", ["n"], case_change_action="LOWER")
    assert found(lower, texts("Straße"))[0].tolist() == ["straße"]


def test_normalizers_that_are_refused():
    assert refused(model_of("StringNormalizer", [2, 2, 2])) == (
        'error: StringNormalizer node "n": the input has 3 dimensions, expected 1 or 2'
    )
    assert refused(model_of("StringNormalizer", [2, 3])) == (
        'error: StringNormalizer node "n": the input has 2 rows, expected 1'
    )
    assert refused(model_of("StringNormalizer", [3], case_change_action="TITLE")).startswith(
        'error: StringNormalizer node "n": case_change_action is "TITLE"'
    )
    assert refused(
        model_of("StringNormalizer", [3], case_change_action="LOWER", locale="tr_TR"), tilewright.Unsupported
    ) == (
        'unsupported: StringNormalizer node "n": locale is "tr_TR", in which letters have another case\n'
        "help: supported are those in which i and I are one letter, such as en_US"
    )
    assert "the input has r = 2 rows, expected 1" in call_error(
        model_of("StringNormalizer", ["r", 1]), texts("a", "b", shape=[2, 1])
    )


# ---- StringSplit

SENTENCES = texts("a b c", " lead  and trail ", "", "one", "a,b,,c", "ä\u3000ö\tü", "日本,語", "  ")


@pytest.mark.parametrize("delimiter", [None, "", ",", " ", "本", "b c"])
@pytest.mark.parametrize("most", [None, 0, 1, 2, 9])
def test_split(delimiter, most):
    attrs = {
        name: value for name, value in (("delimiter", delimiter), ("maxsplit", most)) if value is not None
    }
    model = model_of("StringSplit", ["n"], ("string", "int64"), **attrs)
    parts, counts = found(model, SENTENCES)
    expected = [each.split(delimiter or None, -1 if most is None else most) for each in SENTENCES]
    assert counts.tolist() == [len(each) for each in expected]
    width = max(counts)
    assert parts.tolist() == [each + [""] * (width - len(each)) for each in expected]


def test_split_has_the_shape_of_its_input():
    model = model_of("StringSplit", ["n", 2], ("string", "int64"), delimiter="x")
    parts, counts = found(model, texts("axb", "c", "", "dxexf", shape=[2, 2]))
    assert parts.shape == (2, 2, 3) and counts.tolist() == [[2, 1], [1, 3]]
    for shape in ([0, 2], [2, 0]):
        if shape[1] == 2:
            parts, counts = found(model, np.empty(shape, object))
            assert parts.shape == (*shape, 0) and counts.shape == tuple(shape)


def test_split_without_its_counts():
    model = parsed('g (string[n] x) => (string[n, m] y) { y = StringSplit<delimiter = "-">(x) }')
    assert found(model, texts("a-b", "c"))[0].tolist() == [["a", "b"], ["c", ""]]


# ---- RegexFullMatch

PATTERNS = [
    "a*b", "(ab|c)+", "[a-c]{2,3}", r"\d+(\.\d+)?", r"[^@]+@\w+\.(com|org)", "", "x?y??z*?", ".*", "ä+", "[α-ω]+", r"\x41\x{e4}",
    "^ab$", "a|^b|c$", "(?:a|(?P<n>b)){3}", "[]a]+", r"[\d\-x]+", "(a|b)*abb", r"\s*\S+\s*", r"\b\w+\b.?\b.*", r".*\b3\b.*", r"a\Ba.*", r"[\w.]+\.\bnet\b", "[^a-zä]", "日[本-語]", "(|a)+b",
]  # fmt: skip
CANDIDATES = [
    "", "b", "aaab", "abcab", "ab", "abc", "c", "12", "3.14", "3.", "me@site.org", "me@site.net", "xyzz", "z", "a\nb", "ää", "αβγ", "αb",
    "Aä", "aba", "]a]", "1-x", "a{,2}", "aabb", " x ", "é", "日本", "日語", "日々", "😀", "aab",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern):
    model = model_of("RegexFullMatch", ["n"], ("bool",), pattern=pattern)
    python = pattern.replace(r"\x{e4}", "ä").replace(r"\d", "[0-9]" if "[\\d" not in pattern else "0-9")
    expected = [re.fullmatch(python, each, re.ASCII) is not None for each in CANDIDATES]
    assert found(model, texts(*CANDIDATES))[0].tolist() == expected


def test_braces_that_are_no_repetition():
    model = model_of("RegexFullMatch", ["n"], ("bool",), pattern="a{,2}")
    assert found(model, texts("a{,2}", "a", "aa", ""))[0].tolist() == [True, False, False, False]


def test_patterns_of_random_parts():
    rng = np.random.default_rng(0)

    def part(depth):
        kind = rng.integers(0, 7 if depth else 3)
        if kind < 3:
            return ["a", "[ab]", "ä"][kind]
        if kind == 3:
            return f"({part(depth - 1)}|{part(depth - 1)})"
        if kind == 4:
            return f"(?:{part(depth - 1)})" + rng.choice(["*", "+", "?", "{2}", "{1,2}"])
        return part(depth - 1) + part(depth - 1)

    values = ["".join(rng.choice(list("abä"), size=rng.integers(0, 6))) for _ in range(60)]
    for _ in range(20):
        pattern = part(4)
        (ours,) = found(model_of("RegexFullMatch", ["n"], ("bool",), pattern=pattern), texts(*values))
        assert ours.tolist() == [re.fullmatch(pattern, each) is not None for each in values], pattern


def test_patterns_of_one_character_by_length():
    # the first and last characters of each number of bytes, and those beside surrogates
    codes = [0x0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]
    for first, last in (
        (0x7F, 0x80),
        (0x80, 0x7FF),
        (0x100, 0xFFFF),
        (0xD000, 0xE000),
        (0x1, 0x10FFFE),
        (0x10000, 0x10FFFF),
    ):
        pattern = f"[\\x{{{first:x}}}-\\x{{{last:x}}}]"
        model = model_of("RegexFullMatch", ["n"], ("bool",), pattern=pattern)
        (ours,) = found(model, texts(*map(chr, codes)))
        assert ours.tolist() == [first <= code <= last for code in codes]


def test_patterns_that_are_none():
    def error(pattern, kind=tilewright.UserError):
        return refused(model_of("RegexFullMatch", ["n"], ("bool",), pattern=pattern), kind)

    for pattern, what in (
        ("(a", 'has a "(" without ")"'), ("a)", 'has a ")" without "("'), ("[a", 'has a "[" without "]"'), ("*a", "repeats nothing"),
        ("a{3,2}", "has a repetition out of range"), ("a{2000}", "has a repetition out of range"), ("a\\", "ends with a backslash"),
        ("\\x4", 'has a "\\x" that is no character'), ("[b-a]", "has a range of characters that is none"),
        ("(?P<n", "has a group whose name does not end"),
    ):  # fmt: skip
        assert error(pattern) == (
            f'error: RegexFullMatch node "n": pattern "{pattern}" {what}\nhelp: the syntax is RE2\'s'
        )
    for pattern, what in (
        ("(?i)a", 'flags, "(?"'), (r"\pL", '"\\p"'), ("[[:alpha:]]", 'a class of characters by name, "[:"'),
        ("(" * 200 + ")" * 200, "groups inside of each other more than 100 deep"),
    ):  # fmt: skip
        assert error(pattern, tilewright.Unsupported) == (
            f'unsupported: RegexFullMatch node "n": pattern "{pattern}" has {what}\n'
            "help: supported are characters, classes, groups, alternatives and repetitions"
        )
    large = "((a{100}){100}){100}"
    assert error(large, tilewright.Unsupported) == (
        f'unsupported: RegexFullMatch node "n": pattern "{large}" has more than 65536 steps\nhelp: repeat less in it'
    )
    wide = ".*a.{14}"
    assert error(wide, tilewright.Unsupported) == (
        f'unsupported: RegexFullMatch node "n": pattern "{wide}" needs more than 4096 states\n'
        "help: repeat less in it, or match in several steps"
    )


# ---- Cast

NUMBERS = np.array(
    [1, 0.1, np.nan, np.inf, -np.inf, 1e20, 1e-7, 3.14159265, 16777216, 123456.789, -0.0], "float32"
)


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "int8", "uint8", "int64", "uint64", "bool"]
)
def test_numbers_become_strings(dtype):
    x = NUMBERS if dtype.startswith("float") else np.array([0, 1, 7, 100])
    if dtype == "float16":
        x = NUMBERS[:5]
    if dtype in ("int64", "int8"):
        x = np.array([-128, 0, 127])
    if dtype == "uint64":
        x = np.array([2**64 - 1, 0], "uint64")
    x = x.astype(dtype)
    check(model_of("Cast", ["n"], kind=helper.np_dtype_to_tensor_dtype(x.dtype), to=8), x)


@pytest.mark.parametrize("to", [1, 10, 11])
def test_strings_become_floats(to):
    model = model_of("Cast", ["n"], ("float",), to=to)
    model.graph.output[0].type.tensor_type.elem_type = to
    (y,) = found(model, texts("1", "-2.5", "1e3", "1E-3", "+inf", "INF", "-InF", "nan", " 3 ", "+.5"))
    dtype = helper.tensor_dtype_to_np_dtype(to)
    np.testing.assert_array_equal(
        y, np.array([1, -2.5, 1e3, 1e-3, np.inf, np.inf, -np.inf, np.nan, 3, 0.5], dtype)
    )
    if to == 1:  # rounded once
        text = "1.00000017881393432617187499"
        assert found(model, texts(text))[0] == np.float32(1.0000001)


def test_strings_become_integers():
    def made(to, *values):
        model = model_of("Cast", ["n"], ("int64",), to=to)
        model.graph.output[0].type.tensor_type.elem_type = to
        return found(model, texts(*values))[0].tolist()

    assert made(7, "12", "-3", "+4", "100.5", "1e3", str(2**63 - 1), str(-(2**63))) == [
        12,
        -3,
        4,
        100,
        1000,
        2**63 - 1,
        -(2**63),
    ]
    assert made(13, str(2**64 - 1), "7") == [2**64 - 1, 7]
    assert made(3, "-128", "127") == [-128, 127]
    assert made(2, "255", "0") == [255, 0]
    assert made(9, "1", "0", "2.5") == [True, False, True]


def test_strings_that_are_no_numbers():
    model = model_of("Cast", ["n"], ("float",), to=1)
    for text in ("", "abc", "1.5x", "0x10", "1 2", "+-1"):
        assert call_error(model, texts(text)) == f'error: the string "{text}" is no number'
    assert (
        call_error(model, texts("1e400"))
        == 'error: the string "1e400" is a number beyond the range of float32'
    )
    for to, text, dtype in (
        (7, "1e30", "int64"),
        (7, "nan", "int64"),
        (3, "128", "int8"),
        (2, "-1", "uint8"),
        (2, "256", "uint8"),
    ):
        model = model_of("Cast", ["n"], ("int64",), to=to)
        assert (
            call_error(model, texts(text))
            == f'error: the string "{text}" is a number beyond the range of {dtype}'
        )


def test_cast_of_strings_to_strings():
    model = parsed(
        "g (string[n] x, string[1] like, int64[n] i) => (string[n] y, string[n] z) { y = CastLike(x, like) z = CastLike(i, like) }"
    )
    y, z = found(model, texts("a", "b"), texts("c"), np.array([1, 20]))
    assert (y.tolist(), z.tolist()) == (["a", "b"], ["1", "20"])
    assert refused(model_of("Cast", ["n"], ("int64",), to=22), tilewright.Unsupported) == (
        'unsupported: Cast node "n": casts strings to int4, supported are numbers of 8 bits and more\n'
        "help: cast to int8 or uint8 first"
    )


def test_strings_there_and_back():
    model = parsed("g (float[n] x) => (float[n] y) { s = Cast<to = 8>(x) y = Cast<to = 1>(s) }")
    x = np.float32([0, 1.5, -2.25, 1e10])
    np.testing.assert_array_equal(found(model, x)[0], x)


def test_reference_splits_the_same():
    model = model_of("StringSplit", [8], ("string", "int64"), delimiter=",")
    require_same(found(model, SENTENCES), ReferenceEvaluator(model).run(None, {"x": SENTENCES}))


def test_an_output_that_says_string_without_reason():
    """Element types of outputs are inferred: a file that is wrong about them is no error."""
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
        [helper.make_tensor_value_info("y", TensorProto.STRING, [3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    np.testing.assert_array_equal(main(np.float32([-1, 0, 2])).numpy(), np.float32([0, 0, 2]))
