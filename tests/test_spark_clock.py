"""Seconds left are counted by each process on its own clock. No cluster needed."""

from __future__ import annotations

import pickle

import pytest


@pytest.fixture(scope="module")
def clock(spark_package):
    from sodm.spark import clock

    return clock


def test_a_task_that_waited_has_no_more_time_than_the_first(clock):
    sent = pickle.dumps(clock.JobClock(60.0))
    first = pickle.loads(sent).left()
    second = pickle.loads(sent).left()
    assert second < first <= 60.0


def test_each_job_has_a_clock_of_its_own(clock):
    one, other = clock.JobClock(60.0), clock.JobClock(60.0)
    assert one.elapsed() == other.elapsed() == 0.0
    assert one.elapsed() > 0.0


def test_no_limit_and_none_left(clock):
    assert clock.JobClock(None).left() is None
    assert clock.JobClock(-1.0).left() == 0.0


def test_few_jobs_are_remembered(clock):
    for _ in range(3 * clock.REMEMBERED):
        clock.JobClock(None).elapsed()
    assert len(clock._first_heard) <= clock.REMEMBERED
