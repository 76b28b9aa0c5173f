"""Attributes and methods of devices under TVM's names."""

from tilewright import runtime


def _api_version(self) -> int | None:
    """The version of the driver's interface as one number: 13000 of CUDA 13.0, 300 of OpenCL 3.0; None for the CPU."""
    if self.driver is None:
        return None
    name, version = self.driver.split(" ")[:2]
    major, minor = (int(part) for part in version.split(".")[:2])
    return major * 1000 + minor * 10 if name == "CUDA" else major * 100 + minor * 10


def add() -> None:
    """Gives devices these names."""
    device = runtime.Device
    device.device_name = device.name
    device.driver_version = device.driver
    device.api_version = property(_api_version)
    device.create_raw_stream = device.create_stream
    device.free_raw_stream = device.free_stream
    device.set_raw_stream = device.set_stream
