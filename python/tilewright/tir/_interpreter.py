"""Running and checking loop programs without compiling them."""

from .. import _core
from ..ir.module import unwrapped


def interpret(program, *args, name: str = "main", check_races: bool = True, max_steps: int = 1_000_000_000):
    """Runs a loop program slowly and exactly, with every access checked; returns the value of its T.ret, else None.

    program      a PrimFunc, or a module whose functions may call each other
    args         numpy arrays, tensors and numbers, in the order of the parameters; outputs are written in place
    name         of the function of a module; default "main"
    check_races  refuse two iterations of a parallel loop, two blocks of a GPU, or two threads with no barrier between, that touch
                 one element, one of them writing another number; default True
    max_steps    iterations of loops before the run is given up; default 10**9
    Raises       UserError where an element is read before it is written, an index or a block axis leaves its range, a
                 block reads or writes what its T.reads and T.writes leave out, numbers are divided by zero, or a barrier is
                 not reached by all threads of a block; Unsupported for operators that only hardware has
    >>> tilewright.tir.interpret(mm, a, b, c, name="mm_relu")
    """
    return _core.interpret(unwrapped(program), name, check_races, max_steps, *args)


def verify(program) -> None:
    """Nothing; raises UserError at the first fault of a loop program or of those of a module.

    program  a PrimFunc or a module
    Raises   UserError: undefined or doubly defined variables, buffers outside of where they exist, block axes that
             leave their domain, T.reads and T.writes that lie, loops that cannot run as they say
    >>> tilewright.tir.verify(mm)
    """
    _core.verify(unwrapped(program))
