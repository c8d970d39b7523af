from esi_colocation.bench.__main__ import one_seed, program
from esi_colocation.bench.model import Model, Work


def test_the_models_truth_by_hand():
    made = Model({"a": Work("a", 30.0, (0.5,), (1.0,)), "b": Work("b", 20.0, (1.0,), (0.5,))})
    # a runs at half speed while b does, b at 1 / 1.25: b ends after 25 s, a has 17.5 s of work left then.
    assert made.truth("b", "a") == 25.0
    assert made.truth("a", "b") == 42.5


def test_the_noise_stays_in_its_bounds_and_comes_from_the_seed():
    made = Model.drawn(4, seed=3, noise=0.05)
    for name, job in made.jobs.items():
        draws = [made.work_of_run(name, run) / job.seconds for run in range(200)]
        assert 0.95 <= min(draws) < 0.96 and 1.04 < max(draws) <= 1.05
        assert made.work_of_run(name, 7) == Model.drawn(4, seed=3, noise=0.05).work_of_run(name, 7)


def test_placing_by_measured_pairs_beats_random_and_greed():
    row = one_seed(seed=1, jobs=8, nodes=2, samples=2, pairings=40)
    assert row["run time"] < 0.97 and row["makespan"] < 0.97
    assert row["run time"] <= row["greedy run time"]
    assert row["better"] <= 0.05


def test_the_benchmark_prints_its_ratios(capsys):
    assert program(["--seeds", "1", "--jobs", "4", "--nodes", "1", "--samples", "1", "--pairings", "10"]) == 0
    assert "by matching   run time 0." in capsys.readouterr().out
