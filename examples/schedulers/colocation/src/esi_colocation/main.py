"""The command line."""
from __future__ import annotations

import argparse
import re
import signal
import ssl
import sys
import time

from esi_colocation.interface import Interface, Refused, ServerAway
from esi_colocation.matrix import Matrix
from esi_colocation.own import FAILED, Own, Unusable
from esi_colocation.profiler import Profiler, due, next_round
from esi_colocation.records import NotUnderstood
from esi_colocation.scheduler import Scheduler, describe
from esi_colocation.topics import NoTopics, Topics

DONE, INCOMPLETE, USAGE, UNUSABLE = 0, 1, 2, 3
EPILOG = """\
exit codes: 0 all done; 1 done, but a job failed or a pair has too few samples; 2 wrong usage;
3 server or testbed not usable; 130 and 143 stopped by SIGINT and SIGTERM.

Killed or cut off, it leaves its Scheduling running; started again, it takes that up, counts what is not
counted yet and goes on. Stopped by a signal it deletes its Scheduling (unless --leave), so that testbed
and jobs are free.
"""


class Stopped(BaseException):
    """SIGINT or SIGTERM. Not an Exception: nothing in between may take it for an error."""

    def __init__(self, signum: int):
        super().__init__(signum)
        self.signum = signum


class Clock:
    """The real one; tests and the benchmark have one of their own."""

    now = staticmethod(time.monotonic)
    sleep = staticmethod(time.sleep)

    @staticmethod
    def stamp() -> int:
        """Milliseconds since 1970, for names."""
        return time.time_ns() // 1_000_000


def print_line(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def parser() -> argparse.ArgumentParser:
    new = argparse.ArgumentParser(
        prog="esi-colocation", epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures jobs in pairs on one testbed (-p), then places each job beside the partner "
                    "with the least run time on another (-s). With neither -p nor -s: both, in this order.")
    new.add_argument("url", nargs="?", metavar="URL", help="the same as --server")
    new.add_argument("--server", default="http://127.0.0.1:8082", metavar="URL",
                     help="ESI's external interface (default: %(default)s)")
    new.add_argument("-p", "--profile", action="store_true", help="measure pairs of jobs")
    new.add_argument("-s", "--schedule", action="store_true", help="place all ready jobs, once")
    new.add_argument("--just-print", action="store_true",
                     help="print the matrix and what would be done; change nothing")
    new.add_argument("--samples", type=whole, default=1, metavar="N",
                     help="runs of each pair, earlier ones included; 0: on and on (default: %(default)s)")
    new.add_argument("--profiler-testbed", default="profiler-slots", metavar="NAME",
                     help="where pairs are measured (default: %(default)s)")
    new.add_argument("--scheduler-testbed", default="scheduler-slots", metavar="NAME",
                     help="where jobs are placed (default: %(default)s)")
    new.add_argument("--jobs", type=names, metavar="A,B,...", help="only these jobs (default: all)")
    new.add_argument("--name", type=prefix, default="colocation", metavar="NAME",
                     help="prefix of its Schedulings; give a second instance another (default: %(default)s)")
    new.add_argument("--fresh", action="store_true", help="forget an unfinished plan and make a new one")
    new.add_argument("--leave", action="store_true",
                     help="when stopped by a signal, leave the Scheduling running for the next start")
    new.add_argument("--patience", type=float, default=600.0, metavar="SECONDS",
                     help="how long a server that is away is borne (default: %(default).0f)")
    new.add_argument("--namespace", default="default", metavar="NAME",
                     help="of the testbeds, jobs and Schedulings (default: %(default)s)")
    new.add_argument("--token-file", metavar="FILE",
                     help="bearer token for the interface, read anew for each request (default: the file that "
                          "ESI_TOKEN_FILE names, or the token in ESI_TOKEN; neither: none)")
    new.add_argument("--ca-file", metavar="FILE",
                     help="certificates to check the server's by (default: SSL_CERT_FILE, or those of certifi)")
    new.add_argument("--legacy", action="store_true",
                     help="use the interface of the Java original (/external and the STOMP topics) and not /api/v1; it "
                          "knows one namespace and no tokens, and answers peers on its own machine only")
    new.add_argument("--poll", action="store_true",
                     help="with --legacy: do not use the STOMP topics, only look by GET")
    return new


def whole(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def names(text: str) -> list[str]:
    return [name for name in re.split(r"[,\s]+", text) if name]


def prefix(text: str) -> str:
    if not re.fullmatch("[a-z]([-a-z0-9]{0,29}[a-z0-9])?", text):
        raise argparse.ArgumentTypeError("lower-case letters, digits and -, at most 31")
    return text


def program(argv: list[str] | None = None) -> int:
    options = parser().parse_args(argv)
    url = options.url or options.server
    if not re.fullmatch(r"https?://[^/\s]+/?", url):
        parser().error(f"not the address of a server: {url} (as in http://127.0.0.1:8082)")
    if options.poll and not options.legacy:
        parser().error("--poll goes with --legacy only: /api/v1 has nothing to poll")
    clock = Clock()
    try:
        interface, topics = (legacy if options.legacy else v1)(options, url, clock)
    except (ImportError, OSError, ssl.SSLError) as error:
        print(f"esi-colocation: {error}", file=sys.stderr, flush=True)
        return UNUSABLE
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, stop)
    return start(options, interface, topics, clock, print_line)


def v1(options, url: str, clock):
    try:
        import esi_client
    except ImportError:
        raise ImportError("the package esi_client is missing: pip install ./examples/clients/python") from None
    from esi_colocation.v1 import InterfaceV1, Waits
    esi = esi_client.connect(url, token_file=options.token_file, ca_file=options.ca_file)
    interface = InterfaceV1(esi, url, options.namespace, clock, print_line, options.patience)
    return interface, Waits(interface)


def legacy(options, url: str, clock):
    return (Interface(url, clock, print_line, options.patience),
            NoTopics(clock) if options.poll else Topics(url, clock, print_line))


def stop(signum: int, _frame) -> None:
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)  # a second one ends it at once
    raise Stopped(signum)


