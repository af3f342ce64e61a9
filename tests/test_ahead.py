"""Work that is begun before it is known to be wanted."""

from __future__ import annotations

import threading

import pytest

from sodm.trees.ahead import Ahead


def test_another_thread_finds_it() -> None:
    ahead: Ahead[int]
    with Ahead() as ahead:
        assert ahead.begun is None
        ahead.begin(lambda given_up: threading.get_ident())
        assert ahead.begun is not None and ahead.begun.result() != threading.get_ident()


def test_what_is_not_wanted_ends_and_is_waited_for() -> None:
    begun, ended = threading.Event(), threading.Event()

    def find(given_up):
        begun.set()
        while not given_up():
            pass
        ended.set()
        raise RuntimeError("nobody hears of it")

    ahead: Ahead[int]
    with Ahead() as ahead:
        ahead.begin(find)
        begun.wait()
        assert not ended.is_set()
    assert ended.is_set()


def test_its_error_is_that_of_the_result() -> None:
    ahead: Ahead[float]
    with Ahead() as ahead:
        ahead.begin(lambda given_up: 1 / 0)
        assert ahead.begun is not None
        with pytest.raises(ZeroDivisionError):
            ahead.begun.result()
