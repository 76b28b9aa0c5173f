"""auto_inline: element by element blocks are computed where they are read."""

from designs import attempts_of, candidates, designs_of

from tilewright import te


def chain(middle):
    x = te.placeholder((7, 127), name="X")
    y = te.compute((7, 127), lambda i, j: middle(x[i, j]), name="Y")
    return te.create_prim_func([x, te.compute((7, 127), lambda i, j: y[i, j] + 1.0, name="Z")])


def test_cheap_values_are_inlined():
    func = chain(lambda value: value * 2.0)
    assert attempts_of(func)["Y", "auto_inline"] == ""
    (trace,) = designs_of(func)
    assert "compute_inline" in str(trace)
    for sch in candidates(func, 3):
        assert sch.verify(samples=1)


def test_what_stays():
    assert (
        attempts_of(chain(te.exp))["Y", "auto_inline"]
        == "its functions would be called for each reader again"
    )
    result = attempts_of(chain(te.exp))["Z", "auto_inline"]
    assert result.startswith("compute_inline: ")
    k = te.reduce_axis((0, 127))
    x = te.placeholder((7, 127), name="X")
    total = te.compute((7,), lambda i: te.sum(x[i, k], axis=k), name="S")
    rows = te.create_prim_func([x, te.compute((7,), lambda i: total[i] + 1.0, name="T")])
    assert attempts_of(rows)["S", "auto_inline"] == "it is a reduction"
