"""tvm.contrib.tar: objects in one file."""

import os
import tarfile
from pathlib import Path


def tar(output, files) -> None:
    """Writes the files into the archive `output`, without their folders."""
    with tarfile.open(output, "w") as archive:
        for file in [files] if isinstance(files, (str, os.PathLike)) else files:
            archive.add(str(file), arcname=Path(file).name)


tar.output_format = "tar"


def untar(tar_file, directory) -> None:
    """Unpacks an archive into a folder."""
    with tarfile.open(tar_file) as archive:
        archive.extractall(directory, filter="data")


NAMES = {"tar": tar, "untar": untar}
