from esi_colocation import notes
from esi_colocation.matrix import Matrix
from esi_colocation.notes import Samples
from esi_colocation.records import Job


def job(name="a", **lines):
    return Job(name, "ReadyState", lines or None)


def test_a_first_run_is_written_in_the_originals_format():
    assert notes.with_run(job(), "b", "round-1", 12.4) == {
        "profiler": [{"b": "12 (1)"}],
        "colocation": [{"job": "b", "seconds": "12.400", "samples": "1", "failed": "0", "last": "round-1"}]}


def test_the_mean_is_carried_on_exactly_and_other_notes_stay():
    first = notes.with_run(job(mine=[{"x": "y"}]), "b", "round-1", 12.4)
    second = notes.with_run(job(**first), "b", "round-2", 13.4)
    third = notes.with_run(job(**second), "c", "round-3", 7.0)
    assert third["mine"] == [{"x": "y"}]
    assert third["profiler"] == [{"b": "13 (2)"}, {"c": "7 (1)"}]
    assert notes.read(job(**third))["b"] == Samples(25.8, 2, 0, "round-2")


def test_a_run_is_counted_once_however_often_it_is_looked_at():
    first = notes.with_run(job(), "b", "round-1", 12.4)
    assert notes.with_run(job(**first), "b", "round-1", 12.4) is None


def test_a_failed_run_is_marked_and_not_counted():
    found = notes.with_run(job(), "b", "round-1", None)
    assert found["profiler"] == []
    assert notes.read(job(**found)) == {"b": Samples(0.0, 0, 1, "round-1")}
    assert notes.with_run(job(**found), "b", "round-1", None) is None


def test_what_the_original_measured_is_taken_over_and_carried_on():
    assert notes.read(job(profiler=[{"b": "24 (16)", "c": "7 (1)"}, {"d": "nonsense"}])) == {
        "b": Samples(384.0, 16), "c": Samples(7.0, 1)}
    assert notes.with_run(job(profiler=[{"b": "24 (15)"}]), "b", "round-1", 40.0)["profiler"] == [{"b": "25 (16)"}]


def test_where_both_lines_differ_the_originals_counts():
    ours = notes.with_run(job(), "b", "round-1", 12.4)
    assert notes.read(job(**ours | {"profiler": [{"b": "20 (2)"}]}))["b"] == Samples(40.0, 2, 0, "round-1")
    assert notes.read(job(**ours | {"profiler": []}))["b"] == Samples(0.0, 0, 0, "round-1")


def test_notes_of_somebody_else_under_our_name_are_no_error():
    assert notes.read(job(colocation=[{"hello": "world"}, {"job": "b", "seconds": "many", "samples": "1"}])) == {}


def matrix(**rows):
    """rows: a={"b": mean or None}; every mean of one sample."""
    return Matrix(sorted(rows), {(name, other): Samples(mean, 1) for name, row in rows.items()
                                 for other, mean in row.items()})


def test_a_pair_that_was_never_measured_is_guessed_from_both_jobs():
    # b slows its neighbours to 1.2 of their mean; c alone takes 30 on average beside others.
    found = matrix(a={"b": 12.0, "c": 8.0}, b={}, c={"a": 30.0})
    assert found.expected("a", "b") == 12.0
    assert found.expected("c", "b") == 36.0
    assert found.expected("b", "a") == 20.0  # nothing known of b: the mean of the others, times 1 for a
    assert matrix(a={}, b={}).expected("a", "b") == 1.0


def test_the_matrix_is_printed_as_a_table():
    found = Matrix(["a", "b", "c"], {("a", "b"): Samples(25.0, 2), ("b", "a"): Samples(0.0, 0, 1, "x")})
    assert found.text() == ("run time in s (samples)  beside 1         2  3\n"
                            "1 a                             -  12.5 (2)  .\n"
                            "2 b                            !1         -  .\n"
                            "3 c                             .         .  -")
