"""Collective operators of a single worker."""

import pytest
from op_images import X
from op_testing import check_op


@pytest.mark.parametrize("name", ["allreduce", "allgather", "broadcast_from_worker0", "scatter_from_worker0"])
def test_one_worker_has_what_all_have(name):
    attrs = {"num_workers": 1} if name in ("allgather", "scatter_from_worker0") else {}
    check_op(f"ccl.{name}", [X], attrs, X)
