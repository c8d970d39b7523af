"""Alerts and dashboards: what the rules say, that they fire and do not (rules_test.yaml), and that every
expression finds series in a real Prometheus that scrapes the real operators while a job runs."""
import json
import pathlib
import re
import shutil
import subprocess

import pytest
import requests
import websocket
import yaml

from chart import CHART, OPERATORS, ROOT, render
from control_plane import MANIFESTS, ControlPlane
from operators import Operators, free_port
from patience import wait

pytestmark = pytest.mark.more

RULES = CHART / "rules" / "esi.yaml"
TESTS = pathlib.Path(__file__).with_name("rules_test.yaml")
DASHBOARDS = {path.stem: json.loads(path.read_text("utf-8"))
              for path in sorted((CHART / "dashboards").glob("*.json"))}
ALERTS = yaml.safe_load(RULES.read_text("utf-8"))["groups"][0]["rules"]
#: Not ESI's: Prometheus makes the one, kube-state-metrics the other.
OF_OTHERS = {"up", "kube_pod_container_resource_limits"}
#: Selectors of rules that find nothing while all goes well.
TROUBLE = re.compile(r'code=|outcome="Failed"|reason="slow"|kube_pod_container_resource_limits'
                     r"|esi_batchjob_unknown_application_states_total|esi_events_dropped_total")
#: What Grafana puts in the place of its variables.
VARIABLES = {"$__rate_interval": "15s", "$namespace": "esi-system", "$job": ".*"}
MONITORING = {"apis": ["monitoring.coreos.com/v1"]}


def panels(board):
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def expression(text):
    for name, value in VARIABLES.items():
        text = text.replace(name, value)
    return text


#: (dashboard: panel, expression), and (alert, expression)
SHOWN = [(f"{name}: {panel['title']}", expression(target["expr"])) for name, board in DASHBOARDS.items()
         for panel in panels(board) for target in panel["targets"]]
WATCHED = [(alert["alert"], alert["expr"]) for alert in ALERTS]


def metrics_of(text):
    """Names of metrics in an expression, without the endings of histograms."""
    bare = re.sub(r'"[^"]*"', "", text)
    bare = re.sub(r"\{[^}]*\}|\[[^]]*\]", " ", bare)
    bare = re.sub(r"\b(by|on|without|ignoring|group_left|group_right)\s*\([^)]*\)", " ", bare)
    names = re.findall(r"\b[a-z_:][a-z0-9_:]*\b(?!\s*\()", bare)
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in names} - {"and", "or", "unless", "bool", "offset"}


def selectors_of(text):
    return re.findall(r"\b([a-z_]+)(\{[^}]*\})", text)


def registered():
    """Names of all metrics that the operators' sources make."""
    sources = [path for folder in ("common", "operators") for path in (ROOT / folder).rglob("*.cpp")
               if not path.stem.endswith("_test") and "kubectl-esi" not in path.parts]
    family = r'"((?:esi|controller_runtime|workqueue|leader_election|rest_client|process)_[a-z_]+)"'
    return {name for path in sources for name in re.findall(family, path.read_text("utf-8"))}


def promtool(*arguments, stdin=None):
    program = shutil.which("promtool")
    assert program, "promtool is missing: scripts/setup.sh integration-tests/chart/debian-packages.txt"
    return subprocess.run([program, *map(str, arguments)], input=stdin, capture_output=True, text=True, check=False)


def test_names_of_metrics_are_found_in_expressions():
    text = 'sum by (le, a) (rate(x_y_bucket{b="c_d", e=~"$f"}[5m])) / on (g) z offset 5m > 0.5 and absent(w{})'
    assert metrics_of(text) == {"x_y", "z", "w"}


@pytest.mark.parametrize("where, text", SHOWN + WATCHED, ids=[where for where, _ in SHOWN + WATCHED])
def test_metrics_exist(where, text):
    names = metrics_of(text)
    assert names
    assert names <= registered() | OF_OTHERS


