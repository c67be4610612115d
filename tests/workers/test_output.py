"""What is kept of what processes wrote."""

from __future__ import annotations

import os
from contextlib import closing

from twinjit.workers.output import OUTPUT_BYTES, Output


def test_the_end_is_kept() -> None:
    with closing(Output("test")) as output:
        os.write(output.fd, b"first\n" + 5000 * b"x" + b"\xff\nlast\n")
        end = output.end()
        assert len(end) == OUTPUT_BYTES + 3  # \xff is written out
        assert end.endswith("x\\xff\nlast\n")
        assert "first" not in end


def test_it_can_be_used_again() -> None:
    with closing(Output("test")) as output:
        os.write(output.fd, b"of one job")
        output.clear()
        assert output.end() == ""
        os.write(output.fd, b"of the next")
        assert output.end() == "of the next"


def test_it_may_be_closed_twice() -> None:
    output = Output("test")
    assert not os.get_inheritable(output.fd)
    output.close()
    output.close()
    assert output.fd == -1
