"""Old schedules of tensor expressions as lessons of 2018-2023 wrote them, in words of our own: each returns what to build and check.

A program is (schedule, args, arrays, expected): the last arrays are results, and `expected` is what they are.
"""

import numpy as np
import tvm
from tvm import te

ROWS, COLUMNS, TERMS = 127, 65, 70


def numbers(*shape):
    return np.random.default_rng(0).uniform(-1, 1, shape).astype("float32")


def product(rows=ROWS, columns=COLUMNS, terms=TERMS):
    a = te.placeholder((rows, terms), name="A")
    b = te.placeholder((terms, columns), name="B")
    k = te.reduce_axis((0, terms), "k")
    c = te.compute((rows, columns), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return a, b, c


def product_arrays(rows=ROWS, columns=COLUMNS, terms=TERMS):
    a, b = numbers(rows, terms), numbers(terms, columns)
    return [a, b, np.zeros((rows, columns), "float32")], [a @ b]


def vector_add():
    n = te.var("n")
    a, b = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    c = te.compute(a.shape, lambda i: a[i] + b[i], name="C")
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(c.op.axis[0], factor=4)
    s[c].parallel(outer)
    s[c].vectorize(inner)
    x, y = numbers(127), numbers(127)
    return s, [a, b, c], [x, y, np.zeros(127, "float32")], [x + y]


def product_as_written():
    a, b, c = product()
    return te.create_schedule(c.op), [a, b, c], *product_arrays()


def in_tiles(s, c, size, is_permuted=False):
    """Tiles of size x size, and terms by 4; `is_permuted`: rows of a tile are around the inner terms.

    Returns  the outermost and the innermost loop
    """
    xo, yo, xi, yi = s[c].tile(*c.op.axis, size, size)
    ko, ki = s[c].split(c.op.reduce_axis[0], factor=4)
    s[c].reorder(xo, yo, ko, *((xi, ki) if is_permuted else (ki, xi)), yi)
    return xo, yi


def product_blocked():
    a, b, c = product()
    s = te.create_schedule(c.op)
    in_tiles(s, c, 32)
    return s, [a, b, c], *product_arrays()


def product_vectorized():
    a, b, c = product()
    s = te.create_schedule(c.op)
    _, inner = in_tiles(s, c, 32)
    s[c].vectorize(inner)
    return s, [a, b, c], *product_arrays()


def product_permuted():
    a, b, c = product()
    s = te.create_schedule(c.op)
    outer, inner = in_tiles(s, c, 32, is_permuted=True)
    s[c].vectorize(inner)
    s[c].parallel(outer)
    return s, [a, b, c], *product_arrays()


def product_packed():
    """B is stored in panels of 16 columns first."""
    a, b = te.placeholder((ROWS, TERMS), name="A"), te.placeholder((TERMS, 64), name="B")
    panels = te.compute((4, TERMS, 16), lambda x, y, z: b[y, x * 16 + z], name="panels")
    k = te.reduce_axis((0, TERMS), "k")
    c = te.compute((ROWS, 64), lambda i, j: te.sum(a[i, k] * panels[j // 16, k, j % 16], axis=k), name="C")
    s = te.create_schedule(c.op)
    _, inner = in_tiles(s, c, 16, is_permuted=True)
    s[c].vectorize(inner)
    x, _, z = panels.op.axis
    s[panels].vectorize(z)
    s[panels].parallel(x)
    return s, [a, b, c], *product_arrays(columns=64)


def product_through_cache():
    a, b, c = product()
    s = te.create_schedule(c.op)
    cache = s.cache_write(c, "global")
    xo, yo, xi, yi = s[c].tile(*c.op.axis, 32, 32)
    s[cache].compute_at(s[c], yo)
    xc, yc = s[cache].op.axis
    ko, ki = s[cache].split(s[cache].op.reduce_axis[0], factor=4)
    s[cache].reorder(ko, xc, ki, yc)
    s[cache].unroll(ki)
    s[cache].vectorize(yc)
    s[c].parallel(xo)
    return s, [a, b, c], *product_arrays()


def sum_of_rows(n, m):
    a = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), "k")
    return a, te.compute((n,), lambda i: te.sum(a[i, k], axis=k), name="B")


def sum_in_parts():
    a, b = sum_of_rows(te.var("n"), te.var("m"))
    s = te.create_schedule(b.op)
    _, inner = s[b].split(b.op.reduce_axis[0], factor=16)
    parts = s.rfactor(b, inner)
    s[parts].compute_at(s[b], s[b].op.axis[0])
    x = numbers(13, 70)
    return s, [a, b], [x, np.zeros(13, "float32")], [x.sum(1)]


def sum_in_parts_behind():
    """The dimension of the parts is the last one, and their number is given."""
    a, b = sum_of_rows(7, 65)
    s = te.create_schedule(b.op)
    outer, _ = s[b].split(b.op.reduce_axis[0], nparts=4)
    parts = s.rfactor(b, outer, factor_axis=-1)
    assert [int(extent) for extent in parts.shape] == [7, 4]
    x = numbers(7, 65)
    return s, [a, b], [x, np.zeros(7, "float32")], [x.sum(1)]


def chain():
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1, name="B")
    c = te.compute((n,), lambda i: b[i] * 2, name="C")
    return a, b, c


def computed_where_it_is_read():
    a, b, c = chain()
    s = te.create_schedule(c.op)
    s[b].compute_at(s[c], c.op.axis[0])
    x, zeros = numbers(127), np.zeros(127, "float32")
    return s, [a, b, c], [x, zeros, zeros.copy()], [x + 1, (x + 1) * 2]


def inlined():
    a, b, c = chain()
    s = te.create_schedule(c.op)
    s[b].compute_inline()
    x = numbers(127)
    return s, [a, c], [x, np.zeros(127, "float32")], [(x + 1) * 2]


def inlined_argument():
    a, b, c = chain()
    s = te.create_schedule(c.op)
    s[b].compute_inline()
    x, zeros = numbers(127), np.zeros(127, "float32")
    return s, [a, b, c], [x, zeros, zeros.copy()], [x + 1, (x + 1) * 2]


def inlined_arguments_of_open_extent():
    n = te.var("n")
    a = te.placeholder((n, 5), name="A")
    b = te.compute(a.shape, lambda i, j: a[i, j] + 1.0, name="B")
    c = te.compute(a.shape, lambda i, j: b[i, j] * b[i, 4 - j], name="C")
    k = te.reduce_axis((0, 5), name="k")
    d = te.compute((n,), lambda i: te.sum(b[i, k] - c[i, k], axis=k), name="D")
    s = te.create_schedule(d.op)
    s[b].compute_inline()
    s[c].compute_inline()
    s[d].split(d.op.axis[0], factor=4)
    x, zeros = numbers(7, 5), np.zeros((7, 5), "float32")
    plus = x + 1
    square = plus * plus[:, ::-1]
    given = [x, zeros, zeros.copy(), np.zeros(7, "float32")]
    return s, [a, b, c, d], given, [plus, square, (plus - square).sum(1)]


def rooted_again():
    a, b, c = chain()
    s = te.create_schedule(c.op)
    s[b].compute_at(s[c], c.op.axis[0])
    s[b].compute_root()
    x = numbers(127)
    return s, [a, c], [x, np.zeros(127, "float32")], [(x + 1) * 2]


def blurred():
    """Tiles of the second step need rows of the first that overlap."""
    a = te.placeholder((17, 19), name="A")
    across = te.compute((17, 17), lambda y, x: a[y, x] + a[y, x + 1] + a[y, x + 2], name="across")
    both = te.compute((15, 17), lambda y, x: across[y, x] + across[y + 1, x] + across[y + 2, x], name="both")
    s = te.create_schedule(both.op)
    yo, xo, yi, xi = s[both].tile(*both.op.axis, 4, 8)
    s[across].compute_at(s[both], xo)
    x = numbers(17, 19)
    first = x[:, :-2] + x[:, 1:-1] + x[:, 2:]
    return s, [a, both], [x, np.zeros((15, 17), "float32")], [first[:-2] + first[1:-1] + first[2:]]


def largest_with_its_place():
    place, value = te.placeholder((7, 127), "int32", name="place"), te.placeholder((7, 127), name="value")
    k = te.reduce_axis((0, 127), "k")

    def larger(a, b):
        is_first = tvm.tir.any(a[1] > b[1], tvm.tir.all(a[1] == b[1], a[0] < b[0]))
        return tvm.tir.Select(is_first, a[0], b[0]), tvm.tir.Select(is_first, a[1], b[1])

    identity = lambda t0, t1: (tvm.tir.const(2**31 - 1, t0), te.min_value(t1))  # noqa: E731
    argmax = te.comm_reducer(larger, identity, name="argmax")
    where, most = te.compute((7,), lambda i: argmax((place[i, k], value[i, k]), axis=k), name="largest")
    s = te.create_schedule(where.op)
    outer, inner = s[where].split(s[where].op.axis[0], factor=4)
    s[where].parallel(outer)
    x = numbers(7, 127)
    places = np.tile(np.arange(127, dtype="int32"), (7, 1))
    arrays = [places, x, np.zeros(7, "int32"), np.zeros(7, "float32")]
    return s, [place, value, where, most], arrays, [x.argmax(1).astype("int32"), x.max(1)]


def step_through_cache():
    """What reads a step reads it still after the step is computed in a cache."""
    a, b, c = chain()
    s = te.create_schedule(c.op)
    cache = s.cache_write(b, "global")
    assert [stage.op.name for stage in s.stages] == ["A", "B.global", "B", "C"]
    assert s[c].op.input_tensors[0].op == s[b].op
    outer, _ = s[b].split(s[b].op.axis[0], factor=8)
    s[cache].compute_at(s[b], outer)
    x = numbers(127)
    return s, [a, c], [x, np.zeros(127, "float32")], [(x + 1) * 2]


def two_results_through_caches():
    a = te.placeholder((31,), name="A")
    more, less = te.compute((31,), lambda i: (a[i] + 1, a[i] - 1), name="both")
    s = te.create_schedule(more.op)
    caches = s.cache_write([more, less], "global")
    assert [cache.op.name for cache in caches] == ["both.global", "both.global"]
    outer, _ = s[more].split(s[more].op.axis[0], factor=8)
    s[caches[0]].compute_at(s[more], outer)
    x = numbers(31)
    return s, [a, more, less], [x, np.zeros(31, "float32"), np.zeros(31, "float32")], [x + 1, x - 1]


def convolution():
    data, kernel = te.placeholder((1, 5, 9, 11), name="data"), te.placeholder((7, 5, 3, 3), name="kernel")
    padded = te.compute(
        (1, 5, 11, 13),
        lambda n, c, y, x: tvm.tir.if_then_else(
            tvm.tir.all(y >= 1, y < 10, x >= 1, x < 12), data[n, c, y - 1, x - 1], 0.0
        ),
        name="padded",
    )
    c, p, q = te.reduce_axis((0, 5), "c"), te.reduce_axis((0, 3), "p"), te.reduce_axis((0, 3), "q")
    out = te.compute(
        (1, 7, 9, 11),
        lambda n, f, y, x: te.sum(padded[n, c, y + p, x + q] * kernel[f, c, p, q], axis=[c, p, q]),
        name="out",
    )
    s = te.create_schedule(out.op)
    n, f, y, x = out.op.axis
    fo, fi = s[out].split(f, factor=2)
    s[out].reorder(n, fo, y, c, p, q, fi, x)
    s[padded].compute_at(s[out], y)
    image, weights = numbers(1, 5, 9, 11), numbers(7, 5, 3, 3)
    wide = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(2, 3))
    expected = np.einsum("ncyxpq,fcpq->nfyx", windows, weights)
    return s, [data, kernel, out], [image, weights, np.zeros((1, 7, 9, 11), "float32")], [expected]


