"""A simulated ESI with jobs of chosen lengths, and this program run against it in virtual time."""
from esi_colocation import main
from esi_colocation.bench.model import Model, Work
from esi_colocation.bench.simulated import Simulated
from esi_colocation.interface import Interface
from esi_colocation.matrix import Matrix


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

    def __init__(self, world):
        self.world, self.lines = world, []

    def start(self, *arguments, before=None, after=None):
        """The exit code; `before` and `after` see each request and may raise."""
        session = self.world.session()
        adapter = session.get_adapter("http://")
        adapter.before = before or adapter.before
        adapter.after = after or adapter.after
        options = main.parser().parse_args(["http://esi", *arguments])
        interface = Interface("http://esi", self.world.clock, self.lines.append, options.patience, session)
        self.world.listeners.clear()
        return main.start(options, interface, self.world.topics(), self.world.clock, self.lines.append)

    @property
    def said(self):
        return "\n".join(self.lines)

    def matrix(self):
        session = self.world.session()
        return Matrix.of(Interface("http://esi", self.world.clock, print, session=session).jobs())

    def pairs_run(self, kind):
        """[(the pairs of a Scheduling, sorted)] in the order in which they took the testbed."""
        return [sorted(seats) for name, seats in self.world.history if f"-{kind}-" in name]
