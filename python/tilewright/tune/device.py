"""Where candidates for a GPU are measured, if anywhere."""

import os

from .. import _core, runtime
from ..errors import Error
from ..target import Target


def why_unmeasured(target: Target) -> str | None:
    """Why candidates for a target cannot be measured here; None if they can.

    Times of the emulation of CUDA say nothing about a GPU, unless the environment has TILEWRIGHT_TUNE_ON_EMULATION=1.
    """
    if not _core.is_gpu(target):
        return None
    device = runtime.device(target.kind_name)
    try:
        if not device.exist:
            return f"there is no device {device}"
        if target.kind_name != "cuda":
            return None
        if os.environ.get("TILEWRIGHT_CUDA_EMULATION") == "1":
            is_wanted = os.environ.get("TILEWRIGHT_TUNE_ON_EMULATION") == "1"
            return None if is_wanted else f"{device} is emulated, and its times say nothing about a GPU"
        arch, own = str(target.attrs.get("arch", "")), f"sm_{device.compute_version.replace('.', '')}"
    except Error as error:
        return str(error).splitlines()[0].removeprefix("error: ")
    if arch and own not in [each.rstrip("af") for each in arch.split(",")]:
        return f"{device} is of {own}, and the target of {arch}"
    return None


def device_name(target: Target) -> str:
    """The device on which code for a target runs."""
    return str(runtime.device(target.kind_name)) if _core.is_gpu(target) else "cpu"
