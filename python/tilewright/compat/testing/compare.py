"""tvm.testing.CompareBeforeAfter: a test that a pass turns one program into another."""

import inspect
import sys

from tilewright import ir
from tilewright.ir._nodes import classes
from tilewright.script.source import parse_object


def _is_test_method(value) -> bool:
    """A method that returns a program, unlike a function that is one."""
    return inspect.isfunction(value) and list(inspect.signature(value).parameters)[:1] == ["self"]


class CompareBeforeAfter:
    """Runs `transform` on `before` and compares with `expected`; subclasses define the three.

    before, expected  a program: a function as of T.prim_func, a class as of I.ir_module, either of the finished two,
                      or a method that returns one; `expected` may be the type of an exception
    transform         a pass, or a method that returns one
    """

    check_well_formed = True

    def __init_subclass__(cls):
        frame = sys._getframe(1)
        for name in ("before", "expected"):
            value = vars(cls).get(name)
            if value is None or _is_test_method(value) or hasattr(value, "_pytestfixturefunction"):
                continue
            is_error = isinstance(value, type) and issubclass(value, BaseException)
            if (inspect.isfunction(value) or isinstance(value, type)) and not is_error:
                decorator = (
                    "@tvm.script.ir_module" if isinstance(value, type) else "@tvm.script.tir.prim_func"
                )
                value = parse_object(value, frame, cls.check_well_formed, decorator)
            setattr(cls, name, property(lambda self, value=value: value))

    def _program(self, name: str):
        value = getattr(self, name)
        return value() if inspect.ismethod(value) else value

    def test_compare(self):
        """The test itself."""
        import pytest

        before, expected = self._program("before"), self._program("expected")
        transform = self.transform
        if inspect.ismethod(transform):
            transform = transform()
        is_function = isinstance(before, classes["tir.PrimFunc"])
        module = ir.IRModule({"main": before}) if is_function else before
        if isinstance(expected, type) and issubclass(expected, BaseException):
            with pytest.raises(expected):
                transform(module)
            return
        after = transform(module)
        if isinstance(expected, classes["tir.PrimFunc"]):
            after = after["main"]
            expected = expected.with_attr("global_symbol", after.attrs.get("global_symbol"))
        ir.assert_structural_equal(after, expected)
