"""Shared by the tests of gradients: the gradient of a small graph against torch's, or against differences."""

import numpy as np

import tilewright
from tilewright import relax, tir
from tilewright.relax.op import sin, sum

op = relax.op


def rand(*shape, seed=3):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def positive(*shape, seed=5):
    return (np.random.default_rng(seed).random(shape) + 0.5).astype("float32")


def loss_module(graph, arrays, symbols=()):
    """main(x0, x1, ...) = the sum of the sines of what `graph` gives for parameters of the arrays' types."""
    extents = {extent: tir.Var(f"n{extent}", "int64") for extent in symbols}
    params = [
        relax.Var(f"x{n}", relax.TensorType([extents.get(e, e) for e in a.shape], str(a.dtype)))
        for n, a in enumerate(arrays)
    ]
    bb = relax.BlockBuilder()
    with bb.function("main", params):
        with bb.dataflow():
            result = bb.emit(graph(*params))
            is_tuple = hasattr(result.type, "elements")
            parts = [result[n] for n in range(len(result.type.elements))] if is_tuple else [result]
            floats = [bb.emit(part) for part in parts]
            losses = [bb.emit(sum(sin(part))) for part in floats if "float" in str(part.type.dtype)]
            total = losses[0]
            for loss in losses[1:]:
                total = bb.emit(op.add(total, loss))
            out = bb.emit_output(total)
        bb.emit_func_output(out)
    return bb.get()


def differentiated(module, **options):
    """Only the adjoint of main."""
    result = relax.transform.Gradient("main", **options)(module)
    return tilewright.IRModule(
        {name.name_hint: func for name, func in result.functions.items() if name.name_hint != "main"}
    )


def call(module, name, arrays, opt_level=2):
    with tilewright.transform.PassContext(opt_level=opt_level):
        function = tilewright.VirtualMachine(tilewright.compile(module))[name]
    return function(*(tilewright.tensor(a) for a in arrays))


def gradients(graph, arrays, symbols=(), opt_level=2):
    """(loss, gradients of the floating-point arrays)"""
    module = differentiated(loss_module(graph, arrays, symbols))
    loss, grads = call(module, "main_adjoint", arrays, opt_level)
    return loss.numpy(), [grad.numpy() for grad in grads]


def torch_gradients(function, arrays):
    import torch

    tensors = [torch.tensor(a) for a in arrays]
    floats = [t.requires_grad_() for t in tensors if t.is_floating_point()]
    results = function(*tensors)
    results = results if isinstance(results, list | tuple) else [results]
    loss = torch.stack([torch.sin(r).sum() for r in results if r.is_floating_point()]).sum()
    found = torch.autograd.grad(loss, floats, allow_unused=True)
    zeros = [torch.zeros_like(t) for t in floats]
    pairs = zip(found, zeros, strict=True)
    return loss.detach().numpy(), [(zero if g is None else g).numpy() for g, zero in pairs]


def check(graph, function, *arrays, symbols=(), rtol=2e-4, atol=2e-5):
    """Loss and gradients of `graph` are those of torch's `function`."""
    loss, grads = gradients(graph, arrays, symbols)
    wanted_loss, wanted = torch_gradients(function, arrays)
    np.testing.assert_allclose(loss, wanted_loss, rtol=1e-3, atol=1e-3)
    assert len(grads) == len(wanted)
    for mine, theirs in zip(grads, wanted, strict=True):
        assert mine.shape == theirs.shape
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=atol)


def check_by_differences(graph, *arrays, step=1e-4, tolerance=1e-5):
    """Gradients are what the loss does when one element moves: float64, no torch needed."""
    arrays = [a.astype("float64") if a.dtype == np.float32 else a for a in arrays]
    module = loss_module(graph, arrays)
    main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    _, grads = gradients(graph, arrays)
    floats = [n for n, a in enumerate(arrays) if a.dtype == np.float64]
    rng = np.random.default_rng(1)
    for position, grad in zip(floats, grads, strict=True):
        for at in rng.choice(arrays[position].size, min(5, arrays[position].size), replace=False):
            place = np.unravel_index(at, arrays[position].shape)
            ends = []
            for sign in (1, -1):
                moved = [a.copy() for a in arrays]
                moved[position][place] += sign * step
                ends.append(float(main(*(tilewright.tensor(a) for a in moved)).numpy()))
            assert abs((ends[0] - ends[1]) / (2 * step) - grad[place]) < tolerance
