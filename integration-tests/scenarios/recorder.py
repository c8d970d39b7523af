"""Writes down what happens in a cluster: every change of Pods, Nodes, Testbeds and BatchJobs.

A process of its own: `python recorder.py KUBECONFIG FILE`. One JSON line per change, flushed at once:

    {"kind": "Pod", "type": "ADDED", "rv": 1234, "at": 1700000000.1, "object": {...}}
    {"kind": "Pod", "type": "LIST", "rv": 1200, "at": ..., "objects": [...]}
    {"kind": "Pod", "type": "GAP", "rv": 0, ...}       changes were lost: the record cannot be judged

Lines of different kinds are not in order of resourceVersion; judge.py sorts them. Objects are trimmed
to what the judge looks at. It shares no code with the operators, and writes nothing to the API server.
It ends with SIGTERM or with its parent's end of the pipe on standard input.
"""
import json
import sys
import threading
import time

from api import Api, ApiException, path
from patience import let_pass

WATCHED = ("Pod", "Node", "Testbed", "BatchJob")
#: Why it lets time pass.
AWAY = "the API server may be away, and is not to be asked all the time"


def pick(source, *keys):
    return {key: source[key] for key in keys if key in source}


def trim_container(container):
    return pick(container, "name", "restartPolicy") | {
        "requests": (container.get("resources") or {}).get("requests") or {}}


def trim(kind, thing):
    """What the judge needs of an object; nothing else is kept."""
    metadata, spec, status = thing["metadata"], thing.get("spec", {}), thing.get("status", {})
    slim = {"metadata": pick(metadata, "namespace", "name", "uid", "resourceVersion", "labels",
                             "annotations", "deletionTimestamp", "creationTimestamp")}
    slim["metadata"].get("annotations", {}).pop("kubectl.kubernetes.io/last-applied-configuration", None)
    if kind == "Pod":
        slim["spec"] = pick(spec, "nodeName", "schedulingGates", "overhead", "priority", "priorityClassName",
                            "schedulerName")
        slim["spec"]["containers"] = [trim_container(c) for c in spec.get("containers", [])]
        slim["spec"]["initContainers"] = [trim_container(c) for c in spec.get("initContainers") or []]
        slim["status"] = pick(status, "phase", "nominatedNodeName", "reason")
        for condition in status.get("conditions") or []:
            if condition["type"] == "DisruptionTarget" and condition["status"] == "True":
                slim["status"]["disruption"] = condition.get("reason", "")
    elif kind == "Node":
        slim["spec"] = pick(spec, "taints", "unschedulable")
        slim["status"] = pick(status, "allocatable")
    elif kind == "Testbed":
        slim["spec"] = pick(spec, "slotsPerNode", "nodeLabel", "isolation", "claim")
        slim["status"] = pick(status, "layout", "state")
        slim["status"]["slots"] = [pick(row, "position", "state", "podUId")
                                   for row in status.get("slots") or []]
    else:
        slim["spec"] = pick(spec, "activeScheduling", "creationRequest")
        slim["status"] = pick(status, "state", "placements", "application", "slotIds")
    return slim


class Recorder:
    def __init__(self, api, file):
        self.api = api
        self.file = file
        self.lock = threading.Lock()

    def write(self, kind, kind_of_change, version, **more):
        line = json.dumps({"kind": kind, "type": kind_of_change, "rv": version, "at": time.time(), **more})
        with self.lock:
            self.file.write(line + "\n")
            self.file.flush()

    def list(self, kind):
        answer = self.api.call("GET", path(kind))
        version = int(answer["metadata"]["resourceVersion"])
        self.write(kind, "LIST", version, objects=[trim(kind, item) for item in answer["items"]])
        return version

    def follow(self, kind):
        """Lists once, then watches for ever; each new watch goes on where the last one ended."""
        version = self.list(kind)
        while True:
            try:
                version = self.watch(kind, version)
            except ApiException as error:
                if error.status != 410:
                    let_pass(0.2, AWAY)
                    continue
                self.write(kind, "GAP", 0)
                version = self.list(kind)
            except Exception as error:  # a lost connection: the next watch starts where this one ended
                print(f"recorder: {kind}: {error}", file=sys.stderr, flush=True)
                version = getattr(error, "version", version)
                let_pass(0.2, AWAY)

    def watch(self, kind, version):
        """Returns the resourceVersion to go on from when the server ends the watch."""
        response = self.api.raw("GET", path(kind), timeout=(10, 3700), query={
            "watch": "1", "resourceVersion": str(version), "allowWatchBookmarks": "true",
            "timeoutSeconds": "3600"})
        pending = b""
        try:
            for piece in response.stream(1 << 16, decode_content=False):
                *lines, pending = (pending + piece).split(b"\n")
                for line in lines:
                    if line.strip():
                        version = self.take(kind, json.loads(line), version)
        except Exception as error:
            error.version = version
            raise
        finally:
            response.close()
        return version

    def take(self, kind, event, version):
        if event["type"] == "ERROR":
            if event["object"].get("code") == 410:
                raise ApiException(status=410)
            raise ConnectionError(json.dumps(event["object"]))
        seen = int(event["object"]["metadata"]["resourceVersion"])
        if event["type"] != "BOOKMARK":
            self.write(kind, event["type"], seen, object=trim(kind, event["object"]))
        return seen


def main():
    kubeconfig, target = sys.argv[1:3]
    with open(target, "a", encoding="utf-8") as file:
        recorder = Recorder(Api(kubeconfig), file)
        for kind in WATCHED:
            threading.Thread(target=recorder.follow, args=(kind,), daemon=True).start()
        sys.stdin.read()  # until the other end is closed


if __name__ == "__main__":
    main()
