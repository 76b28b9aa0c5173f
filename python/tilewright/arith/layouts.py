"""Layouts of tensors: the order of axes as text, and the way of indices from one to another.

A capital letter is an axis, a number with a small letter the inner part of the axis of that letter: NCHW16c.
"""

import re

from .. import tir
from ..errors import UserError
from . import Analyzer


class Layout:
    """The axes of a tensor, outermost first.

    name  e.g. "NCHW16c"
    """

    def __init__(self, name: str):
        self.name = str(name)
        parts = re.findall(r"(\d*)([A-Za-z])", self.name)
        if "".join(size + letter for size, letter in parts) != self.name:
            raise UserError(f"layout {self.name} is not made of letters, and numbers before small letters")
        self._parts = [(letter, int(size) if size else None) for size, letter in parts]
        letters = [letter for letter, _ in self._parts]
        for letter, size in self._parts:
            if letters.count(letter) > 1:
                raise UserError(f"layout {self.name} has axis {letter} twice")
            if letter.isupper() != (size is None):
                raise UserError(
                    f"layout {self.name}: a number stands before each small letter, and before no other"
                )
            if size == 0:
                raise UserError(f"layout {self.name} has parts of 0 elements")
            if letter.islower() and letter.upper() not in letters:
                raise UserError(
                    f"layout {self.name} has an inner part {letter}, but no axis {letter.upper()}"
                )

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Layout({self.name})"

    def __len__(self) -> int:
        return len(self._parts)

    def __contains__(self, axis: str) -> bool:
        return any(letter == axis for letter, _ in self._parts)

    def __getitem__(self, index: int) -> str:
        return self._parts[index][0]

    def __eq__(self, other) -> bool:
        return isinstance(other, Layout) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def index_of(self, axis: str) -> int:
        """The position of an axis or an inner part; -1 if the layout lacks it."""
        return next((n for n, (letter, _) in enumerate(self._parts) if letter == axis), -1)

    def factor_of(self, axis: str) -> int:
        """The extent of the inner part of an axis; -1 if it has none."""
        return next((size for letter, size in self._parts if size and letter == axis.lower()), -1)

    def values(self, indices) -> dict:
        """{axis: index or extent as if it were not split}."""
        found = dict.fromkeys((letter for letter, _ in self._parts if letter.isupper()), 0)
        for (letter, size), index in zip(self._parts, indices, strict=True):
            inner = max(self.factor_of(letter), 1) if size is None else 1
            found[letter.upper()] = found[letter.upper()] + index * inner
        return found


class BijectiveLayout:
    """The way between two layouts of the same axes.

    src_layout, dst_layout  Layout or text
    """

    def __init__(self, src_layout, dst_layout):
        self.src_layout, self.dst_layout = layout(src_layout), layout(dst_layout)
        axes = [sorted(filter(str.isupper, each.name)) for each in (self.src_layout, self.dst_layout)]
        if axes[0] != axes[1]:
            raise UserError(f"layouts {self.src_layout} and {self.dst_layout} do not have the same axes")

    def forward_index(self, index) -> list:
        """The index in dst_layout of an index in src_layout."""
        return _index(self.src_layout, self.dst_layout, index)

    def backward_index(self, index) -> list:
        """The index in src_layout of an index in dst_layout."""
        return _index(self.dst_layout, self.src_layout, index)

    def forward_shape(self, shape) -> list:
        """The shape in dst_layout of a shape in src_layout; an axis that its inner part does not divide is rounded up."""
        return _shape(self.src_layout, self.dst_layout, shape)

    def backward_shape(self, shape) -> list:
        """The shape in src_layout of a shape in dst_layout."""
        return _shape(self.dst_layout, self.src_layout, shape)


def _require_ndim(source: Layout, values) -> None:
    if len(values) != len(source):
        raise UserError(f"layout {source} has {len(source)} axes, but {len(values)} values are given")


def _index(source: Layout, target: Layout, index) -> list:
    _require_ndim(source, index)
    values, found = source.values(index), []
    for letter in (target[n] for n in range(len(target))):
        value, factor = tir.const_like(values[letter.upper()], None), target.factor_of(letter)
        if letter.islower():
            value = tir.floormod(value, factor)
        elif factor != -1:
            value = tir.floordiv(value, factor)
        found.append(Analyzer().simplify(value))
    return found


def _shape(source: Layout, target: Layout, shape) -> list:
    _require_ndim(source, shape)
    outer = [extent if source[n].isupper() else 0 for n, extent in enumerate(shape)]
    values, found = source.values(outer), []
    for letter in (target[n] for n in range(len(target))):
        value, factor = tir.const_like(values[letter.upper()], None), target.factor_of(letter)
        if letter.islower():
            value = tir.const(factor)
        elif factor != -1:
            value = tir.ceildiv(value, factor)
        found.append(Analyzer().simplify(value))
    return found


def layout(layout_str) -> Layout:
    """The Layout of a text."""
    return layout_str if isinstance(layout_str, Layout) else Layout(layout_str)


def bijective_layout(src_layout, dst_layout) -> BijectiveLayout:
    """The way between two layouts."""
    return BijectiveLayout(src_layout, dst_layout)
