"""The engine of threads: order, errors, deadlines, and what a task may use."""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from sodm import _core
from sodm.engines import Part, Table, ThreadEngine
from sodm.engines.base import Arrays, Block, Slot


def engine(n_threads: int) -> ThreadEngine:
    made = ThreadEngine(n_threads)
    made.keep(Table(np.arange(20.0).reshape(20, 1), np.ones((1, 20)), np.ones(20)))
    return made


def parts(*sizes: int) -> list[Part]:
    bounds = np.cumsum([0, *sizes])
    return [Part(np.arange(a, b), {"number": k}) for k, (a, b) in enumerate(itertools.pairwise(bounds))]


def seen(block: Block, message: Arrays, slot: Slot) -> Arrays:
    time.sleep(0.002 * (5 - message["number"]))  # the first is the last to end
    return {"rows": block.rows.sum(), "n_threads": slot.n_threads, **message}


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_results_come_in_the_order_of_the_parts(n_threads: int) -> None:
    results = engine(n_threads).map(seen, parts(2, 3, 4, 5))
    assert [r["number"] for r in results if r] == [0, 1, 2, 3]
    assert [r["rows"] for r in results if r] == [1.0, 9.0, 26.0, 55.0]
    assert all(r["n_threads"] == 1 for r in results if r)


def test_few_parts_share_the_threads_out() -> None:
    results = engine(5).map(seen, parts(9, 3))
    assert [r["n_threads"] for r in results if r] == [3, 2]


@pytest.mark.parametrize(
    ("memory", "each", "at_once", "n_threads"),
    [(None, 100, 4, 1), (100, 50, 2, 2), (100, 60, 1, 4), (10, 60, 1, 4)],
)
def test_no_more_parts_at_once_than_fit_into_memory(
    memory: int | None, each: int, at_once: int, n_threads: int
) -> None:
    lock, running, most = threading.Lock(), set(), []

    def task(block: Block, message: Arrays, slot: Slot) -> Arrays:
        with lock:
            running.add(message["number"])
            most.append(len(running))
        time.sleep(0.01)
        with lock:
            running.remove(message["number"])
        return {"n_threads": slot.n_threads}

    made = ThreadEngine(4, memory)
    made.keep(Table(np.arange(20.0).reshape(20, 1), np.ones((1, 20)), np.ones(20)))
    results = made.map(task, [replace(part, memory=each) for part in parts(3, 3, 3, 3, 3, 3)])
    assert max(most) <= at_once
    assert [r["n_threads"] for r in results if r] == [n_threads] * 6


def until_stopped(block: Block, message: Arrays, slot: Slot) -> Arrays:
    if message["number"] == 1:
        return message
    while not slot.stop.stopped:
        time.sleep(0.001)
    raise _core.Interrupted("interrupted")


def test_a_deadline_ends_what_is_running_and_keeps_what_is_done() -> None:
    results = engine(2).map(until_stopped, parts(2, 3, 4), deadline=time.monotonic() + 0.05)
    assert results[0] is None and results[2] is None
    later = engine(3).map(until_stopped, parts(2, 3, 4), deadline=time.monotonic() + 0.05)
    assert later[1] == {"number": 1}


def test_another_thread_may_stop_it() -> None:
    before, stop = threading.active_count(), _core.StopToken()
    timer = threading.Timer(0.05, stop.stop)
    timer.start()
    with pytest.raises(_core.Interrupted):
        engine(2).map(until_stopped, parts(2, 3, 4), stop=stop)
    timer.join()
    assert threading.active_count() == before


def fails(block: Block, message: Arrays, slot: Slot) -> Arrays:
    if message["number"] == 1:
        raise ValueError("part 1 is wrong")
    return until_stopped(block, {"number": 0}, slot)


def test_an_error_stops_the_others_and_comes_out() -> None:
    before = threading.active_count()
    with pytest.raises(ValueError, match="part 1 is wrong"):
        engine(2).map(fails, parts(3, 3))
    assert threading.active_count() == before


def test_reduce_goes_from_left_to_right() -> None:
    assert engine(2).reduce(lambda a, b: a + b, ["a", "b", "c"]) == "abc"


def test_overhead_is_what_is_lost_around_the_tasks() -> None:
    made = engine(2)
    made.map(seen, parts(2, 2))
    assert made.overhead >= 0
