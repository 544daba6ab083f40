# SPDX-License-Identifier: GPL-2.0
"""The figures about merged traces, on small ones whose figures are known."""
import types

import numpy as np
import pytest

from bench import merge, merge_cost, mergecap
from merge import assignment, kinds
from merge.sim import simulate
from merge.rounds import Rounds


def assigned(transmissions):
    t = np.array(transmissions)
    return assignment.Assignment(t, *(np.zeros(len(t), np.int64) for _ in range(4)))


def truth(transmissions, sensors, bad=()):
    kind = np.full(len(sensors), kinds.ACK)
    kind[list(bad)] = kinds.BAD_FCS
    return types.SimpleNamespace(transmission=np.array(transmissions), sensor=np.array(sensors), kind=kind)


def test_packets_out_of_order_are_those_to_be_moved():
    order = mergecap.Order.of(np.array([1, 2, 9, 3, 4, 4, 5]) * 1000)
    assert order.packets == 7 and order.unordered == pytest.approx(1 / 7) and order.off_us == (6, 6, 6)
    order = mergecap.Order.of(np.array([5, 6, 1, 7, 8, 6]) * 1000)
    assert order.unordered == pytest.approx(2 / 6) and order.off_us[2] == 5
    assert mergecap.Order.of(np.arange(5)) == mergecap.Order(5, 0, (0, 0, 0))
    assert mergecap.kept(np.array([3, 2, 1])).sum() == 1


def test_a_transmission_is_at_its_middle_reception():
    t = types.SimpleNamespace(true_ns=np.array([50, 10, 30, 20]))
    assert mergecap.transmissions_in_order(t, assigned([1, 0, 1, 1])).tolist() == [10, 30]


def test_receptions_in_another_set_are_found():
    numbers = np.random.default_rng(1).integers(0, 1 << 63, 6, dtype=np.uint64)
    one, renumbered, other = (merge.sets(assigned(t), numbers) for t in
                              ([0, 0, 1, 1, 2, -1], [5, 5, 0, 0, 3, -1], [0, 0, 1, 2, 2, -1]))
    assert (one == renumbered).all()
    assert (one != other).tolist() == [False, False, True, True, True, False]


def test_company_is_another_sensor_that_heard_the_same():
    t = truth([0, 0, 1, 1, 2, 2, 3, 3], [1, 2, 1, 2, 1, 1, 1, 2], bad=[6])
    # together; apart; two radios of one sensor; one of two has a wrong FCS
    a = assigned([0, 0, 1, 2, 3, 3, 4, 4])
    assert merge.with_others(t, a, np.ones(8, bool)).tolist() == [True, True] + 6 * [False]
    # in one transmission with what another one heard of another transmission
    assert not merge.with_others(truth([0, 1], [1, 2]), assigned([7, 7]), np.ones(2, bool)).any()


def test_memory_is_measured_twice(monkeypatch):
    monkeypatch.setattr(merge_cost, "EARLY_S", 4)
    replay = Rounds(simulate(seconds=2.0, sensors=6, aps=4, stas=8, walk=0.0))
    early, late = merge_cost.play(replay, 8, print)
    assert 1 < early <= late < 100
