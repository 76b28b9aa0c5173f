"""ms.logging and ms.utils: what programs call beside tuning; progress itself is a table."""

import logging
import os
import random
from pathlib import Path

from tilewright import _core, tune

from .spaces import derived_object


def get_logger(name: str) -> logging.Logger:
    """Python's logger of a name."""
    return logging.getLogger(name)


def get_logging_func(logger: logging.Logger | None):
    """A function (level, file, line, text) that writes to a logger; None without one."""
    if logger is None:
        return None
    return lambda level, filename, lineno, msg: logger.log(10 * level, "%s", msg)


def create_loggers(log_dir: str, params: list, logger_config=None, disable_existing_loggers: bool = False):
    """Loggers that write to files in a folder: those of params, each with the key logger_name."""
    return [_logger_to(Path(log_dir), str(each["logger_name"])) for each in params]


def get_loggers_from_work_dir(work_dir: str, task_names: list) -> list[logging.Logger]:
    """A logger of each task, which writes to work_dir/logs."""
    names = [f"tilewright.tune.task_{place:03d}_{name}" for place, name in enumerate(task_names)]
    return [_logger_to(Path(work_dir) / "logs", name) for name in names]


def _logger_to(folder: Path, name: str) -> logging.Logger:
    folder.mkdir(parents=True, exist_ok=True)
    logger = logging.getLogger(name)
    logger.addHandler(logging.FileHandler(folder / f"{name}.log", delay=True))
    logger.setLevel(logging.INFO)
    return logger


def fork_seed(seed: int | None, n: int) -> list[int]:
    """`n` seeds drawn from one; -1 for each of None, which draws."""
    draw = random.Random(seed)
    return [draw.randrange(1 << 31) for _ in range(n)]


def cpu_count(logical: bool = True) -> int:
    """The processors of this machine; those that threads of kernels run on with logical=False."""
    return (os.cpu_count() or 1) if logical else _core.num_threads()


def shash2hex(mod) -> str:
    """The hash of a module with one loop program."""
    return tune.tasks_of(mod, exactly_one=True)[0].key.program


LOGGING = {
    "get_logger": get_logger,
    "get_logging_func": get_logging_func,
    "create_loggers": create_loggers,
    "get_loggers_from_work_dir": get_loggers_from_work_dir,
}
UTILS = {
    "derived_object": derived_object,
    "fork_seed": fork_seed,
    "cpu_count": cpu_count,
    "shash2hex": shash2hex,
}
