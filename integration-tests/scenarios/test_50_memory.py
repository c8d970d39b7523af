"""What others store takes memory of ESI only up to its bounds: every field of every kind that an operator watches
(../memory), and, with the real binaries, the objects that cost most of what they are stored as."""
import json
import pathlib
import re
import subprocess

import pytest
import requests
import yaml

import objects
from api import ApiException, path
from gangs import PODGROUPS
from patience import PATIENCE

#: limits.memory of the chart.
LIMIT_KIB = 128 << 10
#: What memory that was freed may still be resident: the allocator keeps what is scattered.
REST_KIB = 24 << 10
P = objects.PREFIX

#: Documents of the API server with the kinds that operators watch.
DOCUMENTS = ("api/v1", "apis/scheduling.k8s.io/v1", "apis/esi.tu-berlin.de/v1alpha1",
             "apis/sparkoperator.k8s.io/v1beta2", "apis/flink.apache.org/v1beta1",
             "apis/apiextensions.k8s.io/v1", "apis/coordination.k8s.io/v1")


def document_of(definition):
    """A CustomResourceDefinition as the API server describes its kind."""
    spec = definition["spec"]
    names, version = spec["names"], spec["versions"][0]
    kind = {"group": spec["group"], "version": version["name"], "kind": names["kind"]}
    schema = version["schema"]["openAPIV3Schema"]
    schema["x-kubernetes-group-version-kind"] = [kind]
    schema.setdefault("properties", {})["metadata"] = {
        "$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
    url = f"/apis/{spec['group']}/{version['name']}/{names['plural']}"
    return {"paths": {url: {"get": {"x-kubernetes-group-version-kind": kind}}},
            "components": {"schemas": {f"{spec['group']}.{names['kind']}": schema}}}


def test_no_field_of_any_kind_makes_an_operator_exceed_its_limit(plane, flink, tmp_path):
    """For each list, map and text of each kind: the largest object, ten times, in front of each operator."""
    del flink  # its kinds are there now
    for number, name in enumerate(DOCUMENTS):
        document = plane.api.call("GET", f"/openapi/v3/{name}")
        (tmp_path / f"{number}.json").write_text(json.dumps(document), "utf-8")
    for file in sorted(PODGROUPS.glob("*.yaml")):
        for definition in yaml.safe_load_all(file.read_text("utf-8")):
            (tmp_path / f"{file.stem}.json").write_text(json.dumps(document_of(definition)), "utf-8")
    program = pathlib.Path(__file__).parents[2] / "build" / "release" / "integration-tests" / "memory" / "esi-memory-oracle"
    done = subprocess.run([str(program), str(tmp_path)], capture_output=True, text=True, timeout=1800, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    places = {(operator, url): int(count) for operator, url, count, *_ in lines}
    assert sum(places.values()) > 5000
    for kind in ("batchjobs", "schedulings", "testbeds"):
        for operator in ("testbed", "batchjob", "scheduling"):
            assert places[operator, f"/apis/esi.tu-berlin.de/v1alpha1/{kind}"] > 15
    assert places["testbed", "/api/v1/pods"] > 400 and places["testbed", "/api/v1/nodes"] > 30
    assert places["batchjob", "/apis/flink.apache.org/v1beta1/flinkdeployments"] > 10


# --- the real binaries

def peak_kib(operator):
    text = pathlib.Path(f"/proc/{operator.pid}/status").read_text(encoding="ascii")
    return int(next(line for line in text.splitlines() if line.startswith("VmHWM")).split()[1])


def forget_peak(operator):
    pathlib.Path(f"/proc/{operator.pid}/clear_refs").write_text("5", encoding="ascii")


def is_silent(operator):
    """Its watches of what is stored here have shown everything that there is."""
    text = requests.get(operator.url + "/metrics", timeout=PATIENCE).text
    silences = [float(value) for value in re.findall(
        r'^esi_watch_silence_seconds{cache="(?:batchjobs|schedulings|pods)"} (\S+)$', text, re.M)]
    assert len(silences) == 3, text
    return min(silences) > 0.7


def with_notes(number):
    return "BatchJob", objects.job(f"notes-{number}") | {"spec": objects.job("x")["spec"] | {
        "externalScheduler": {f"k{key}": [{}] * 4000 for key in range(110)}}}


def with_labels(number):
    body = objects.job(f"labels-{number}")
    body["metadata"]["labels"] = {f"a{key}": "" for key in range(60_000)}
    return "BatchJob", body


def with_notes_at_the_bound(number):
    return "BatchJob", objects.job(f"bound-{number}") | {"spec": objects.job("x")["spec"] | {
        "externalScheduler": {f"k{key}": [{}] * 1000 for key in range(8)}}}


def with_a_large_spec(number):
    return "BatchJob", objects.job(f"large-{number}", arguments=["x" * 1024] * 1200)


def with_many_jobs(number):
    body = objects.queue(f"plan-{number}", "none", [f"job-{key}" for key in range(4096)])
    return "Scheduling", body


def marked_pod(number):
    return "Pod", gated(f"marked-{number}", {P + "job": "x"}, affinity=LONG_AFFINITY)


def pod_with_a_ghosts_name(number):
    return "Pod", gated(f"a-ghost-{number}", {}, affinity=LONG_AFFINITY)


def pod_with_a_long_scheduler(number):
    return "Pod", objects.pod(f"scheduler-{number}", cpu="0", memory="0", schedulerName="x" * 1_200_000)


def pod_with_a_long_owner(number):
    body = gated(f"owned-{number}", {P + "job": "x"})
    body["metadata"]["ownerReferences"] = [{"apiVersion": "example.com/v1", "kind": "Thing", "uid": f"uid-{number}",
                                            "controller": True, "name": "x" * 1_200_000}]
    return "Pod", body


def pod_with_a_long_group(number):
    body = gated(f"grouped-{number}", {P + "job": "x"})
    body["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "x" * 200_000}
    return "Pod", body


LONG_AFFINITY = {"nodeAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "a", "operator": "In", "values": [f"{value:061}" for value in range(18_500)]}]}]}}}


def gated(name, labels, **spec):
    body = objects.pod(name, cpu="0", memory="0", schedulingGates=[{"name": "x.y/z"}], **spec)
    body["metadata"]["labels"] = labels
    return body


#: The kinds and the policy esi-bounds take none of these.
REFUSED = (with_notes, with_labels)


def store(scene, make, count):
    """How many of them the API server has taken."""
    taken = 0
    for number in range(count):
        kind, body = make(number)
        try:
            scene.api.create(kind, scene.namespace, body)
            taken += 1
        except ApiException as error:
            assert error.status in (403, 413, 422) or b"too large" in (error.body or b""), error
    return taken


@pytest.mark.parametrize("make, count", [
    (with_notes, 10), (with_labels, 10), (with_notes_at_the_bound, 40), (with_a_large_spec, 40), (with_many_jobs, 20),
    (marked_pod, 60), (pod_with_a_ghosts_name, 60), (pod_with_a_long_scheduler, 100), (pod_with_a_long_owner, 100),
    (pod_with_a_long_group, 500)], ids=lambda value: getattr(value, "__name__", None))
def test_what_a_tenant_stores_ends_no_operator(scene, make, count):
    """As many objects of one tenant as would have taken an operator above its limit, or near it."""
    before = {operator.label: operator.resident_kib() for operator in scene.operators}
    for operator in scene.operators:
        forget_peak(operator)
    taken = store(scene, make, count)
    assert taken == (0 if make in REFUSED else count)
    scene.wait("the watches to be silent", lambda: all(map(is_silent, scene.operators)))
    peaks = {operator.label: peak_kib(operator) for operator in scene.operators}
    kind = make(0)[0]
    scene.api.call("DELETE", path(kind, scene.namespace))
    scene.wait("them to be gone", lambda: not scene.api.list(kind, scene.namespace))
    scene.wait("the watches to be silent", lambda: all(map(is_silent, scene.operators)))
    after = {}

    def is_given_back():
        after.update({operator.label: operator.resident_kib() for operator in scene.operators})
        return all(after[name] - before[name] < REST_KIB for name in before)
    try:
        scene.wait("freed memory to be given back", is_given_back)
    finally:
        print(f"{make.__name__}: {taken} of {count} stored; resident KiB before {before}, most {peaks}, after {after}")
    assert all(peak < LIMIT_KIB for peak in peaks.values()), peaks
