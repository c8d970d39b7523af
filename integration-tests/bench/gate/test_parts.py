"""The parts of the benchmark that judge or draw, on numbers made by hand."""
import audit
import gang_bench
import pytest
import starts
import svg
import tables


def request(operator, verb, resource, at, took=1, sub="", name="x", code=200):
    """Times in milliseconds."""
    return audit.Request(operator=operator, user="", agent="", verb=verb, group="", resource=resource, sub=sub,
                         namespace="default", name=name, code=code, at=at / 1000, done=(at + took) / 1000, uri="",
                         dry_run=False, decision="", policies=())


#: A start as the log shows it, with what nobody waits for in between.
LOG = [
    request(None, "create", "schedulings", 0),
    request("scheduling", "patch", "testbeds", 2),
    request("testbed", "patch", "testbeds", 4, 30, sub="status"),
    request("scheduling", "get", "testbeds", 5),
    request("scheduling", "patch", "schedulings", 7, sub="status"),
    request("scheduling", "patch", "batchjobs", 9),
    request("scheduling", "patch", "schedulings", 11, sub="status"),
    request("scheduling", "create", "events", 12),
    request("batchjob", "create", "sparkapplications", 13, name="pi"),
    request(None, "create", "pods", 40, name="pi-driver"),
    request(None, "create", "pods", 60, name="pi-0123456789abcdef-exec-1"),
    request("batchjob", "patch", "batchjobs", 62, sub="status"),
    request("testbed", "get", "testbeds", 64),
    request("testbed", "delete", "pods", 66, name="tb-ghost-1"),
    request("testbed", "patch", "pods", 68, name="pi-0123456789abcdef-exec-1"),
    request(None, "create", "pods", 70, sub="binding", name="pi-0123456789abcdef-exec-1"),
]


def test_the_chain_has_what_a_start_waited_for_and_nothing_else():
    assert [starts.name_of(each) for each in starts.chain(LOG, 0, 1)] == [
        "esi-scheduling: patch testbeds", "esi-scheduling: get testbeds", "esi-scheduling: patch schedulings/status",
        "esi-scheduling: patch batchjobs", "esi-batchjob: create sparkapplications",
        "esi-batchjob: patch batchjobs/status", "esi-testbed: get testbeds", "esi-testbed: delete pods",
        "esi-testbed: patch pods"]


def test_requests_side_by_side_are_one_link():
    beside = [request("testbed", "get", "batchjobs", 64), request("testbed", "get", "schedulings", 64)]
    assert len(starts.chain(sorted(LOG + beside, key=lambda each: each.done), 0, 1)) == 9


@pytest.mark.parametrize("at, took", [(1.9, 2.9), (1.9, 0.5), (2.1, 2.7)])
def test_writes_side_by_side_are_one_link(at, took):
    beside = request("scheduling", "patch", "batchjobs", at, took)
    assert len(starts.chain(sorted(LOG + [beside], key=lambda each: each.done), 0, 1)) == 9


def test_a_watch_may_be_ahead_of_the_answer():
    late = [each._replace(done=0.067) if each.operator == "batchjob" and each.sub == "status" else each for each in LOG]
    assert len(starts.chain(sorted(late, key=lambda each: each.done), 0, 1)) == 9


def test_a_refused_request_is_no_link():
    refused = request("testbed", "patch", "pods", 65, sub="status", code=409)
    assert len(starts.chain(LOG + [refused], 0, 1)) == 9


def test_shares_are_what_esi_adds():
    log = [LOG[0]._replace(name="plan-0"), *LOG[1:]]
    (first, second, whole), = starts.shares(log, "plan-")
    assert (round(first, 4), round(second, 4), round(whole, 4)) == (0.013, 0.01, 0.07)


@pytest.mark.parametrize("value, shown", [
    (0.0004, "0.40 ms"), (0.0042, "4.2 ms"), (0.042, "42 ms"), (1.042, "1,042 ms")])
def test_times_have_the_digits_that_matter(value, shown):
    assert tables.ms(value) == shown


def test_a_table_comes_between_its_marks():
    text = "a\n<!-- bench: x -->\nold\n<!-- bench end -->\nb\n<!-- bench: y -->\nstays\n<!-- bench end -->\n"
    assert tables.into_document(text, {"x": "new"}) == text.replace("old", "new")
    with pytest.raises(RuntimeError, match="has no marks for z"):
        tables.into_document(text, {"z": "new"})


