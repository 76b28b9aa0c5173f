"""pytest -p tilewright.compat.pytest: test suites that say `import tvm` run on tilewright."""

from . import install

install()
