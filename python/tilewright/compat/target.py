"""tvm.target.Target: a class whose objects are tilewright's targets, and the current one of a `with` statement."""

import tilewright as tw
from tilewright._stack import ContextStack
from tilewright.errors import UserError
from tilewright.ir._nodes import classes

_TargetNode = classes["ir.Target"]
_open = ContextStack()

#: the kinds that code is generated for
KINDS = ("c", "llvm")


class _TargetClass(type):
    def __getattr__(cls, name: str):
        return getattr(_TargetNode, name)

    def __instancecheck__(cls, value) -> bool:
        return isinstance(value, _TargetNode)


class Target(metaclass=_TargetClass):
    """Target("llvm -num-cores 2"), Target({"kind": "llvm"}), Target("llvm", host="llvm")."""

    def __new__(cls, target, host=None):
        return tw.Target(target, host)

    @staticmethod
    def current(allow_none: bool = True):
        """The target of the innermost `with` statement; None outside of any, or an error without allow_none."""
        if _open.top is not None or allow_none:
            return _open.top
        raise UserError("there is no current target\nhelp: write it inside `with Target(...):`")

    @staticmethod
    def from_device(device):
        """The target of a device of this machine, or of its name."""
        return tw.Target.from_device(device)

    @staticmethod
    def list_kinds() -> list[str]:
        """The kinds that code is generated for."""
        return list(KINDS)

    @staticmethod
    def target_or_current(target):
        """The target of a text or dictionary; without one the current one."""
        return Target.current(allow_none=False) if target is None else tw.Target(target)


def _with_host(self, host):
    """The target with another host."""
    return tw.Target(self, host)


def _enter(self):
    return _open.push(self)


def _exit(self, *exception) -> None:
    _open.pop()


def target_or_current(target):
    """`target`, else the current one, else llvm."""
    return target or Target.current() or "llvm"


def add() -> None:
    """Lets targets stand in `with` statements."""
    _TargetNode.with_host = _with_host
    _TargetNode.__enter__, _TargetNode.__exit__ = _enter, _exit
