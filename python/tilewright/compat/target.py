"""tvm.target.Target: a class whose objects are tilewright's targets, and the current one of a `with` statement."""

import threading

import tilewright as tw
from tilewright.errors import UserError
from tilewright.ir._nodes import classes

_TargetNode = classes["ir.Target"]
_local = threading.local()


def _stack() -> list:
    if not hasattr(_local, "targets"):
        _local.targets = []
    return _local.targets


class _TargetClass(type):
    def __instancecheck__(cls, value) -> bool:
        return isinstance(value, _TargetNode)


class Target(metaclass=_TargetClass):
    """Target("llvm -num-cores 2"), Target({"kind": "llvm"}), Target("llvm", host="llvm")."""

    def __new__(cls, target, host=None):
        return tw.Target(target, host)

    @staticmethod
    def current(allow_none: bool = True):
        """The target of the innermost `with` statement; None outside of any, or an error without allow_none."""
        if _stack():
            return _stack()[-1]
        if allow_none:
            return None
        raise UserError("there is no current target\nhelp: write it inside `with Target(...):`")


def _enter(self):
    _stack().append(self)
    return self


def _exit(self, *exception) -> None:
    _stack().pop()


def target_or_current(target):
    """`target`, else the current one, else llvm."""
    return target or Target.current() or "llvm"


def add() -> None:
    """Lets targets stand in `with` statements."""
    _TargetNode.__enter__, _TargetNode.__exit__ = _enter, _exit
