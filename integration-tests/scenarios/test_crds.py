"""The CRDs refuse what makes no sense, with a message, and accept what was written for the original."""
import re

import pytest
import yaml

from api import Api, ApiException, path
from control_plane import ROOT
from product import KINDS

REFUSED = sorted((ROOT / "crds" / "refused").glob("*.yaml"))
ACCEPTED = sorted((ROOT / "crds" / "accepted").glob("*.yaml"))


def documents(file):
    return [each for each in yaml.safe_load_all(file.read_text(encoding="utf-8")) if each]


def put(scene, body, sub=None):
    """Creates the object or, where there is one, applies the document to it. Strict: no unknown fields."""
    body = {**body, "metadata": {**body["metadata"], "namespace": scene.namespace}}
    name = body["metadata"]["name"]
    there = scene.api.get(body["kind"], scene.namespace, name)
    query = {"fieldValidation": "Strict"}
    if there is None:
        author = scene.api
        if body["kind"] == "BatchJob" and "activeScheduling" in body.get("spec", {}):
            author = scene.orderer
        elif body["kind"] == "TestbedSlotSlice":
            author = scene.observer
        return author.call("POST", path(body["kind"], scene.namespace), body, query=query)
    return scene.api.call("PATCH", path(body["kind"], scene.namespace, name, sub), body, query=query,
                          content_type="application/merge-patch+json")


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.stem)
def test_refused(quiet, file):
    expected = re.findall(r"^# expect: (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    assert expected, "the first line must say what to expect"
    *before, last = documents(file)
    for each in before:
        put(quiet, each)
    with pytest.raises(ApiException) as refused:
        put(quiet, last, sub="status" if "status" in last else None)
    assert 400 <= refused.value.status < 500
    message = yaml.safe_load(refused.value.body)["message"]
    assert not [part for part in expected if part.strip() not in message], message


@pytest.mark.parametrize("file", ACCEPTED, ids=lambda file: file.stem)
def test_accepted(quiet, file):
    for each in documents(file):
        put(quiet, each)
        if "status" in each:
            put(quiet, {**each, "spec": each.get("spec", {})}, sub="status")


@pytest.fixture(scope="module")
def quiet(plane):
    """A namespace that the tests of this file share; the objects need no operator."""
    class Quiet:
        namespace = "crds"
    Quiet.api = plane.api
    # Policies keep orders in a BatchJob from everybody but esi-scheduling, slices from all but esi-testbed.
    Quiet.orderer, Quiet.observer = Api(plane.kubeconfig), Api(plane.kubeconfig)
    for author, account in ((Quiet.orderer, "esi-scheduling"), (Quiet.observer, "esi-testbed")):
        author.client.set_default_header("Impersonate-User", f"system:serviceaccount:esi-system:{account}")
        author.client.set_default_header("Impersonate-Group", "system:masters")
    plane.api.create("Namespace", None, {"metadata": {"name": "crds"}})
    yield Quiet
    for kind in KINDS:
        plane.api.delete_all(kind, "crds")
        for thing in plane.api.list(kind, "crds"):
            plane.api.take_finalizers(kind, "crds", thing["metadata"]["name"])
    plane.api.delete("Namespace", None, "crds")


def test_explain_has_a_description_of_every_field(plane):
    for kind in map(str.lower, KINDS):
        crd = yaml.safe_load((ROOT / "crds" / f"{kind}.yaml").read_text(encoding="utf-8"))
        schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
        missing = [each for part in ("spec", "status") if part in schema for each in undescribed(schema[part], part)]
        assert not missing, f"{kind}: {missing}"
        assert "FIELDS:" in plane.kubectl("explain", f"{kind}.spec")


def undescribed(schema, where):
    if "description" not in schema:
        yield where
    for name, field in (schema.get("properties") or {}).items():
        yield from undescribed(field, f"{where}.{name}")
