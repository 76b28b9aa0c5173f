"""@ir_module, @T.prim_func, @R.function."""

import inspect

from ..errors import ArgumentError
from .source import Macro, parse_object


def _is_class_body(frame) -> bool:
    """True while the body of a class runs: its functions are parsed with the class."""
    return "__qualname__" in frame.f_locals and "__module__" in frame.f_locals


def _decorator(definition, frame, check_well_formed: bool):
    if inspect.isfunction(definition) and _is_class_body(frame):
        return definition
    if not inspect.isfunction(definition) and not isinstance(definition, type):
        raise ArgumentError(
            f"a Python {type(definition).__name__} is no program\nhelp: decorate a function or a class"
        )
    program = parse_object(definition, frame, check_well_formed)
    return _with_python_functions(program, definition) if isinstance(definition, type) else program


def _with_python_functions(module, definition: type):
    """The module with `pyfuncs`, the functions of the class that @I.pyfunc marks; of a BasePyModule what makes one."""
    module.pyfuncs = {
        name: func for name, func in vars(definition).items() if hasattr(func, "__tilewright_pyfunc__")
    }
    if definition.__mro__ == (definition, object):
        return module
    from ..relax.base_py_module import BasePyModule, ModuleFactory

    if not issubclass(definition, BasePyModule):
        return module
    runnable = type(definition.__name__, definition.__bases__, {"__doc__": definition.__doc__})
    return ModuleFactory(runnable, module)


def pyfunc(function):
    """A decorator of functions of an @I.ir_module class that stay Python: they are not parsed, they are in `pyfuncs`."""
    function.__tilewright_pyfunc__ = True
    return function


def _make(name: str, what: str):
    def decorate(definition=None, *, check_well_formed: bool = True, private: bool = False, **options):
        frame = inspect.currentframe().f_back
        if definition is not None:
            return _decorator(definition, frame, check_well_formed)
        return lambda later: _decorator(later, inspect.currentframe().f_back, check_well_formed)

    decorate.__name__ = decorate.__qualname__ = name
    decorate.__doc__ = f"""{what}

    check_well_formed  refuse programs that are consistent but cannot be meant; default True
    private            without a global symbol, so that passes may remove it; default False
    Raises             UserError with a caret on the line that is wrong
    """
    return decorate


ir_module = _make("ir_module", "The IRModule that the decorated class describes.")
prim_func = _make("prim_func", "The PrimFunc that the decorated function describes.")
function = _make("function", "The relax Function that the decorated function describes.")


def macro(definition=None, *, hygienic: bool = True):
    """The Macro of the decorated function: statements that are put where a program calls it.

    hygienic  names that the macro does not define are those of where it is written; False: of where it is called

    @T.macro
    def copy(dst, src, i):
        dst[i] = src[i]

    In a graph a macro also gives what it returns:

    @R.macro
    def doubled(x):
        return R.multiply(x, R.const(2.0))
    """
    frame = inspect.currentframe().f_back
    if definition is not None:
        return Macro(definition, frame, True)
    return lambda later: Macro(later, frame, hygienic)
