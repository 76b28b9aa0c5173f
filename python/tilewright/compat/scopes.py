"""tvm.tir.BlockScope: which blocks of a scope depend on which."""

import enum

from tilewright import tir
from tilewright.schedule import State

from .schedules import StmtSRef
from .tir_functions import pre_order_visit


class DepKind(enum.Enum):
    """Read after write, write after write, write after read, and what is not known."""

    RAW = 0
    WAW = 1
    WAR = 2
    OPAQUE = 3


class Dependency:
    """`dst` has to come after `src`.

    src, dst  StmtSRef of blocks
    kind      DepKind
    """

    def __init__(self, src: StmtSRef, dst: StmtSRef, kind: DepKind):
        self.src, self.dst, self.kind = src, dst, kind

    def __repr__(self) -> str:
        return f"Dependency({self.src.stmt.name_hint} -> {self.dst.stmt.name_hint}, {self.kind.name})"


class BlockScope:
    """The dependences, by whole buffers, among the blocks directly inside of one."""

    def __init__(self, srefs: list[StmtSRef]):
        self._dependences = [
            Dependency(first, second, kind)
            for place, second in enumerate(srefs)
            for first in srefs[:place]
            for kind in _kinds(first.stmt, second.stmt)
        ]

    def get_deps_by_src(self, block: StmtSRef) -> list[Dependency]:
        """The blocks that have to come after a block."""
        return [each for each in self._dependences if each.src == block]

    def get_deps_by_dst(self, block: StmtSRef) -> list[Dependency]:
        """The blocks that have to come before a block."""
        return [each for each in self._dependences if each.dst == block]


def _kinds(first, second) -> list[DepKind]:
    def meet(before, after) -> bool:
        return any(a.buffer.data.same_as(b.buffer.data) for a in before for b in after)

    return [
        kind
        for kind, before, after in (
            (DepKind.RAW, first.writes, second.reads),
            (DepKind.WAW, first.writes, second.writes),
            (DepKind.WAR, first.reads, second.writes),
        )
        if meet(before, after)
    ]


def _get_block_scope(self, block_sref: StmtSRef) -> BlockScope:
    """The dependences among the blocks directly inside of a block."""
    found = []

    def visit(node) -> bool:
        if isinstance(node, tir.BlockRealize):
            found.append(self.get_sref(node.block))
        return not isinstance(node, tir.BlockRealize)

    pre_order_visit(block_sref.stmt.body, visit)
    return BlockScope(found)


def add() -> None:
    """Gives the state of a schedule get_block_scope, under its later name too."""
    State.get_block_scope = State.get_sblock_scope = _get_block_scope


NAMES = {
    "BlockScope": BlockScope,
    "SBlockScope": BlockScope,
    "Dependency": Dependency,
    "DepKind": DepKind,
    "StmtSRef": StmtSRef,
}
