"""At rest the operators write nothing but their leases."""
import audit
from patience import rests, stays
from product import OPERATORS


def writes(scene, requests_):
    """Without the last count of a series of Events, which may be of an earlier test: it comes minutes later."""
    return [each for each in audit.writes(requests_)
            if each.resource != "events" or each.namespace == scene.namespace]


def test_sixty_seconds_idle_held_and_failed_without_a_write(scene, plane):
    """Three testbeds side by side: nobody's, one held with a running job, one held with a failed job."""
    scene.nodes(1, cpu="8", memory="32Gi")
    for name in ("idle", "held", "failed"):
        scene.testbed(name, slots=2, isolation="Taint" if name == "idle" else None)
    scene.jobs("running", seconds=600)
    scene.jobs("bad", seconds=0, driver={"esi-test/fail": "true"})
    scene.jobs("waiting", seconds=0)
    scene.queue("plan", ["running"], testbed="held")
    scene.queue("plan-bad", ["bad"], testbed="failed")
    scene.wait_condition("Scheduling", "plan-bad", "Acquired", "True")
    scene.queue("plan-waiting", ["waiting"], testbed="failed")
    scene.job_state("running", "RunningState")
    scene.scheduling_state("plan-bad", "CompletedState")
    scene.wait_condition("Scheduling", "plan-waiting", "Acquired", "False")
    log = audit.AuditLog(plane.audit_log, from_end=True)
    requests_ = []

    def written():
        requests_.extend(log.read())
        return writes(scene, requests_)
    rests("the number of writes", lambda: len(written()), 5)
    requests_.clear()
    stays("no write", lambda: not written(), 60, pause=1, told=lambda: "\n".join(
        f"{each.operator}: {each.verb} {each.uri} {each.code}" for each in written()[:40]))
    log.close()
    leases = [each for each in requests_ if each.operator and each.resource == "leases"]
    assert {each.operator for each in leases} == set(OPERATORS), "the log was read"
    reads = [each for each in requests_ if each.operator and each.verb in ("get", "list")
             and each.resource != "leases"]
    print(f"{len(reads)} reads and {len(leases)} requests for leases in 60 s")
    assert len(reads) < 60, [each.uri for each in reads[:20]]