ON_CPU = [
    vector_add,
    product_as_written,
    product_blocked,
    product_vectorized,
    product_permuted,
    product_packed,
    product_through_cache,
    sum_in_parts,
    sum_in_parts_behind,
    computed_where_it_is_read,
    inlined,
    inlined_argument,
    inlined_arguments_of_open_extent,
    rooted_again,
    blurred,
    largest_with_its_place,
    step_through_cache,
    two_results_through_caches,
    convolution,
]


# ---------------------------------------------------------------- on GPUs


def vector_add_by_threads():
    n = te.var("n")
    a, b = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    c = te.compute(a.shape, lambda i: a[i] + b[i], name="C")
    s = te.create_schedule(c.op)
    block, thread = s[c].split(c.op.axis[0], factor=64)
    s[c].bind(block, te.thread_axis("blockIdx.x"))
    s[c].bind(thread, te.thread_axis("threadIdx.x"))
    x, y = numbers(127), numbers(127)
    return s, [a, b, c], [x, y, np.zeros(127, "float32")], [x + y]


def sum_by_threads():
    """Each row is added up by 16 threads."""
    a, b = sum_of_rows(te.var("n"), te.var("m"))
    s = te.create_schedule(b.op)
    _, inner = s[b].split(b.op.reduce_axis[0], factor=16)
    parts = s.rfactor(b, inner)
    block, row = s[b].split(s[b].op.axis[0], factor=8)
    s[b].bind(block, te.thread_axis("blockIdx.x"))
    s[b].bind(row, te.thread_axis("threadIdx.y"))
    lane = te.thread_axis("threadIdx.x")
    s[b].bind(s[b].op.reduce_axis[0], lane)
    s[parts].compute_at(s[b], s[b].op.reduce_axis[0])
    s[b].set_store_predicate(lane.var.equal(0))
    x = numbers(13, 70)
    return s, [a, b], [x, np.zeros(13, "float32")], [x.sum(1)]


