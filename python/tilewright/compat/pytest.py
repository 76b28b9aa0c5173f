"""pytest -p tilewright.compat.pytest: test suites that say `import tvm` run on tilewright."""

from . import install
from .testing.plugin import dev, pytest_configure, pytest_generate_tests

install()
