"""The whole text of an error, for tests that compare it."""

import pytest

import tilewright


def refusal(call, *args, **kwargs) -> str:
    """The text of the UserError that the call raises; the test fails if there is none."""
    with pytest.raises(tilewright.UserError) as caught:
        call(*args, **kwargs)
    return str(caught.value)
