"""Scenarios side by side: some processes (workers of pytest-xdist), each with a control plane, a recorder
and operators of its own, share the tests (`ESI_WORKERS`, run.sh).

A group of tests runs in one worker, in its order; a worker that is through with its groups gets the next
one. A group is a file, but for what is said below. The longest groups begin, so that the workers end at
about the same time.
"""
import fcntl
import pathlib

from xdist.scheduler import LoadScopeScheduling

#: Groups of more than a file, or of a part of one: [(name, what its node ids begin with)]; the first that
#: fits counts.
GROUPS = (
    # One Flink operator is enough (a Java process), and a backend that is not installed comes before it.
    ("flink", ("test_07_failures.py::test_a_backend_that_is_not_installed", "test_19_flink.py", "test_16_lists.py",
               "test_50_memory.py::test_no_field",
               "test_20_colocation.py::test_six_jobs_are_measured_and_placed_to_the_end_though_the_scheduler_is_killed_"
               "twice[three Spark and three Flink jobs]")),
    # What takes all cores or much memory, or measures that: never two of them at once.
    ("heavy", ("test_18_stomp.py::test_a_thousand", "test_38_api_events.py::test_a_thousand", "test_25_", "test_26_",
               "test_29_", "test_50_memory.py::test_what")),
    # One control plane of their own.
    ("gangs", ("test_40_", "test_41_")),
    ("asleep", ("test_11_crashes.py::test_asleep",)),
    # What judges all the others' audit logs waits for them.
    ("last", ("test_13_",)),
)
#: The groups that take longest, in the order in which they begin; `last` ends the list of all.
LONGEST = ("heavy", "test_28_attacks.py", "flink", "test_11_crashes.py", "asleep", "gangs", "test_31_guide.py",
           "test_20_colocation.py", "test_08_strangers.py", "test_14_rest_state.py")


def group_of(node_id):
    for name, beginnings in GROUPS:
        if node_id.startswith(beginnings):
            return name
    return node_id.split("::", 1)[0]


def rank(node_id):
    """Sorts tests by their groups' turns; those of a group stay as they are."""
    group = group_of(node_id)
    if group == "last":
        return len(LONGEST) + 1
    return LONGEST.index(group) if group in LONGEST else len(LONGEST)


class Scheduler(LoadScopeScheduling):
    """Hands out whole groups, in the order of the tests."""

    def __init__(self, config, log):
        config.option.loadscopereorder = False  # which would begin with the group of most tests
        super().__init__(config, log)

    def _split_scope(self, nodeid):
        return group_of(nodeid)


# --- which workers are still at work

def at_work(root, name):
    """The file is locked until it is closed, or this process ends."""
    file = open(pathlib.Path(root) / f"{name}.at-work", "wb")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def wait_for_others(root, own):
    """Returns when no other worker is at work."""
    for path in sorted(pathlib.Path(root).glob("*.at-work")):
        if path.stem != own:
            with open(path, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)
