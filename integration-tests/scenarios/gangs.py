"""A control plane on which gangs are switched on: the kinds of other projects, the chart's rights and policies of
`gangs.enabled`, and esi-testbed with --gangs behind a proxy that can stop it at a named write.

    Switched(folder)      all of it, as `plane`, `operators`, `recording`, `judge`, `proxy`
"""
import json

import gang_judge
from breakpoint_proxy import Proxy
from control_plane import MANIFESTS, ROOT, ControlPlane
from operators import Operators
from patience import wait
from recording import Recording

PODGROUPS = ROOT / "integration-tests" / "fixtures" / "podgroups"
#: A definition that comes while esi-testbed runs.
LATE = PODGROUPS / "kube-batch-v1alpha2.yaml"
#: So that each namespace has nodes of its own (gang_scene.py).
APISERVER = ("--enable-admission-plugins=PodNodeSelector",)
GANGS = ("--gangs", "--gang-scheduler-lease=kube-system/kube-scheduler")


class Switched:
    def __init__(self, folder):
        kinds = [file for file in sorted(PODGROUPS.glob("*.yaml")) if file != LATE]
        self.plane = ControlPlane(folder / "cluster").up(
            nodes=0, spark=False, crds=kinds, apiserver_flags=APISERVER)
        try:
            self.plane.install()
            self.plane.kubectl("apply", "--filename", str(MANIFESTS / "gangs"))
            self.elect_scheduler()
            self.judge = gang_judge.GangJudge()
            self.recording = Recording(self.plane, folder, also=(self.judge,))
            self.operators = Operators(self.plane, folder / "operators", names=("testbed",))
            self.proxy = Proxy(self.operators.kubeconfigs["testbed"], folder, "gangs")
            self.testbed = self.operators["testbed"]
            self.testbed.kubeconfig = self.proxy.kubeconfig
            self.flags = GANGS
            self.testbed.flags = (*self.testbed.flags, *self.flags)
            self.more = ()
            self.operators.start()
            self.plane.kubectl("apply", "--filename", str(LATE))
        except BaseException:
            self.plane.down()
            raise

    def close(self):
        try:
            faults = self.operators.stop()
        finally:
            self.proxy.close()
            self.recording.close()
            self.plane.down()
        assert not faults, "\n".join(faults)

    # --- kube-scheduler, with the lease that it has in other clusters

    def elect_scheduler(self):
        file = self.plane.folder / "config" / "kube-scheduler.yaml"
        config = json.loads(file.read_text("utf-8"))
        config["leaderElection"] = {"leaderElect": True, "resourceNamespace": "kube-system",
                                    "resourceName": "kube-scheduler", "leaseDuration": "120s",
                                    "renewDeadline": "100s", "retryPeriod": "1s"}
        file.write_text(json.dumps(config), encoding="utf-8")
        self.plane.stop("kube-scheduler", "TERM")
        self.start_scheduler()

    def kill_scheduler(self):
        """kill -9. Its lease is given back in its place, so that no test waits until it has run out."""
        self.plane.stop("kube-scheduler", "KILL")
        self.plane.api.patch("Lease", "kube-system", "kube-scheduler", {"spec": {
            "holderIdentity": "", "leaseDurationSeconds": 1}})

    def start_scheduler(self):
        before = self.holder()
        self.plane.start("kube-scheduler")
        wait("kube-scheduler to lead", lambda: self.holder() not in ("", before))

    def holder(self):
        lease = self.plane.api.get("Lease", "kube-system", "kube-scheduler") or {"spec": {}}
        return lease["spec"].get("holderIdentity") or ""

    # --- esi-testbed

    def revive(self):
        """Starts it after a kill -9. Its lease is given back in its place, so that no test waits for that."""
        self.plane.api.patch("Lease", "esi-system", "esi-testbed", {"spec": {
            "holderIdentity": "", "leaseDurationSeconds": 1}})
        self.testbed.start().ready()

    def restart(self, *flags):
        """With further flags, for one test."""
        assert self.testbed.stop() == 0
        self.more = flags
        self.testbed.start(flags).ready()

    def ensure(self):
        """As a test finds it: esi-testbed runs, with the flags of all tests, and nothing breaks its writes."""
        self.proxy.clear()
        self.proxy.refusals.clear()
        if self.more:
            self.restart()
        self.operators.ensure()
