"""The times and swaps that are read out of a recording; needs no nodes."""
from history import histories, summary, swaps

PREFIX = "esi.tu-berlin.de/"


def pod(uid, at, rv, phase="Pending", kind="MODIFIED", ghost=None, slot=None, node=None, reason=""):
    labels, annotations = {PREFIX + "testbed": "tb", PREFIX + "job": "j"}, {}
    if ghost is not None:
        labels = {PREFIX + "testbed": "tb", PREFIX + "ghost": "true"}
        annotations = {PREFIX + "index": str(ghost)}
    if slot is not None:
        annotations[PREFIX + "slot"] = str(slot)
    return {"kind": "Pod", "type": kind, "rv": rv, "at": at, "object": {
        "metadata": {"name": uid, "uid": uid, "labels": labels, "annotations": annotations},
        "spec": {"nodeName": node} if node else {}, "status": {"phase": phase, "reason": reason}}}


LAYOUT = {"kind": "Testbed", "type": "MODIFIED", "rv": 1, "at": 0.0, "object": {
    "metadata": {"name": "tb"}, "status": {"layout": {"nodes": [{"name": "n0"}, {"name": "n1"}]}}}}
#: On n0, index 1: ghost, job pod in slot 2, ghost again.
SWAP = [LAYOUT, pod("g1", 1.0, 2, "Running", "ADDED", ghost=1, node="n0"),
        pod("job", 2.0, 3, kind="ADDED"), pod("g1", 3.0, 4, "Running", "DELETED", ghost=1, node="n0"),
        pod("job", 3.1, 5, slot=2, node="n0"), pod("job", 4.0, 6, "Running", slot=2, node="n0"),
        pod("job", 9.0, 7, "Succeeded", slot=2, node="n0"), pod("g2", 9.1, 8, kind="ADDED", ghost=1),
        pod("g2", 9.2, 9, ghost=1, node="n0"), pod("g2", 9.5, 10, "Running", ghost=1, node="n0")]


def test_first_times_of_pods():
    job = next(each for each in histories(SWAP) if each.uid == "job")
    assert (job.created, job.bound, job.running, job.ended, job.gone) == (2.0, 3.1, 4.0, 9.0, None)
    assert job.place == ("n0", 1)


def test_a_compact_layout_gives_the_same_places():
    layout = {**LAYOUT, "object": {**LAYOUT["object"], "status": {"layout": {
        "compactNodes": ["n0 u0 0", "n1 u1 1"]}}}}
    job = next(each for each in histories([layout, *SWAP[1:]]) if each.uid == "job")
    assert job.place == ("n0", 1)


def test_swaps_in_both_directions():
    ins, outs = swaps(histories(SWAP))
    assert [(swap.out.uid, swap.into.uid, round(swap.seconds, 3)) for swap in ins] == [("g1", "job", 1.0)]
    assert [(swap.out.uid, swap.into.uid, round(swap.seconds, 3)) for swap in outs] == [("job", "g2", 0.5)]


def test_a_pod_that_a_kubelet_refused_never_swapped():
    refused = [*SWAP[:5], pod("job", 3.2, 6, "Failed", slot=2, node="n0", reason="OutOfcpu")]
    assert swaps(histories(refused)) == ([], [])
    assert histories(refused)[1].reason == "OutOfcpu"


def test_summary_of_times():
    assert summary([3, 1, 2]) == "n   3   min   1.00   median   2.00   p90   3.00   max   3.00 s"
    assert summary([]) == "n 0"
