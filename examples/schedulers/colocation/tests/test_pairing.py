from itertools import combinations

import pytest

from esi_colocation import pairing
from esi_colocation.bench.model import Model
from esi_colocation.matrix import Matrix
from esi_colocation.notes import Samples
from esi_colocation.own import pairs_in, places, side_by_side
from esi_colocation.profiler import due, next_round
from esi_colocation.records import Slot, Testbed


def matrix(means, count=1):
    names = sorted({name for pair in means for name in pair})
    return Matrix(names, {pair: Samples(mean * count, count) for pair, mean in means.items()})


def same_both_ways(**pairs):
    """ab=3 means: a and b take 3 s each beside each other."""
    return matrix({(a, b): mean for text, mean in pairs.items() for a, b in (text, text[::-1])})


def test_the_sum_counts_and_not_who_chooses_first():
    # By greed a takes b, its best, and leaves c with d. By matching nobody does badly.
    found = same_both_ways(ab=10, ac=11, ad=20, bc=20, bd=11, cd=90)
    assert pairing.pairs(found, ["a", "b", "c", "d"]) == [("a", "c"), ("b", "d")]


def test_of_an_odd_number_one_runs_alone():
    found = same_both_ways(ab=10, ac=50, bc=50)
    assert pairing.pairs(found, ["a", "b", "c"]) == [("a", "b"), ("c",)]
    assert pairing.pairs(found, ["a"]) == [("a",)]
    assert pairing.pairs(found, []) == []


def cheapest(found, names):
    """By trying all pairings."""
    if not names:
        return 0.0
    first, rest = names[0], names[1:]
    return min(found.expected(first, other) + found.expected(other, first)
               + cheapest(found, [name for name in rest if name != other]) for other in rest)


@pytest.mark.parametrize("seed", range(1, 11))
def test_no_pairing_of_eight_jobs_is_cheaper(seed):
    model = Model.drawn(8, seed)
    names = sorted(model.jobs)
    found = matrix({(a, b): model.truth(a, b) for a in names for b in names if a != b})
    total = sum(sum(pairing.seconds(found, pair).values()) for pair in pairing.pairs(found, names))
    assert total == pytest.approx(cheapest(found, names), abs=0.01)


def test_waves_put_pairs_of_like_length_together():
    found = same_both_ways(ab=10, cd=50, ef=11, gh=52)
    assert pairing.waves(found, [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")], 2) == [
        [("g", "h"), ("c", "d")], [("e", "f"), ("a", "b")]]


@pytest.mark.parametrize("count, rounds", [(2, 1), (5, 5), (6, 5), (12, 11)])
def test_a_tournament_has_every_pair_once_and_its_rounds_are_disjoint(count, rounds):
    names = [f"{number:02}" for number in range(count)]
    found = pairing.rounds(names)
    assert sorted(found) == list(combinations(names, 2))
    for number in range(rounds):
        players = [name for pair, where in found.items() if where == number for name in pair]
        assert len(players) == len(set(players)) == count - count % 2


def test_pairs_with_the_fewest_samples_come_first_and_do_not_share_jobs():
    found = matrix({("a", "b"): 1.0, ("b", "a"): 1.0, ("c", "d"): 1.0})
    assert due(found, ["a", "b", "c", "d"], 1) == [("a", "d"), ("b", "c"), ("a", "c"), ("b", "d"), ("c", "d")]
    assert due(found, ["a", "b", "c", "d"], 0)[-1] == ("a", "b")
    assert next_round(due(found, ["a", "b", "c", "d"], 1), 3) == [("a", "d"), ("b", "c")]
    assert due(found, ["a", "b"], 1) == []
    assert due(found, ["c", "d"], 1, given_up={("c", "d")}) == []


def bed(nodes, slots, broken=()):
    return Testbed("t", "SUCCESS", nodes, slots, {f"node-{node}": [
        Slot(position=index * nodes + node, state="ERROR" if index * nodes + node in broken else "FREE",
             slotPositionOnNode=index) for index in reversed(range(slots))] for node in reversed(range(nodes))})


def test_two_jobs_share_a_node_half_and_half():
    assert places(bed(3, 2)) == [([0], [3]), ([1], [4]), ([2], [5])]
    assert places(bed(1, 4)) == [([0, 1], [2, 3])]
    assert places(bed(2, 3)) == [([0], [2]), ([1], [3])]
    assert places(bed(1, 1)) == [] and places(bed(0, 2)) == []
    assert places(bed(3, 2, broken=[4])) == [([0], [3]), ([2], [5])]


def test_the_pairs_of_a_scheduling_are_known_again_from_its_slots():
    found = side_by_side("s", "t", [("a", "b"), ("c", "d")], places(bed(3, 2)))
    assert found.request()["slots"] == {"mode": "RELAXED", "jobs": [
        {"name": "a", "slots": [0]}, {"name": "b", "slots": [3]},
        {"name": "c", "slots": [1]}, {"name": "d", "slots": [4]}]}
    assert pairs_in(found, places(bed(3, 2))) == [("a", "b"), ("c", "d")]