def test_every_metric_is_described():
    """Each has its row; that a text names it elsewhere does not count."""
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    table = page.partition("\n| name | type, labels | meaning |\n")[2].partition("\n\n")[0]
    described = {name for row in table.splitlines() for name in re.findall("`([a-z_]+)`", row.split("|")[1])}
    assert described == registered()


def test_rules_are_valid():
    done = promtool("check", "rules", RULES)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(ALERTS)} rules found" in done.stdout


def test_rules_fire_and_do_not_fire():
    done = promtool("test", "rules", TESTS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_alert_is_untested():
    """Each one has a time at which it fires, and one at which it does not."""
    fires, silent = set(), set()
    for test in yaml.safe_load(TESTS.read_text("utf-8"))["tests"]:
        for each in test.get("alert_rule_test", []):
            (fires if each["exp_alerts"] else silent).add(each["alertname"])
        for each in test.get("promql_expr_test", []):
            for name in re.findall(r"\bESI\w+", each["expr"]):
                (fires if each["exp_samples"] else silent).add(name)
    names = {alert["alert"] for alert in ALERTS}
    assert fires == names
    assert names <= silent


@pytest.mark.parametrize("alert", ALERTS, ids=[alert["alert"] for alert in ALERTS])
def test_alert_has_a_runbook(alert):
    assert alert["labels"]["severity"] in ("critical", "warning", "info")
    assert set(alert["annotations"]) == {"summary", "description", "runbook"}
    file, _, anchor = alert["annotations"]["runbook"].partition("#")
    assert anchor == alert["alert"].lower()
    assert f"\n### {alert['alert']}\n" in (ROOT / file).read_text("utf-8")


def test_chart_renders_rules_for_its_namespace():
    shown = render({"metrics": {"prometheusRule": {"enabled": True, "labels": {"release": "monitoring"}}}},
                   release="blue", namespace="blue-system", **MONITORING).of("PrometheusRule")["blue-esi"]
    assert shown["metadata"]["labels"]["release"] == "monitoring"
    expected = yaml.safe_load(RULES.read_text("utf-8").replace('"esi-system"', '"blue-system"'))
    assert shown["spec"] == expected
    assert "esi-system" not in json.dumps(shown["spec"])


def test_chart_renders_dashboards():
    maps = render({"metrics": {"dashboards": {"enabled": True}}}).of("ConfigMap")
    shown = {name: each for name, each in maps.items()
             if each["metadata"]["labels"].get("grafana_dashboard") == "1"}
    assert set(shown) == {f"esi-dashboard-{name}" for name in DASHBOARDS}
    for name, board in DASHBOARDS.items():
        assert json.loads(shown[f"esi-dashboard-{name}"]["data"][f"esi-{name}.json"]) == board


def test_dashboards_differ_and_choose_their_data_source():
    assert len({board["uid"] for board in DASHBOARDS.values()}) == len(DASHBOARDS) == 2
    for board in DASHBOARDS.values():
        variables = {each["name"]: each for each in board["templating"]["list"]}
        assert variables["datasource"]["type"] == "datasource"
        assert variables["datasource"]["query"] == "prometheus"
        ids = [panel["id"] for panel in board["panels"]]
        assert len(ids) == len(set(ids))
        used = set(re.findall(r"\$(\w+)", json.dumps([panel["targets"] for panel in panels(board)])))
        assert used <= set(variables) | {"__rate_interval"}
        for panel in panels(board):
            assert panel["targets"] and panel["fieldConfig"]["defaults"]["unit"], panel["title"]
            for each in (panel, *panel["targets"]):
                assert each["datasource"]["uid"] == "${datasource}"


def test_panels_do_not_overlap():
    for board in DASHBOARDS.values():
        cells = [(x, y) for panel in board["panels"] for place in [panel["gridPos"]]
                 for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])]
        assert len(cells) == len(set(cells))
        assert max(x for x, _ in cells) == 23


