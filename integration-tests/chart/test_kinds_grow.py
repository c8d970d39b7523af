"""Changes of the kinds are additive: whatever an older release took, and its clients read, the present files
take and have. Compared with the CRDs in the packaged chart of every release (releases/)."""
import copy
import tarfile

import pytest
import yaml

import product
from chart import RELEASES, ROOT

pytestmark = pytest.mark.more

KINDS = tuple(map(str.lower, product.KINDS))
UPPER = ("maximum", "maxLength", "maxItems", "maxProperties")
LOWER = ("minimum", "minLength", "minItems", "minProperties")
SAME = ("type", "format", "pattern", "default", "anyOf", "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields")
# An object of an older release has no claim, and had to have what these ask for.
OF_CLAIMS = (
    *(f"has(self.claim) || has(self.{field})" for field in ("slotsPerNode", "nodeLabel", "resourcesPerSlot")),
    "has(self.testbed) || has(self.claim)",
    "has(self.claim) == has(oldSelf.claim)",
    "!has(self.claim) || self.isolation == 'None'",
    "!(has(self.testbed) && has(self.claim))",
    "!has(self.claim) || !(has(self.slotsPerNode) || has(self.nodeLabel) || has(self.resourcesPerSlot))",
)
# A release that knows no drivers takes exactly one of the other two, as this does without the field.
OF_DRIVERS = ("has(self.sparkDriver) ? !has(self.sparkSpec) && !has(self.flinkSpec) "
              ": has(self.sparkSpec) != has(self.flinkSpec)")
# What 0.1.0 took without a bound worth the name: a few such objects filled the memory of all operators. One that is stored
# stays writable (test_27_policies.py), and docs/upgrade.md tells it.
NARROWED = {
    "v1alpha1.spec.externalScheduler: maxProperties was 1024, is 16",
    "v1alpha1.spec.externalScheduler[]: maxItems was 4096, is 1024",
    "v1alpha1.spec.externalScheduler[][]: maxProperties was 4096, is 16",
    "v1alpha1.spec.externalScheduler[][][]: maxLength was 65536, is 4096",
    "v1alpha1.spec.externalScheduler: new rule self.map(name, name.size() + self[name].map(each, 8 + each.map(key, "
    "8 + key.size() + each[key].size()).sum()).sum()).sum() <= 65536",
    "v1alpha1.spec.slotBased: new rule self.jobs.map(job, job.slotIds.size()).sum() <= 65536",
    "v1alpha1.spec.resourcesPerSlot: new rule self.all(name, name.size() <= 317)",
}
# Losses that take nothing from an older release's clients, by the line that tells of them.
# An atomic list takes all that a map list takes; only one account writes the status, and never by apply.
# The rule is about a field that no older release knows.
HARMLESS = {
    "v1alpha1.spec: new rule has(self.poolBased) ? !has(self.queueBased) && !has(self.slotBased) : has(self.queueBased) != has(self.slotBased)",
    "v1alpha1.status.layout.nodes: x-kubernetes-list-type was map, is atomic",
    "v1alpha1.status.layout.nodes: x-kubernetes-list-map-keys was ['name'], is None",
    "v1alpha1.status.layout: new rule !has(self.nodes) || !has(self.compactNodes)",
    *(f"v1alpha1.spec: new rule {rule}" for rule in (*OF_CLAIMS, OF_DRIVERS)),
    *NARROWED,
}


def rules(schema):
    return {each["rule"] for each in schema.get("x-kubernetes-validations", [])}


def losses_of_schema(old, new, path):
    """What the old schema took or had and the new one does not, one line each."""
    out = [f"{path}: {key} was {old.get(key)}, is {new.get(key)}" for key in SAME
           if old.get(key) != new.get(key)]
    out += [f"{path}: {key} was {old.get(key)}, is {new[key]}" for key in UPPER
            if key in new and (key not in old or new[key] < old[key])]
    out += [f"{path}: {key} was {old.get(key)}, is {new[key]}" for key in LOWER
            if key in new and (key not in old or new[key] > old[key])]
    if "enum" in new and ("enum" not in old or not set(old["enum"]) <= set(new["enum"])):
        out.append(f"{path}: enum was {old.get('enum')}, is {new['enum']}")
    required = set(new.get("required", [])) - set(old.get("required", []))
    out += [f"{path}: {name} is required now" for name in required]
    out += [f"{path}: new rule {rule}" for rule in rules(new) - rules(old)]
    for name, below in old.get("properties", {}).items():
        if name in new.get("properties", {}):
            out += losses_of_schema(below, new["properties"][name], f"{path}.{name}")
        else:
            out.append(f"{path}.{name} is gone")
    for inner in ("items", "additionalProperties"):
        if isinstance(old.get(inner), dict):
            out += losses_of_schema(old[inner], new.get(inner) or {}, f"{path}[]")
        elif old.get(inner) != new.get(inner):
            out.append(f"{path}: {inner} was {old.get(inner)}, is {new.get(inner)}")
    return out


