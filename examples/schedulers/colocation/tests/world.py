"""A simulated ESI with jobs of chosen lengths, and this program run against it in virtual time, by the one
interface or by the other."""
import esi_client

from esi_colocation import main
from esi_colocation.bench.model import Model, Work
from esi_colocation.bench.simulated import Simulated
from esi_colocation.bench.simulated_v1 import Transport
from esi_colocation.interface import Interface
from esi_colocation.matrix import Matrix
from esi_colocation.v1 import InterfaceV1, Waits

WAYS = ("v1", "legacy")


def model(noise=0.0, **jobs):
    """`jobs`: name=(seconds, what it uses: "cpu" or "disk"). Two that use the same slow each other
    down by one half."""
    use = {"cpu": (0.5, 0.0), "disk": (0.0, 0.5)}
    return Model({name: Work(name, seconds, use[kind], tuple(2 * each for each in use[kind]))
                  for name, (seconds, kind) in jobs.items()}, noise)


def four(**more):
    return Simulated(model(a=(20, "cpu"), b=(20, "cpu"), c=(30, "disk"), d=(30, "disk")),
                     {"profiler-slots": (1, 2), "scheduler-slots": (2, 2)}, **more)


class Killed(BaseException):
    pass


class Program:
    """Runs of `esi-colocation` against one world. `lines` is what it said."""

    def __init__(self, world, way="v1"):
        self.world, self.way, self.lines = world, way, []
        #: Of /api/v1: one server for all runs, as versions go on.
        self.server = Transport(world)

    def reach(self, patience=600.0, before=None, after=None):
        """(interface, topics); `before` and `after` see each request and may raise."""
        clock = self.world.clock
        if self.way == "v1":
            self.server.before = before or (lambda method, path: None)
            self.server.after = after or (lambda method, path: None)
            esi = esi_client.connect("http://esi", token="a token", transport=self.server)
            interface = InterfaceV1(esi, "http://esi", "default", clock, self.lines.append, patience)
            return interface, Waits(interface)
        session = self.world.session()
        adapter = session.get_adapter("http://")
        adapter.before = before or adapter.before
        adapter.after = after or adapter.after
        self.world.listeners.clear()
        return Interface("http://esi", clock, self.lines.append, patience, session), self.world.topics()

    def start(self, *arguments, before=None, after=None):
        """The exit code."""
        options = main.parser().parse_args(["http://esi", *arguments])
        interface, topics = self.reach(options.patience, before, after)
        return main.start(options, interface, topics, self.world.clock, self.lines.append)

    @property
    def said(self):
        return "\n".join(self.lines)

    def matrix(self):
        return Matrix.of(self.reach()[0].jobs())

    def pairs_run(self, kind):
        """[(the pairs of a Scheduling, sorted)] in the order in which they took the testbed."""
        return [sorted(seats) for name, seats in self.world.history if f"-{kind}-" in name]