def test_expressions_of_dashboards_are_valid(tmp_path):
    rules = [{"record": f"panel:{index}", "expr": text} for index, (_, text) in enumerate(SHOWN)]
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}), "utf-8")
    done = promtool("check", "rules", file)
    assert done.returncode == 0, done.stdout + done.stderr


# --- against the real operators

JOB = """
apiVersion: esi.tu-berlin.de/v1alpha1
kind: Scheduling
metadata: {name: measured, namespace: default}
spec:
  testbed: {name: scheduler-slots}
  queueBased: [{name: spark-job-1}, {name: spark-job-1}]
  releaseOnCompletion: true
"""


CLAIM = """
apiVersion: esi.tu-berlin.de/v1alpha1
kind: Testbed
metadata: {name: claimed, namespace: default}
spec:
  claim:
    shapes: [{name: one, resources: {cpu: 100m, memory: 64Mi}}]
"""
#: Of the four kinds of PodGroup this one is installed.
GANG_KIND = ROOT / "integration-tests" / "fixtures" / "podgroups" / "coscheduling.yaml"
GANG = """
apiVersion: v1
kind: Namespace
metadata: {name: lab, labels: {esi.tu-berlin.de/gangs: enabled}}
---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: train, namespace: lab}
spec: {minMember: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: train-0, namespace: lab, labels: {scheduling.x-k8s.io/pod-group: train}}
spec:
  containers: [{name: main, image: none, resources: {requests: {cpu: 100m, memory: 64Mi}}}]
"""


