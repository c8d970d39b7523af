"""200 swaps on kubelets whose nodes the slots fill exactly: no pod is refused, no time without an owner."""
import pytest

import jobs
from history import summary, swaps

ROUNDS = 25     # each lets four job pods in, and four ghosts back: 200 swaps


@pytest.fixture
def stand_in(esi):
    """Spark's stand-in instead of Spark: pods that sleep, made and deleted in Spark's order."""
    esi.use_spark_stand_in(True)
    yield
    esi.use_spark_stand_in(False)


def test_two_hundred_swaps_without_a_refusal(esi, stand_in, history, capsys):
    names = [f"sleep-{number}" for number in range(4)]
    for name in names:
        # The stand-in deletes its executors, which then end by SIGTERM as real ones do.
        jobs.put(esi, jobs.spark(
            name, image="localhost/esi-pause:1", annotations={"esi-test/run-seconds": "1"},
            executor={"annotations": {"esi-test/termination-seconds": "1"}}))
    for number in range(ROUNDS):
        plan = f"round-{number}"
        jobs.put(esi, jobs.slots(plan, {name: [slot] for slot, name in enumerate(names)}))
        jobs.wait_finished(esi, plan, patience=180)
        esi.api.delete("Scheduling", jobs.NAMESPACE, plan)
    jobs.wait_free(esi)
    ins, outs = swaps(history.pods())
    ins = [swap for swap in ins if swap.into.job in names]
    outs = [swap for swap in outs if swap.out.job in names]
    with capsys.disabled():
        print(f"\nghost gone -> job pod Running   {summary([swap.seconds for swap in ins])}"
              f"\njob pod gone -> ghost Running   {summary([swap.seconds for swap in outs])}")
    assert len(ins) == 100 and len(outs) == 100
    assert history.refused() == []
    assert [pod.name for pod in history.pods() if pod.phase == "Failed" and pod.is_ghost] == []
