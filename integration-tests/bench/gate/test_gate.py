"""The gate: no bound of bounds.py is exceeded; and a gate that could not fail would be none."""
import pytest

import measured
from bounds import BOUNDS, Bound, judge


@pytest.fixture(scope="session")
def numbers():
    return measured.all_numbers()


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.name)
def test_holds(bound, numbers, record_property):
    record_property("measured", numbers.get(bound.name))
    print(f"{bound.name}: {numbers.get(bound.name)} (at most {bound.most:g}, aim {bound.aim})")
    assert not judge([bound], numbers)


# --- it can fail ---

def at_the_bound(change=lambda value: value):
    return {each.name: change(each.most) for each in BOUNDS}


def test_numbers_at_their_bounds_pass():
    assert judge(BOUNDS, at_the_bound()) == []


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.name)
def test_a_number_above_its_bound_fails_and_says_why(bound):
    wrong = judge(BOUNDS, at_the_bound() | {bound.name: (bound.most or 1) * 1.2})
    assert len(wrong) == 1 and wrong[0].startswith(bound.name) and bound.reason in wrong[0]


def test_a_number_that_was_not_measured_fails():
    assert judge([Bound("a", 1, None, "r")], {}) == ["a: was not measured"]
    assert judge([Bound("a", 1, None, "r", optional=True)], {}) == []


def test_each_bound_has_its_reason_and_an_aim_below_it():
    for each in BOUNDS:
        assert each.reason and (each.aim is None or each.aim < each.most)
