"""What the programs behind commands share: errors on standard error, exit codes, options."""

import contextlib
import json
import signal
import sys
from collections.abc import Callable
from types import SimpleNamespace

from ..errors import Error, InternalError, UserError
from ..runtime.vm import set_num_threads

# exit codes, as those of the program: our error, the user's error, ended by Ctrl-C
_OURS, _USERS, _INTERRUPTED = 1, 2, 128 + signal.SIGINT


def dims_of(words: list[str], option: str) -> dict[str, int]:
    """{"batch": 1} of ["batch=1"].

    Raises UserError for other texts
    """
    dims = {}
    for word in words:
        name, equals, number = word.rpartition("=")
        if not equals or not number.isdigit():
            raise UserError(f'{option} is "{word}", expected a name and a number, e.g. batch=1')
        dims[name] = int(number)
    return dims


@contextlib.contextmanager
def threads_set(count: int):
    """Kernels use `count` threads in the block; 0: all CPUs."""
    set_num_threads(count)
    try:
        yield
    finally:
        set_num_threads(0)


def run_program(run: Callable[[SimpleNamespace], int], options: str) -> int:
    """Runs a command with its options as JSON; prints errors as the program does."""
    try:
        return run(SimpleNamespace(**json.loads(options)))
    except Error as error:
        text = str(error)
        print(text if text.startswith(("error: ", "unsupported: ")) else f"error: {text}", file=sys.stderr)
        return _OURS if isinstance(error, InternalError) else _USERS
    except MemoryError:
        print("error: out of memory", file=sys.stderr)
        return _USERS
    except KeyboardInterrupt:
        return _INTERRUPTED
