"""The two forms of a layout: what a testbed operator with --compact-layouts writes, and the way back."""
import pytest

from judge import layout_nodes
from test_10_nodes import has_looked

#: Of docs/upgrade.md: prints the Testbeds whose layout is compact.
LEFT = '{range .items[?(@.status.layout.compactNodes)]}{.metadata.namespace}/{.metadata.name}{"\\n"}{end}'


def start_again(scene, operator, *flags):
    """Another process, as after `helm upgrade` with another value."""
    scene.may_restart = True
    operator.stop()
    operator.start(more=flags).ready()
    scene.wait("the new process to lead and to look", lambda: has_looked(operator))


@pytest.fixture
def operator(scene, operators):
    yield operators["testbed"]
    start_again(scene, operators["testbed"])


def layout(scene):
    return scene.status("Testbed", "slots")["layout"]


def compact_ones(scene):
    return scene.plane.kubectl("get", "testbeds", "-n", scene.namespace, "-o", f"jsonpath={LEFT}").split()


def form(scene):
    found, = layout(scene).keys() & {"nodes", "compactNodes"}
    return found


def without_nodes(found):
    return {key: value for key, value in found.items() if key not in ("nodes", "compactNodes")}


def test_a_layout_changes_its_form_only_while_nobody_holds_it(scene, operator):
    first, second = scene.nodes(2)
    scene.testbed(slots=1)
    listed = layout(scene)
    assert [each["name"] for each in listed["nodes"]] == [first, second]
    assert compact_ones(scene) == []
    ghosts = scene.bound_ghosts()

    start_again(scene, operator, "--compact-layouts")
    scene.wait("the layout as lines", lambda: form(scene) == "compactNodes")
    compact = layout(scene)
    assert compact["compactNodes"] == [f"{each['name']} {each['uid']} {each['id']}" for each in listed["nodes"]]
    assert without_nodes(compact) == without_nodes(listed), "the revision stays"
    assert layout_nodes(scene.get("Testbed", "slots")) == listed["nodes"]
    assert compact_ones(scene) == [f"{scene.namespace}/slots"]
    assert scene.bound_ghosts() == ghosts

    # A plan runs on it to its end.
    scene.jobs("pi", seconds=0)
    scene.jobs("long", seconds=600)
    scene.slot_plan("plan", "strict", [("pi", [1]), ("long", [0])])
    scene.job_state("pi", "CompletedState")
    scene.job_state("long", "RunningState")
    assert scene.seats("pi") == {1: second}

    # Back, while the plan holds the Testbed: the text of its layout stands still.
    start_again(scene, operator)
    assert layout(scene) == compact
    scene.finish("long")
    scene.scheduling_state("plan", "CompletedState")
    assert scene.seats("long") == {0: first}
    assert layout(scene) == compact, "still held"
    scene.delete("Scheduling", "plan")
    scene.wait("the layout as a list", lambda: form(scene) == "nodes")
    assert layout(scene) == listed
    assert compact_ones(scene) == []

    # And starts go on.
    scene.testbed_ready()
    scene.jobs("after", seconds=0)
    scene.slot_plan("next", "strict", [("after", [1])])
    scene.scheduling_state("next", "CompletedState")
    assert scene.seats("after") == {1: second}
    assert not [reason for reason, name in scene.events("slots") if reason == "LayoutChanged"][1:], "one layout"


def test_a_new_layout_is_compact_from_its_first_write(scene, operator):
    first, = scene.nodes(1)
    start_again(scene, operator, "--compact-layouts")
    scene.testbed(slots=2)
    uid = scene.api.get("Node", None, first)["metadata"]["uid"]
    assert layout(scene)["compactNodes"] == [f"{first} {uid} 0"]
    assert layout(scene)["revision"] == 1
    second, = scene.nodes(1)
    scene.wait("the next layout", lambda: layout(scene)["revision"] == 2)
    assert [line.split(" ")[0] for line in layout(scene)["compactNodes"]] == [first, second]


def test_a_line_that_cannot_be_read_is_told_and_nothing_begins(scene, operator):
    scene.nodes(1)
    start_again(scene, operator, "--compact-layouts")
    scene.testbed(slots=1)
    scene.api.patch("Testbed", scene.namespace, "slots",
                    {"status": {"layout": {"compactNodes": ["only-a-name"]}}}, sub="status")
    scene.wait("it to be told", lambda: scene.status("Testbed", "slots").get("reason") == "Undecodable")
    assert '.status.layout.compactNodes[0]: "only-a-name" does not begin with NAME UID ID' in \
        scene.status("Testbed", "slots")["message"]
    scene.jobs("pi", seconds=0)
    scene.queue("plan", ["pi"])
    scene.wait_condition("Scheduling", "plan", "Acquired", "False", "TestbedNotReady")
    # As docs/operations.md says.
    scene.plane.kubectl("-n", scene.namespace, "patch", "tb", "slots", "--subresource=status", "--type=merge",
                        "-p", '{"status": {"layout": null}}')
    scene.scheduling_state("plan", "CompletedState")
