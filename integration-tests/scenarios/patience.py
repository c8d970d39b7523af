"""How tests wait. No test sleeps for a while and hopes: it waits for what happens (`wait`). Where nothing is to happen,
it looks all the time whether that is so (`stays`, `rests`). Where time itself has to pass, it says why (`let_pass`).
"""
import datetime
import time

#: Seconds. A wait ends as soon as its condition holds, so this bounds a hang and nothing else: it is
#: long enough for a machine on which twenty other processes want the same core.
PATIENCE = 300


class Timeout(AssertionError):
    """What was waited for did not come."""


def wait(what, probe, timeout=PATIENCE, pause=0.05, not_yet=(), told=lambda: "", fault=Timeout):
    """Returns the first truthy value of probe(), which is asked once more when the time is over. `not_yet`: errors that
    mean no. `told`: what else to say when it takes too long."""
    deadline = time.monotonic() + timeout
    while True:
        last = time.monotonic() > deadline
        try:
            value = probe()
        except not_yet as error:
            value = None
            seen = repr(error)
        else:
            seen = repr(value)
        if value:
            return value
        if last:
            raise fault(f"waited {timeout} s for {what}; last seen: {seen}\n{told()}".rstrip())
        time.sleep(pause)


def stays(what, probe, seconds, pause=0.1, told=lambda: ""):
    """Asserts that probe() holds now and for so long: for what nothing that happens can show."""
    end = time.monotonic() + seconds
    while True:
        last = time.monotonic() >= end
        value = probe()
        assert value, f"{what}: no longer so; seen: {value!r}\n{told()}".rstrip()
        if last:
            return value
        time.sleep(pause)


def rests(what, look, seconds, timeout=PATIENCE, pause=0.1):
    """Waits until look() has given the same for so long; returns that."""
    seen, since = look(), time.monotonic()

    def same():
        nonlocal seen, since
        now = time.monotonic()
        if (found := look()) != seen:
            seen, since = found, time.monotonic()
        return now - since >= seconds
    wait(f"{what} to be the same for {seconds} s", same, timeout, pause)
    return seen


def later_than(*made):
    """Waits until what is made from now on is younger than these objects: creation times are whole seconds."""
    last = max(datetime.datetime.fromisoformat(each["metadata"]["creationTimestamp"]) for each in made)
    wait("a later second", lambda: time.time() >= last.timestamp() + 1, pause=0.02)


def let_pass(seconds, why):
    """For the pace or the length of a load, and for clocks. `why` is for whoever reads the line."""
    assert why
    time.sleep(max(0.0, seconds))