def test_a_plot_is_the_same_text_for_the_same_numbers():
    one = svg.lines("t", "ms", "slots", {"a & b": [(6, 1.0), (50_000, 3.5)]})
    assert one == svg.lines("t", "ms", "slots", {"a & b": [(6, 1.0), (50_000, 3.5)]})
    assert "a &amp; b" in one and one.count("<circle") == 2
    assert svg.bars("t", "s", {"g": {"x": 0.0, "y": 2.0}}).count("<rect") == 5


@pytest.mark.parametrize("top, axis", [(0, 1), (0.7, 0.8), (12, 15), (99, 100), (100, 100), (101, 150)])
def test_axes_end_at_round_numbers(top, axis):
    assert svg.nice(top) == pytest.approx(axis)


# --- gangs ---

def of_pod(user, verb, name, at, sub="", namespace="gangs", resource="pods"):
    return request("testbed" if user == "esi" else None, verb, resource, at * 1000, sub=sub, name=name)._replace(
        user=gang_bench.SCHEDULER if user == "scheduler" else "", namespace=namespace)


#: A gang of three that starts before, and one that comes with others.
STORM = [
    *(of_pod("client", "create", f"steady-0-{number}", number) for number in range(3)),
    of_pod("client", "create", "ordinary-0", 1, namespace="others"),
    of_pod("scheduler", "create", "ordinary-0", 2, "binding", namespace="others"),
    of_pod("scheduler", "create", "event", 2, resource="events"),
    *(of_pod("esi", "patch", f"steady-0-{number}", 3, "status") for number in range(3)),
    *(of_pod("scheduler", "create", f"steady-0-{number}", 4 + number, "binding") for number in range(3)),
    of_pod("esi", "patch", "steady-0", 7, "status", resource="podgroups"),
    *(of_pod("client", "create", f"three-0-{number}", 10 + number) for number in range(3)),
    *(of_pod("scheduler", "create", f"three-0-{number}", 14, "binding") for number in range(2)),
]


def test_gangs_are_timed_and_their_writes_counted():
    found = gang_bench.told_by_log(STORM, {"steady-0": 3}, {"three-0": 3})
    assert found["started"] == {"steady": 1, "threes": 0, "large": 0} and found["storm started"] == 0
    assert found["waits"]["steady"] == [pytest.approx(4)] and found["parts"]["steady"] == [pytest.approx(2)]
    assert found["writes"]["steady"] == {"status of pods": 3, "binds": 3, "status of groups": 1}
    assert found["ordinary"] == {"steady": [pytest.approx(1)]} and found["events"] == pytest.approx(1 / 6)


def bound(rv, name, namespace="gangs", what="MODIFIED", phase="Running"):
    return {"kind": "Pod", "type": what, "rv": rv, "at": float(rv), "object": {
        "metadata": {"namespace": namespace, "name": name, "uid": name}, "status": {"phase": phase},
        "spec": {"nodeName": "a", "containers": [], "initContainers": []}}}


def test_who_goes_without_being_ended_has_lost_its_place():
    lines = [bound(1, "ordinary-0", "others"), bound(2, "ordinary-1", "others"), bound(3, "three-0-0"),
             bound(4, "ordinary-0", "others", "DELETED"), bound(5, "ordinary-1", "others", "DELETED")]
    found = gang_bench.told_by_watch(lines, "bare", {"three-0": 3}, ended={"ordinary-0"})
    assert found == {"lost": ["others/ordinary-1 on a"], "partial": 1, "faults": []}
    found = {"bare": found | {"gangs": {"threes": 1}, "started": {"threes": 0}}}
    assert gang_bench.violations(found) == ["bare: 0 of 1 gangs (threes) have started", "bare: 1 gangs are bound in part",
                                            "bare: others/ordinary-1 on a has lost its place"]


def test_of_esis_gangs_the_judge_of_gangs_has_its_word():
    found = gang_bench.told_by_watch([bound(1, "three-0-0"), bound(2, "three-0-0", phase="Failed")], "esi", {}, ended=())
    assert found["lost"] == ["gangs/three-0-0 on a"]
    lost = [{"kind": "Pod", "type": "GAP", "rv": 0, "at": 0.0}]
    assert len(gang_bench.told_by_watch(lost, "esi", {}, ended=())["faults"]) == 2


def test_large_gangs_come_between_small_ones():
    steady, storm = gang_bench.gangs_of(gang_bench.FULL)
    assert list(storm)[49:52] == ["three-49", "large-0", "three-50"]
    assert sum(storm.values()) == 5000 and len(storm) == 1020 and len(steady) == 60
