"""What a log of requests says of starts: an audit log, or the file server's, which has the same words.

Times are the server's own: an object was created, a pod was bound, a ghost was deleted when the request
that did it was answered.
"""
import re

#: Written for people: no step of a start waits for them.
SIDE = ("events", "leases")


def executors(requests_, application, begin, end):
    """{pod: (created, bound)} of the application's executors that were created in that time."""
    mine = re.compile(re.escape(application) + r"-[0-9a-f]+-exec-\d+$")
    created = {each.name: each.done for each in requests_ if each.verb == "create" and each.resource == "pods"
               and not each.sub and each.code < 300 and begin <= each.at <= end and mine.match(each.name)}
    bound = {each.name: each.done for each in requests_ if each.resource == "pods" and each.sub == "binding"
             and each.code < 300}
    return {name: (made, bound[name]) for name, made in created.items() if name in bound}


def plans(requests_, prefix):
    """[(name, created, deleted)] of the Schedulings with that prefix: from the answer to the request."""
    made = {each.name: each.done for each in requests_ if each.resource == "schedulings" and not each.sub
            and each.verb == "create" and each.code < 300 and each.name.startswith(prefix)}
    gone = {each.name: each.at for each in requests_ if each.resource == "schedulings" and not each.sub
            and each.verb == "delete" and each.code < 300}
    return sorted(((name, at, gone.get(name, float("inf"))) for name, at in made.items()),
                  key=lambda plan: plan[1])


def application_of(requests_, begin, end):
    """The request that made the application of a plan; None without one."""
    return next((each for each in requests_ if each.resource == "sparkapplications" and each.verb == "create"
                 and each.operator == "batchjob" and not each.dry_run and each.code < 300 and begin <= each.at < end),
                None)


def shares(requests_, prefix):
    """[(Scheduling -> application, pod created -> bound, Scheduling -> last bound)] in seconds.

    Of several executors the one counts that waits longest.
    """
    found = []
    for _, begin, end in plans(requests_, prefix):
        made = application_of(requests_, begin, end)
        pods = executors(requests_, made.name, begin, end) if made else {}
        if pods:
            found.append((made.done - begin, max(bound - created for created, bound in pods.values()),
                          max(bound for _, bound in pods.values()) - begin))
    return found


def by_hand(requests_, prefix="hand-"):
    """[(application -> last bound, pod created -> bound)] in seconds."""
    found = []
    for each in requests_:
        if (each.resource, each.verb, each.sub) != ("sparkapplications", "create", "") \
                or each.operator or not each.name.startswith(prefix):
            continue
        pods = executors(requests_, each.name, each.at, float("inf"))
        if pods:
            found.append((max(bound for _, bound in pods.values()) - each.done,
                          max(bound - created for created, bound in pods.values())))
    return found


def swaps_in(requests_, prefix):
    """[ghost deleted -> job pod bound]: the testbed operator deletes a ghost, then lets that pod in."""
    found = []
    for _, begin, end in plans(requests_, prefix):
        made = application_of(requests_, begin, end)
        during = [each for each in requests_ if each.resource == "pods" and begin <= each.at <= end]
        gone = sorted(each.done for each in during if each.verb == "delete" and each.operator == "testbed"
                      and "-ghost-" in each.name and each.code < 300)
        bound = sorted(at for _, at in executors(requests_, made.name if made else "", begin, end).values())
        if len(gone) == len(bound):
            found += [in_ - out for out, in_ in zip(gone, bound)]
    return found


# --- the requests of a start, one after the other ---

#: Which changes wake which operator.
WATCHED = {"testbed": ("testbeds", "batchjobs", "schedulings", "pods"),
           "batchjob": ("testbeds", "batchjobs", "sparkapplications", "pods"),
           "scheduling": ("testbeds", "batchjobs", "schedulings", "pods")}


#: A watch may show a change before the request that made it is answered, in seconds.
AHEAD = 0.02


def is_report(each):
    """A status that no other step of a start waits for, or rows of one in objects of their own."""
    return (each.resource == "testbeds" and each.sub == "status") or each.resource == "testbedslotslices"


def moves_others(each):
    """A write that wakes another operator: of a record of rights, or a pod that was created."""
    if each.code >= 300 or each.dry_run or each.verb not in ("create", "patch", "update"):
        return False
    if each.resource == "pods":
        return each.verb == "create" and not each.sub
    return each.operator is not None and each.resource in (
        "testbeds", "schedulings", "batchjobs", "sparkapplications") and not is_report(each)


def chain(requests_, begin, end):
    """The requests of one start of ONE slot that waited for each other, first to last.

    From the patch that lets the pod in backwards: a request waited for the last read that its own operator
    had made before it; else for the last write that wakes it and began after its own last one; else for that.
    Between application and executor lies the Spark operator's time, which is left out.
    """
    during = [each for each in requests_ if begin - AHEAD <= each.at and each.done <= end
              and each.resource not in SIDE and not is_report(each)]
    own = [each for each in during if each.operator and each.code < 300]
    made_by_spark = [each for each in during if each.resource == "pods" and each.verb == "create" and not each.sub
                     and not each.operator and each.code < 300]
    last = [each for each in own if each.operator == "testbed" and each.resource == "pods" and each.verb == "patch"
            and not each.sub and "-exec-" in each.name]
    if not last:
        return []
    at, found = last[-1], []
    while at is not None and at not in found:
        if at in made_by_spark:
            at = next((each for each in reversed(own) if each.resource == "sparkapplications"
                       and each.verb == "create" and each.done <= at.at), None)
            continue
        found.append(at)
        before = [each for each in own if each.operator == at.operator and each.done <= at.at]
        newest = max(before, key=lambda each: each.done, default=None)
        if newest is not None and newest.verb in ("get", "list"):
            at = newest
            continue
        since = newest.at if newest else begin - AHEAD
        # What the operator itself sends side by side it does not wait for.
        causes = [each for each in during if since < each.at < at.at
                  and each.done <= at.at + (0 if each.operator == at.operator else AHEAD)
                  and moves_others(each) and each.resource in WATCHED[at.operator]]
        at = max(causes, key=lambda each: each.done, default=newest)
    return found[::-1]


def name_of(each):
    """esi-testbed: patch pods/status"""
    return f"esi-{each.operator}: {each.verb} {each.resource}" + (f"/{each.sub}" if each.sub else "")


def writes(requests_, operator=None):
    """Accepted writes of the operators: without leases, events and dry runs."""
    return [each for each in requests_ if each.operator and (operator is None or each.operator == operator)
            and each.verb in ("create", "update", "patch", "delete") and each.code < 300 and not each.dry_run
            and each.resource not in SIDE]