def losses(old, new):
    out = []
    for key in ("group", "scope"):
        if old["spec"][key] != new["spec"][key]:
            out.append(f"{key} was {old['spec'][key]}")
    for key, value in old["spec"]["names"].items():
        now = new["spec"]["names"].get(key)
        kept = set(value) <= set(now or []) if isinstance(value, list) else value == now
        if not kept:
            out.append(f"names.{key} was {value}, is {now}")
    present = {each["name"]: each for each in new["spec"]["versions"]}
    for each in old["spec"]["versions"]:
        now = present.get(each["name"])
        if not now or not now["served"]:
            out.append(f"version {each['name']} is not served")
            continue
        fields = {field["jsonPath"] for field in now.get("selectableFields", [])}
        out += [f"{field['jsonPath']} cannot be selected by" for field in each.get("selectableFields", [])
                if field["jsonPath"] not in fields]
        out += losses_of_schema(each["schema"]["openAPIV3Schema"], now["schema"]["openAPIV3Schema"],
                                each["name"])
    return out


def released(archive, kind):
    with tarfile.open(archive) as chart:
        return yaml.safe_load(chart.extractfile(f"esi/files/crds/{kind}.yaml"))


def released_kinds(archive):
    with tarfile.open(archive) as chart:
        return {name.rpartition("/")[2].removesuffix(".yaml") for name in chart.getnames()
                if name.startswith("esi/files/crds/")}


def present(kind):
    return yaml.safe_load((ROOT / "crds" / f"{kind}.yaml").read_text("utf-8"))


@pytest.mark.parametrize("release, kind", [
    pytest.param(archive, kind, id=f"{archive.stem}-{kind}")
    for archive in RELEASES for kind in sorted(released_kinds(archive))])
def test_nothing_is_lost_since(release, kind):
    assert set(losses(released(release, kind), present(kind))) - HARMLESS == set()


def test_no_harmless_loss_is_of_the_past():
    found = {line for release in RELEASES for kind in released_kinds(release)
             for line in losses(released(release, kind), present(kind))}
    assert HARMLESS <= found


@pytest.mark.parametrize("release", RELEASES, ids=lambda archive: archive.stem)
def test_no_kind_is_lost_since(release):
    assert released_kinds(release) <= set(KINDS)


def test_additions_are_taken():
    old, new = present("testbed"), present("testbed")
    spec = new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["more"] = {"type": "string"}
    spec["properties"]["isolation"]["enum"].append("Walls")
    spec["properties"]["slotsPerNode"]["maximum"] = 250
    new["spec"]["names"]["shortNames"].append("bed")
    new["spec"]["versions"].append(dict(copy.deepcopy(new["spec"]["versions"][0]), name="v1beta1"))
    assert losses(old, new) == []


@pytest.mark.parametrize("change, said", [
    (lambda spec: spec["properties"].pop("isolation"), "v1alpha1.spec.isolation is gone"),
    (lambda spec: spec["properties"]["isolation"]["enum"].remove("None"), "enum was ['None', 'Taint']"),
    (lambda spec: spec["properties"]["slotsPerNode"].update(maximum=100), "maximum was 110, is 100"),
    (lambda spec: spec["properties"]["slotsPerNode"].update(minimum=2), "minimum was 1, is 2"),
    (lambda spec: spec["properties"]["slotsPerNode"].update(type="string"), "type was integer, is string"),
    (lambda spec: spec["properties"]["isolation"].update(default="Taint"), "default was None, is Taint"),
    (lambda spec: spec.setdefault("required", []).append("isolation"), "isolation is required now"),
    (lambda spec: spec.update({"x-kubernetes-validations": [{"rule": "false"}]}), "new rule false"),
    (lambda spec: spec["properties"]["resourcesPerSlot"]["additionalProperties"].update(maxLength=1),
     "maxLength was 64, is 1"),
])
def test_losses_are_found(change, said):
    old, new = present("testbed"), present("testbed")
    change(new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"])
    found = losses(old, new)
    assert len(found) == 1 and said in found[0], found


def test_losses_outside_the_schema_are_found():
    old, new = present("testbed"), present("testbed")
    new["spec"]["versions"][0]["selectableFields"].pop()
    new["spec"]["names"]["shortNames"] = []
    assert losses(old, new) == ["names.shortNames was ['tb'], is []", ".status.state cannot be selected by"]
    new["spec"]["versions"][0]["served"] = False
    assert "version v1alpha1 is not served" in losses(old, new)
