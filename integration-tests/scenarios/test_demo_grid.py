"""What the demo draws."""
import sys

from control_plane import ROOT

sys.path.insert(0, str(ROOT / "integration-tests" / "demo"))
import grid  # noqa: E402


def slot(position, node, index, state, **more):
    return {"position": position, "nodeName": f"node-{node}", "nodeId": node, "slotPositionOnNode": index,
            "state": state, **more}


TESTBED = {"metadata": {"name": "slots"}, "status": {"state": "RUNNING", "heldBy": {"name": "queue"}, "slots": [
    slot(0, 0, 0, "OCCUPIED", podName="pi-exec-1", podUId="u1"), slot(1, 1, 0, "FREE"),
    slot(2, 0, 1, "RESERVED", reservedFor="tau"), slot(3, 1, 1, "ERROR")]}}
NAMES = grid.job_names([{"metadata": {"name": "pi-exec-1", "uid": "u1", "labels": {"esi.tu-berlin.de/job": "pi"}}}], {})


def test_each_slot_shows_who_is_in_it():
    assert grid.screen([TESTBED], [], [], NAMES, colours=False)[:4] == [
        "slots  RUNNING, held by queue",
        "         node-0            node-1            ",
        "  slot 0 pi                ghost",
        "  slot 1 for tau           error"]


def test_one_line_says_the_same_for_logs():
    plan = {"metadata": {"name": "queue"}, "status": {"state": "ConfirmationState"}}
    assert grid.one_line([TESTBED], [plan], NAMES) == (
        "slots 0:pi 1:ghost 2:for-tau 3:error | queue ConfirmationState")


def test_objects_without_a_status_are_shown_too():
    bare = {"metadata": {"name": "x"}}
    assert grid.screen([bare], [bare], [bare], {}, colours=False)[0] == "x  -, free"
    assert grid.one_line([bare], [bare], {}) == "x  | x -"


def test_the_table_of_runs_is_in_order_of_starts():
    def job(name, started):
        return {"metadata": {"name": name}, "status": {"runs": [{
            "scheduling": {"name": "q"}, "testbed": {"name": "t"}, "slots": [0, 2], "nodes": ["n0", "n0"],
            "neighbours": [{"node": "n0", "jobs": ["lab/other"]}], "started": started,
            "stopped": "2026-01-01T00:00:30Z", "outcome": "Succeeded"}]}}
    assert grid.runs_table([job("b", "2026-01-01T00:00:10Z"), job("a", "2026-01-01T00:00:20Z")]) == [
        "job  plan  testbed  slots  nodes  neighbours  start     duration  outcome",
        "b    q     t        0,2    n0     other       00:00:10  20 s      Succeeded",
        "a    q     t        0,2    n0     other       00:00:20  10 s      Succeeded"]
