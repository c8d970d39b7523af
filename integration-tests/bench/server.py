"""The file server (fileserver/) as a process: a large cluster to start the operators against."""
import collections
import json
import os
import pathlib
import subprocess

import requests

import audit
from api import Api
from processes import wait

#: A cluster to be made: nodes of the Testbed, slots of each, other pods on them, BatchJobs, no ghosts yet.
World = collections.namedtuple("World", "nodes slots others jobs empty", defaults=(0, 8, False))


def total(world):
    return world.nodes * world.slots


def binary():
    return os.environ["ESI_FILESERVER"]


def made(world, folder):
    """The folder of that world's files; made once for each version of the program."""
    name = "-".join(f"{key}{int(value)}" for key, value in world._asdict().items())
    target = pathlib.Path(folder) / name
    if not (target / "ready").exists() or (target / "ready").stat().st_mtime < os.stat(binary()).st_mtime:
        subprocess.run(
            [binary(), "make", "--folder", str(target), "--nodes", str(world.nodes), "--slots", str(world.slots),
             "--others", str(world.others), "--jobs", str(world.jobs), f"--empty={str(world.empty).lower()}"],
            check=True)
        (target / "ready").touch()
    return target


class FileLog:
    """Its log of requests as audit.Request, beside the bytes of each answer."""

    def __init__(self, path):
        self.file = open(path, encoding="utf-8")
        self.rest = ""

    def read(self):
        """What came since the last call."""
        text = self.rest + self.file.read()
        whole, _, self.rest = text.rpartition("\n")
        return [self.parse(json.loads(line)) for line in whole.splitlines()]

    @staticmethod
    def parse(line):
        agent = line["agent"]
        operator = agent.split("/")[0].removeprefix("esi-") if agent.startswith("esi-") else None
        return audit.Request(
            operator=operator, user="", agent=agent, verb=line["verb"], group=line["group"], resource=line["resource"],
            sub=line["sub"], namespace=line["namespace"], name=line["name"], code=line["code"], at=line["at"],
            done=line["done"], uri=line["uri"], dry_run=line["dry_run"], decision="", policies=())

    def close(self):
        self.file.close()


class FileServer:
    def __init__(self, world, folder, worlds):
        self.world = world
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / "requests.jsonl"
        with open(self.folder / "fileserver.log", "wb") as errors:
            self.process = subprocess.Popen(
                [binary(), "serve", "--folder", str(made(world, worlds)), "--log", str(log), "--play"],
                stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError((self.folder / "fileserver.log").read_text("utf-8"))
        self.kubeconfig = self.folder / "kubeconfig"
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "files",
            "clusters": [{"name": "files", "cluster": {"server": self.url}}],
            "users": [{"name": "files", "user": {"token": "none"}}],
            "contexts": [{"name": "files", "context": {"cluster": "files", "user": "files"}}]}), encoding="utf-8")
        self.api = Api(self.kubeconfig)
        self.log = FileLog(log)

    def feed(self, kind, rate, seconds):
        """Changes of pods at that rate; the number of events, when all were sent."""
        answer = requests.post(f"{self.url}/bench/feed", params={"kind": kind, "rate": rate, "seconds": seconds},
                               timeout=seconds + 60)
        return answer.json()["events"]

    def forget(self, pod):
        if not requests.post(f"{self.url}/bench/forget", params={"pod": pod}, timeout=60).json()["found"]:
            raise RuntimeError(f"there is no pod {pod}")

    def numbers(self):
        return requests.get(f"{self.url}/bench/numbers", timeout=60).json()

    def await_request(self, what, wanted, timeout=120):
        """The first request from now on that `wanted` takes; and all that came until then."""
        seen = []

        def probe():
            seen.extend(self.log.read())
            return next((each for each in seen if wanted(each)), None)
        return wait(what, probe, timeout, pause=0.01), seen

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()
        self.log.close()