class Prometheus:
    """Debian's, with ESI's rules, that scrapes the operators under the labels that a ServiceMonitor gives."""

    def __init__(self, folder, operators):
        self.port = free_port()
        self.log = folder / "prometheus.log"
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(RULES)],
            "scrape_configs": [{"job_name": "operators", "static_configs": [
                {"targets": [f"127.0.0.1:{each.port}"], "labels": {
                    "job": f"esi-{each.name}", "namespace": "esi-system", "pod": f"esi-{each.label}-0",
                    "container": f"esi-{each.name}"}} for each in operators]}]}
        file = folder / "prometheus.yaml"
        file.write_text(yaml.safe_dump(config), "utf-8")
        program = shutil.which("prometheus")
        assert program, "prometheus is missing: scripts/setup.sh integration-tests/chart/debian-packages.txt"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [program, f"--config.file={file}", f"--storage.tsdb.path={folder / 'prometheus'}",
                 f"--web.listen-address=127.0.0.1:{self.port}"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def ask(self, path, **query):
        answer = requests.get(f"http://127.0.0.1:{self.port}/api/v1/{path}", params=query, timeout=300)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def query(self, text):
        return self.ask("query", query=text)["result"]

    def scrape_twice(self):
        """Waits until everything was scraped twice from now on: the first scrape may be under way already, and a
        Prometheus that has just begun knows no target for some seconds."""
        def last():
            return {each["scrapeUrl"]: each["lastScrape"] for each in self.ask("targets")["activeTargets"]}
        wait("a target for each operator", lambda: len(last()) == len(OPERATORS), told=lambda: str(last()))
        for _ in range(3):
            before = last()
            wait("a scrape of everything", lambda before=before: all(
                when != before[target] for target, when in last().items()), told=lambda: str(last()))

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


@pytest.fixture(scope="module")
def scraped(tmp_path_factory):
    """A Prometheus that has seen a job run, a claim that got its place, a gang that was started, and a STOMP
    client that was ended for a mistake."""
    folder = tmp_path_factory.mktemp("metrics")
    plane = ControlPlane(folder / "cluster")
    operators = prometheus = None
    try:
        plane.up(nodes=3, cpu="4", audit=False, crds=[GANG_KIND])
        plane.install()
        plane.kubectl("apply", *(f"--filename={MANIFESTS / part}" for part in ("claims", "gangs")))
        operators = Operators(plane, folder / "operators", flags={
            "testbed": ("--claims", "--gangs")}).start()
        prometheus = Prometheus(folder, operators)
        prometheus.operators = operators
        for index in (0, 1):
            plane.kubectl("label", "node", f"node-{index}", f"tuberlin.de/scheduler-slots={index}")
        for file in ("spark-account.yaml", "testbeds/scheduler-slots.yaml", "jobs/spark-job-1.yaml"):
            plane.kubectl("apply", "--filename", str(ROOT / "examples" / file))
        plane.kubectl("apply", "--filename", "-", stdin=CLAIM)
        plane.kubectl("apply", "--filename", "-", stdin=GANG)
        plane.kubectl("wait", "--for=condition=PodScheduled", "pod/train-0", "--namespace=lab", "--timeout=300s")
        plane.kubectl("wait", "--for=condition=Ready", "testbed/scheduler-slots", "testbed/claimed", "--timeout=300s")
        address = operators["scheduling"].url.replace("http:", "ws:") + "/scheduler"
        client = websocket.create_connection(address, timeout=300)
        client.send("CONNECT\naccept-version:1.2\nhost:localhost\n\n\0")
        assert client.recv().startswith("CONNECTED")
        client.send("SUBSCRIBE\nid:1\ndestination:/topic/schedulings\n\n\0")
        plane.kubectl("apply", "--filename", "-", stdin=JOB)
        plane.kubectl("wait", "--for=condition=Completed", "scheduling/measured", "--timeout=300s")
        assert client.recv().startswith("MESSAGE")
        client.send("NONSENSE\n\n\0")
        plane.kubectl("wait", "--for=jsonpath={.status.state}=FinishedState", "scheduling/measured",
                      "--timeout=300s")
        prometheus.scrape_twice()
        yield prometheus
    finally:
        if prometheus:
            prometheus.stop()
        if operators:
            operators.stop()
        plane.down()


@pytest.mark.parametrize("name", OPERATORS)
def test_metrics_are_named_and_described_as_prometheus_wants(scraped, name):
    text = requests.get(scraped.operators[name].url + "/metrics", timeout=300).text
    assert text.count("# HELP") > 20
    done = promtool("check", "metrics", stdin=text)
    assert done.returncode == 0, done.stdout + done.stderr


def test_real_names_are_those_of_the_source(scraped):
    names = {re.sub(r"_(bucket|sum|count)$", "", name) for name in scraped.ask("label/__name__/values")}
    own = {name for name in names if not name.startswith(("scrape_", "ALERTS")) and name != "up"}
    assert own <= registered()
    # These are made when they are first counted, and that did not happen: here no client asks /api/v1.
    missing = {name for name in registered() - own if not name.startswith("esi_api_")}
    assert missing <= {"esi_batchjob_unknown_application_states_total",
                       "esi_batchjob_leftover_pods_deleted_total",
                       "esi_events_dropped_total", "esi_list_failures_total"}


@pytest.mark.parametrize("where, text", SHOWN, ids=[where for where, _ in SHOWN])
def test_panel_shows_something(scraped, where, text):
    if "leftover" not in text:
        assert scraped.query(text), text


@pytest.mark.parametrize("alert, text", WATCHED, ids=[alert for alert, _ in WATCHED])
def test_selectors_of_alerts_find_series(scraped, alert, text):
    for name, labels in selectors_of(text):
        if not TROUBLE.search(name + labels):
            assert scraped.query(name + labels), name + labels


def test_rules_are_evaluated_and_silent(scraped):
    rules = [each for group in scraped.ask("rules")["groups"] for each in group["rules"]]
    assert {each["name"] for each in rules} == {alert["alert"] for alert in ALERTS}
    assert [(each["name"], each["health"], each["state"]) for each in rules
            if each["health"] != "ok" or each["state"] != "inactive"] == []


def test_leaders_are_seen(scraped):
    leaders = scraped.query('leader_election_master_status{namespace="esi-system"} == 1')
    assert sorted(each["metric"]["name"] for each in leaders) == sorted(f"esi-{name}" for name in OPERATORS)