def product_in_shared_memory():
    size, step = 64, 8
    a, b, c = product(size, size, size)
    s = te.create_schedule(c.op)
    tiles = [s.cache_read(each, "shared", [c]) for each in (a, b)]
    local = s.cache_write(c, "local")
    threads = te.thread_axis((0, 8), "threadIdx.x"), te.thread_axis((0, 8), "threadIdx.y")
    y, x = s[c].op.axis
    yo, yi = s[c].split(y, factor=32)
    xo, xi = s[c].split(x, factor=32)
    ty, yi = s[c].split(yi, nparts=8)
    tx, xi = s[c].split(xi, nparts=8)
    s[c].reorder(yo, xo, ty, tx, yi, xi)
    s[c].bind(yo, te.thread_axis("blockIdx.y"))
    s[c].bind(xo, te.thread_axis("blockIdx.x"))
    s[c].bind(ty, threads[1])
    s[c].bind(tx, threads[0])
    s[local].compute_at(s[c], tx)
    yc, xc = s[local].op.axis
    ko, ki = s[local].split(s[local].op.reduce_axis[0], factor=step)
    s[local].reorder(ko, ki, yc, xc)
    for tile in tiles:
        s[tile].compute_at(s[local], ko)
        thread, _ = s[tile].split(s[tile].fuse(*s[tile].op.axis), nparts=64)
        outer, inner = s[tile].split(thread, nparts=8)
        s[tile].bind(outer, threads[1])
        s[tile].bind(inner, threads[0])
    return s, [a, b, c], *product_arrays(size, size, size)


ON_DEVICES = [vector_add_by_threads, sum_by_threads, product_in_shared_memory]
