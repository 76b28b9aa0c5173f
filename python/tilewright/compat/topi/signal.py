"""topi.signal: Fourier transforms as sums."""

import math

from tilewright import UserError, te, tir, topi


def _angles(k, n, count, dtype):
    """2 pi k n / count, with k n modulo count, so that large products lose no digits."""
    whole = tir.Cast("int64", k) * tir.Cast("int64", n) % tir.Cast("int64", count)
    return tir.Cast(dtype, whole) * tir.const(2 * math.pi, dtype) / tir.Cast(dtype, count)


def _sums(name: str, shape, count, dtype, term):
    """Two tensors: the sums over n below `count` of the two expressions of term(n, *indices)."""

    def part(which):
        n = te.reduce_axis((0, count), "n")
        return te.compute(shape, lambda *i: te.sum(term(n.var, *i)[which], axis=n), name=f"{name}_{which}")

    return part("re"), part("im")


def dft(re_data, im_data, inverse=False):
    """The discrete Fourier transform over the last dimension: its real and imaginary parts."""
    if re_data.dtype != im_data.dtype or not re_data.dtype.startswith("float"):
        raise UserError(f"dft: parts are {re_data.dtype} and {im_data.dtype}, expected floats of one dtype")
    dtype, count = re_data.dtype, re_data.shape[-1]
    sign = tir.const(1 if inverse else -1, dtype)

    def term(n, *i):
        angle = _angles(i[-1], n, count, dtype)
        re, im, cos, sin = re_data(*i[:-1], n), im_data(*i[:-1], n), tir.cos(angle), tir.sin(angle) * sign
        return {"re": re * cos - im * sin, "im": re * sin + im * cos}

    parts = _sums("T_dft", re_data.shape, count, dtype, term)
    if not inverse:
        return list(parts)
    scale = tir.const(1, dtype) / tir.Cast(dtype, count)
    return [topi.multiply(part, topi.full((), dtype, scale)) for part in parts]


def stft(data, n_fft, hop_length, win_length, window, normalized, onesided, output_shape=None):
    """The transforms of windows of n_fft elements that begin every hop_length: [.., n_fft frequencies, windows, real and imaginary]."""
    n_fft, hop, length = int(n_fft), int(hop_length), int(win_length)
    if length > n_fft:
        raise UserError(f"stft: the window has {length} elements, but n_fft is {n_fft}")
    dtype = data.dtype
    first = (n_fft - length) // 2
    scale = 1 / math.sqrt(n_fft) if normalized else 1.0
    frequencies = n_fft // 2 + 1 if onesided else n_fft
    shape = [*data.shape[:-1], frequencies, (data.shape[-1] - n_fft) // hop + 1]

    def term(n, *i):
        angle = _angles(i[-2], n, tir.const(n_fft, "int32"), dtype)
        inside = tir.all(n >= first, n < first + length)
        weight = tir.if_then_else(
            inside, window(tir.max(tir.min(n - first, length - 1), 0)), tir.const(0, dtype)
        )
        value = data(*i[:-2], i[-1] * hop + n) * weight * tir.const(scale, dtype)
        return {"re": value * tir.cos(angle), "im": -value * tir.sin(angle)}

    return topi.stack(list(_sums("T_stft", shape, n_fft, dtype, term)), len(shape))


_SIGNAL = {"dft": dft, "stft": stft}
NAMES = {"signal": _SIGNAL, "": _SIGNAL}
