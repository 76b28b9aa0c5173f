"""Tensor intrinsics: what a piece of hardware computes, and how it is made to."""

from .. import _core
from ..errors import UserError


class TensorIntrin:
    """Two loop programs with the same parameters, one block each: `desc` says what is computed, `impl` does it."""

    __slots__ = ("desc", "impl")

    def __init__(self, desc, impl):
        self.desc = desc
        self.impl = impl

    @staticmethod
    def register(name: str, desc, impl, override: bool = False) -> "TensorIntrin":
        """Makes the pair known to sch.tensorize under `name`.

        override  replace an intrinsic of that name; default False
        Raises    UserError if the name is taken, or if the two programs do not fit
        """
        _core.register_tensor_intrin(name, desc, impl, override)
        return TensorIntrin(desc, impl)

    @staticmethod
    def get(name: str, allow_missing: bool = False):
        """The pair registered as `name`; raises UserError with near names, or gives None if allow_missing."""
        try:
            return TensorIntrin(*_core.get_tensor_intrin(name))
        except UserError:
            if allow_missing:
                return None
            raise