def start(options, interface: Interface, topics, clock, say) -> int:
    """Everything but the process: the exit code."""
    if not options.profile and not options.schedule:
        options.profile = options.schedule = True
    own = Own(interface, topics, clock, say, options.name, options.jobs)
    profiler = Profiler(own, options.profiler_testbed, options.samples)
    scheduler = Scheduler(own, options.scheduler_testbed)
    try:
        if options.just_print:
            return just_print(options, own, scheduler, say)
        return work(options, own, profiler, scheduler, say)
    except Stopped as stopped:
        if not options.just_print:
            clean_up(options, own, scheduler, say)
        return 128 + stopped.signum
    except (ServerAway, Refused, NotUnderstood, Unusable) as error:
        print(f"esi-colocation: {error}", file=sys.stderr, flush=True)
        return UNUSABLE


def work(options, own: Own, profiler: Profiler, scheduler: Scheduler, say) -> int:
    check(options, own)
    if options.fresh:
        scheduler.forget()
    for standing in own.standing():
        if own.is_profile(standing.name):
            profiler.take_up(standing)
        elif not (options.schedule and scheduler.will_take_up(standing.name)):
            scheduler.take_up(standing)
    good = True
    if options.profile and options.schedule and scheduler.unfinished():
        good = scheduler.run()  # what was begun comes first
        options.schedule = False
    if options.profile:
        good = profiler.run() and good
    ready, others = own.jobs()
    say("\n" + Matrix.of(ready | others).text())
    if options.schedule:
        good = scheduler.run() and good
    return DONE if good else INCOMPLETE


def check(options, own: Own) -> None:
    """Fails before anything is started, if it must fail."""
    widths = {}
    for wanted, name in ((options.profile, options.profiler_testbed),
                         (options.schedule, options.scheduler_testbed)):
        if wanted:
            _, free = own.testbed(name)
            widths[name] = len(free[0][0])
    if len(set(widths.values())) > 1:
        own.say("note: a job gets " + ", ".join(f"{width} slots on {name}" for name, width in widths.items())
                + ": what is measured there is not what runs here")
    if options.jobs:
        there = own.interface.jobs()
        if missing := [name for name in options.jobs if name not in there]:
            raise Unusable(f"there is no job {', '.join(missing)}; there are: {', '.join(there) or 'none'}")


def just_print(options, own: Own, scheduler: Scheduler, say) -> int:
    check(options, own)
    for standing in own.standing():
        say(f"would take up {standing.name}, in {standing.state}")
    everyone = {name: job for name, job in own.interface.jobs().items()
                if own.chosen is None or name in own.chosen}
    ready = {name: job for name, job in everyone.items() if job.state not in FAILED}
    for name in sorted(everyone.keys() - ready.keys()):
        say(f"would leave out {name}, which is in {everyone[name].state}")
    matrix = Matrix.of(everyone)
    say("\n" + matrix.text())
    if options.profile:
        pairs = due(matrix, sorted(ready), options.samples)
        _, free = own.testbed(options.profiler_testbed)
        say(f"would profile {len(pairs)} pairs on {options.profiler_testbed}" + (
            ", first " + ", ".join(" + ".join(pair) for pair in next_round(pairs, len(free))) if pairs else ""))
    if options.schedule:
        if found := scheduler.unfinished():
            say(f"would take up the unfinished {describe(found[0], matrix)}")
        elif ready:
            say(f"would run {describe(scheduler.make(ready, everyone, 'new'), matrix)}")
    return DONE


def clean_up(options, own: Own, scheduler: Scheduler, say) -> None:
    if options.leave:
        say("stopped; its Scheduling is left running, and is taken up by the next start")
        return
    own.interface.patience = 10.0
    try:
        names = own.abandon()
        if options.schedule:
            scheduler.forget()
        say(f"stopped; deleted {', '.join(names)}" if names else "stopped; nothing was running")
    except (ServerAway, Refused, NotUnderstood) as error:
        say(f"stopped; could not delete its Scheduling, the next start takes it up: {error}")
