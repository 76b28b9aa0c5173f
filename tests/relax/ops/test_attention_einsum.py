"""nn.attention_einsum: attention whose dimensions stand in any order."""

import numpy as np
import pytest
from attention_testing import attention, random
from op_testing import run_op

from tilewright.errors import UserError


@pytest.mark.parametrize(
    ("subscripts", "query", "key", "value", "bias"),
    [
        ("sd,td,te->se", (19, 5), (7, 5), (7, 3), None),
        ("bhsd,bhdt,bhte->bshe", (2, 3, 9, 5), (2, 3, 5, 7), (2, 3, 7, 4), None),
        ("1hsd,1thd,1ehto->1shoe".replace("o", "1"), (1, 3, 9, 5), (1, 7, 3, 5), (1, 4, 3, 7, 1), None),
        ("bhsd,btd,bte,ts->bhse", (2, 3, 20, 5), (2, 7, 5), (2, 7, 4), (7, 20)),
        ("bhsd,bhtd,bhte,bh1t->bhse", (2, 4, 20, 5), (2, 4, 7, 5), (2, 1, 7, 4), (2, 1, 1, 7)),
    ],
)
@pytest.mark.parametrize("level", [0, 2])
def test_dimensions_in_any_order(subscripts, query, key, value, bias, level):
    operands, result = subscripts.split("->")
    shapes = [query, key, value, bias][: 4 if bias else 3]
    arrays = [random(*shape) for shape in shapes]
    batch = result.replace("1", "").replace("s", "").replace("e", "")

    def canonical(array, letters, last):
        """[batch, *last] with heads repeated."""
        own = letters.replace("1", "")
        array = array.reshape([n for n, letter in zip(array.shape, letters, strict=True) if letter != "1"])
        extents = dict(
            zip(
                operands.split(",")[0].replace("1", ""),
                arrays[0].reshape([n for n in query if n > 1]).shape,
                strict=True,
            )
        )
        for letter in batch:
            if letter not in own:
                own, array = letter + own, array[None]
        array = np.einsum(f"{own}->{batch + last}", array)
        for axis, letter in enumerate(batch):
            array = np.repeat(array, extents[letter] // array.shape[axis], axis)
        return array

    q, k, v, *b = (
        canonical(array, letters, last)
        for array, letters, last in zip(arrays, operands.split(","), ("sd", "td", "te", "st"), strict=False)
        if "s" in letters or last != "st"
    )
    if bias and not b:
        b = [arrays[3].astype("float64")]
    expected = attention(q, k, v, b[0] if b else 0.0, 0.5)
    expected = np.einsum(f"{batch}se->{result.replace('1', '')}", expected)
    found = run_op("nn.attention_einsum", *arrays, opt_level=level, subscripts=subscripts, scale=0.5)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=2e-5, atol=2e-6)


def error_of(*args, **attrs):
    with pytest.raises(UserError) as error:
        run_op("nn.attention_einsum", *args, **attrs)
    return str(error.value).splitlines()[0]


def test_operator_refuses():
    query, key, value = random(2, 9, 5), random(2, 7, 5), random(2, 7, 3)
    name = "error: nn.attention_einsum: "
    for subscripts in (
        "bsd,btd,bte->bs",
        "bsd,btd,bde->bse",
        "bsd,btd,ste->bse",
        "bss,btd,bte->bse",
        "bsd,btd->bse",
    ):
        assert error_of(query, key, value, subscripts=subscripts) == (
            name + f'subscripts "{subscripts}" are not those of attention of 3 operands'
        )
    assert error_of(query, key, value[:, :5], subscripts="bsd,btd,bte->bse") == (
        name + "dimension t has extent 7, but is 5 in value [2, 5, 3]"
    )
    assert error_of(query, key[:1], value, random(3, 9, 7), subscripts="bsd,btd,bte,bst->bse") == (
        name + "dimension b has extent 2, but is 3 in bias [3, 9, 7]"
    )
    assert error_of(query, key, value, subscripts="bsd,btd,bte->bse", causal_mask="Left") == (
        name + 'causal_mask is "Left", expected "TopLeft" or "BottomRight"'
    )


@pytest.mark.parametrize("queries", [3, 19])
@pytest.mark.parametrize("mask", ["", "TopLeft", "BottomRight"])
def test_capped_scores_and_hidden_keys(queries, mask):
    query, key, value = random(2, queries, 5), random(2, 21, 5), random(2, 21, 3)
    first = 21 - queries if mask == "BottomRight" else 0
    ahead = np.arange(21) - np.arange(queries)[:, None] - first
    bias = np.where((ahead > 0) & bool(mask) | (ahead <= -4), -np.inf, 0)
    capped = 0.7 * np.tanh(query.astype("float64") @ key.swapaxes(-1, -2) * 0.5 / 0.7)
    weights = np.exp(capped + bias)
    expected = weights / weights.sum(-1, keepdims=True) @ value
    for level in (0, 2):
        found = run_op(
            "nn.attention_einsum",
            *[query, key, value],
            opt_level=level,
            subscripts="bsd,btd,bte->bse",
            scale=0.5,
            causal_mask=mask,
            window_size=4,
            softcap=0.7,
        )
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)
