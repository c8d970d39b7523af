"""The guide is true: what README and the user guide tell to type is typed, from top to bottom, in the demo
that they speak of; so is what docs/interface.md tells, by an account of its own; and every word of a status is
explained there.

The demo has a control plane and operators of its own. Its reader (guide.py) is tested first, without one.
"""
import functools
import os
import re
import subprocess
import sys
import time
import types

import pytest
import yaml

import guide
import rights
from control_plane import ROOT
from product import OPERATORS, PORTS

sys.path.insert(0, str(ROOT / "integration-tests" / "demo"))
import demo as demo_program  # noqa: E402

INTERFACE = "docs/interface.md"
PAGES_OF_THE_DEMO = ("README.md", "docs/user-guide.md")
PAGES = (*PAGES_OF_THE_DEMO, INTERFACE)
#: Whose words are explained where.
HEADERS = {"conditions.h": "## States and reasons", "testbed.h": "### Testbed", "batchjob.h": "### BatchJob",
           "scheduling.h": "### Scheduling"}
#: The first lines of all blocks that are not run; why, is said in the pages.
NOT_RUN = {
    "README.md": ["make demo    # control plane, operators, examples: slots and jobs live in the terminal"],
    "docs/user-guide.md": ["KEEP=1 make demo", *(
        "helm upgrade esi helm/esi -n esi-system --reset-then-reuse-values --set claims.enabled=true --wait",
        "kubectl apply -f examples/claims/testbed.yaml",
        "kubectl apply -f examples/claims/job.yaml -f examples/claims/inline.yaml",
        "helm upgrade esi helm/esi -n esi-system --reset-then-reuse-values --set claims.enabled=true "
        "--set 'claims.priorities={0,1000}'"), "kubectl -n esi-system port-forward deploy/esi-scheduling 8082",
                           "pip install stomp.py"],
    INTERFACE: ["kubectl -n esi-system port-forward svc/esi-scheduling 8082",
                "curl -NsH \"$A\" -H 'Accept: application/x-ndjson' \"$API/events?kinds=schedulings,jobs\""]}
#: Before docs/interface.md: the roles of the chart, as Kubernetes' own role `edit` is made of them; the objects of
#: examples/, and nobody who has any of them.
FREE_AGAIN = f"""
kubectl apply -f - <<'END'
{rights.roles_of_chart()}
END
kubectl delete sched --all --timeout=300s
kubectl apply -k examples
kubectl wait --for=jsonpath='{{.status.state}}'=ReadyState bj/spark-job-1 bj/spark-job-2 bj/spark-job-3 --timeout=300s
for _ in $(seq 300); do
    read -r free total <<<"$(kubectl get tb scheduler-slots -o jsonpath='{{.status.counts.free}} {{.status.counts.total}}')"
    [[ $free != "$total" ]] || ! kubectl get clusterrole edit -o yaml | grep esi.tu-berlin.de >/dev/null || break
    sleep 1
done
"""
DEMO = ROOT / "integration-tests" / "demo" / "run.sh"
PATIENCE = 1500  # seconds for the demo to come up and run its plans; a block has as long


@functools.cache
def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


@functools.cache
def blocks(name):
    return guide.commands(name, page(name))


# --- the reader

def read(text):
    return guide.commands("page", text)


def test_blocks_of_commands_are_read_with_what_is_said_before_them():
    first, second = read("Words.\n\n<!-- shows: yes -->\n<!-- shows: no -->\n```sh\nls\n# more\nls -l\n```\n"
                         "```yaml\nkind: X\n```\n<!-- not run: it needs a cluster -->\n\n"
                         "```console\n$ make\nmade\n```\n")
    assert (first.text, first.shows, first.not_run, first.line) == ("ls\n# more\nls -l\n", ["yes", "no"], "", 6)
    assert (second.script(), second.not_run, second.shows) == ("make\n", "it needs a cluster", [])


@pytest.mark.parametrize("text, words", [
    ("<!-- not run: -->\n```sh\nls\n```", "needs a reason"),
    ("<!-- not run: because -->\n```sh\nls\n```", "needs a reason"),
    ("<!-- not run -->\n```sh\nls\n```", "is neither"),
    ("<!-- notrun: it needs a cluster -->\n```sh\nls\n```", "is neither"),
    ("<!-- shows: -->\n```sh\nls\n```", "has no text"),
    ("<!-- shows: yes -->\nWords.\n```sh\nls\n```", "before no block"),
    ("```sh\nls\n```\n<!-- shows: yes -->\n", "before no block"),
    ("<!-- shows: yes -->\n```yaml\na: b\n```", "only a block of commands"),
    ("<!-- shows: yes -->\n<!-- not run: it needs a cluster -->\n```sh\nls\n```", "shows nothing"),
    ("```\nkubectl get tb\n```", "looks like a command"),
    ("```console\nno prompt\n```", "no command"),
    ("```sh\nls\n", "no end")])
def test_a_page_with_a_mistake_is_refused(text, words):
    with pytest.raises(guide.Fault, match=words):
        read(text)


def test_words_are_looked_for_in_first_cells_only():
    assert guide.table_words("| head | x |\n|---|---|\n| `One`, TWO_X | Three |\nFour\n") == {"One", "TWO_X"}


def test_a_section_ends_at_the_next_heading_of_its_level():
    text = "## A\none\n### B\ntwo\n### C\nthree\n## D\nfour\n"
    assert guide.section(text, "### B") == "two"
    assert guide.section(text, "## A") == "one\n### B\ntwo\n### C\nthree"
    with pytest.raises(guide.Fault):
        guide.section(text, "## E")


def test_constants_are_read_with_their_namespaces():
    text = 'namespace a {\ninline constexpr std::string_view x = "One";  ///< it\n}\n' \
           'namespace b {\ninline constexpr std::string_view y = "Two";\ninline constexpr int z = 3;\n}\n'
    assert guide.constants(text) == {"One": "a", "Two": "b"}
    assert guide.constants(text, ["b"]) == {"Two": "b"}


# --- the pages

@pytest.mark.parametrize("name", PAGES)
def test_what_is_not_run_is_listed(name):
    marked = [block for block in blocks(name) if block.not_run]
    for block in marked:
        print(f"{block.where}: not run, {block.not_run}: {block.first}")
    assert [block.first for block in marked] == NOT_RUN[name]


@pytest.mark.parametrize("name", PAGES)
def test_every_block_is_good_bash(name):
    for block in blocks(name):
        checked = subprocess.run(["bash", "-n"], input=block.script(), text=True, capture_output=True, check=False)
        assert checked.returncode == 0, f"{block.where}: {checked.stderr}"


@pytest.mark.parametrize("name", PAGES)
def test_yaml_and_python_of_the_pages_can_be_read(name):
    for block in guide.blocks(name, page(name)):
        if block.language == "yaml":
            assert yaml.safe_load(block.text), block.where
        elif block.language == "python":
            compile(block.text, block.where, "exec")


@pytest.mark.parametrize("header", HEADERS)
def test_every_word_of_a_status_is_in_a_table_of_the_guide(header):
    words = guide.constants((ROOT / "common" / "model" / header).read_text(encoding="utf-8"))
    assert words, f"{header} has no words: has their form changed?"
    told = guide.table_words(guide.section(page("docs/user-guide.md"), HEADERS[header]))
    missing = {word: where for word, where in words.items() if word not in told}
    assert not missing, f"docs/user-guide.md, {HEADERS[header]}, first cells of tables: {missing} of {header}"


def test_links_of_the_guide_lead_somewhere():
    """Those to headings of the same page, and to files."""
    text = page("docs/user-guide.md")
    anchors = {re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-")
               for head in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    for target in re.findall(r"\]\(([^)]+)\)", text):
        path, _, anchor = target.partition("#")
        assert path or anchor in anchors, target
        assert not path or (ROOT / "docs" / path).exists(), target


# --- the commands

def test_what_the_demo_prints_is_understood(capsys):
    def listening(name, port):
        return types.SimpleNamespace(name=name, port=port, url=f"http://127.0.0.1:{port}")

    class Operators(dict):
        def __iter__(self):
            return iter(self.values())

    operators = Operators(testbed=listening("testbed", 8080), batchjob=listening("batchjob", 40001),
                          scheduling=listening("scheduling", 40002))
    plane = types.SimpleNamespace(binary="/bin/esi-cluster", folder="/place")
    demo_program.how_to_look_around(types.SimpleNamespace(operators=operators, plane=plane))
    ports, hints = told_by_the_demo(capsys.readouterr().out)
    assert ports == {"8080": "8080", "8081": "40001", "8082": "40002"}
    assert hints[0] == 'eval "$(/bin/esi-cluster env --dir /place)"'
    assert hints[-1].startswith("tail -f ")
    assert with_ports("curl 127.0.0.1:8082/x 127.0.0.1:8080/8082 127.0.0.1:80800", ports) == \
        "curl 127.0.0.1:40002/x 127.0.0.1:8080/8082 127.0.0.1:80800"


def told_by_the_demo(printed):
    """({port of the guide: port of this demo}, [command to look around])."""
    found = dict(re.findall(r"^ +esi-(\w+) +http://127\.0\.0\.1:(\d+)", printed, re.MULTILINE))
    assert set(found) == set(PORTS), printed
    ports = {str(port): found[name] for name, port in PORTS.items()}
    hints = re.search(r"To look around:\n\n(.*?)\n\n", printed, re.DOTALL)[1].splitlines()
    assert hints[0].strip().startswith("eval "), printed
    return ports, [line.strip() for line in hints]


def with_ports(script, ports):
    return re.sub(r"(127\.0\.0\.1:)(808[012])\b", lambda at: at[1] + ports[at[2]], script)


class Demo:
    """`KEEP=1 make demo` without the build: what it printed, and a shell as it tells to make one."""

    def __init__(self, folder):
        self.environment = dict(os.environ, KEEP="1", ESI_DEMO_DIR=str(folder), NO_COLOR="1")
        self.printed = self.run("run.sh", [str(DEMO)])
        self.ports, self.hints = told_by_the_demo(self.printed)
        self.logs = {each.stem: each for each in (folder / "operators").glob("esi-*.log")}

    def run(self, what, line):
        done = subprocess.run(line, cwd=ROOT, env=self.environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
        assert done.returncode == 0, f"{what}: exit {done.returncode}\n{done.stdout}"
        return done.stdout

    def type(self, where, script):
        """In a shell of its own, which ends at the first command that fails."""
        script = with_ports(script, self.ports)
        prologue = f"{self.hints[0]}\nset -euo pipefail\n"
        return self.run(f"{where}:\n{script}", ["bash", "-c", prologue + script])


@pytest.fixture(scope="module")
def demo(folder):
    """One demo for the tests below. What it prints when it fails is the failure."""
    place = folder / "guide-demo"
    try:
        yield Demo(place)
    finally:
        subprocess.run([str(DEMO), "stop"], cwd=ROOT, env=dict(os.environ, ESI_DEMO_DIR=str(place)), check=True,
                       timeout=PATIENCE, stdout=subprocess.DEVNULL)


def test_the_demo_tells_how_to_look_around(demo):
    *once, follow = demo.hints[1:]
    assert follow.startswith("tail -f "), demo.printed
    demo.type("the demo's words", "\n".join([*once, follow.replace("tail -f", "tail -n 1")]))


def test_a_second_demo_beside_it_is_refused(demo):
    with pytest.raises(AssertionError, match="KEEP=1 left running"):
        demo.run("a second one", [str(DEMO)])
    demo.type("after it", "kubectl get tb")


def test_a_job_can_be_followed_through_three_logs(demo):
    run = demo.type("a run", "kubectl get bj spark-job-1 -o jsonpath='{.status.runs[0].run}'")
    assert sorted(demo.logs) == sorted(f"esi-{name}" for name in OPERATORS)
    for name, log in demo.logs.items():
        lines = log.read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if "job=default/spark-job-1" in line and f"run={run}" in line], \
            f"{name} logged no line with job=default/spark-job-1 and run={run}: {log}"


@pytest.mark.parametrize("name", PAGES_OF_THE_DEMO)
def test_every_command_of_the_page_runs(demo, name):
    for block in blocks(name):
        if block.not_run:
            continue
        begin = time.monotonic()
        printed = demo.type(block.where, block.script())
        print(f"--- {block.where}, {time.monotonic() - begin:.1f} s\n{block.script()}\n{printed}")
        missing = [words for words in block.shows if words not in printed]
        assert not missing, f"{block.where} shows no {missing}:\n{block.script()}\nprinted:\n{printed}"


def test_every_command_of_the_interfaces_page_runs(demo, tmp_path):
    """In one shell, as the first blocks set what the others use; what gives the plan back comes last."""
    run = sorted((block for block in blocks(INTERFACE) if not block.not_run), key=lambda block: "-X DELETE" in block.text)
    assert len(run) > 8 and "-X DELETE" in run[-1].text
    demo.type("before it", FREE_AGAIN)
    mark = "--- typed: "
    printed = demo.type(INTERFACE, f"cd '{tmp_path}'\n" + "".join(
        f"echo '{mark}{block.where}'\n{block.script()}echo\n" for block in run))
    print(printed)
    for block, told in zip(run, printed.split(mark)[1:], strict=True):
        assert told.startswith(block.where)
        missing = [words for words in block.shows if words not in told]
        assert not missing, f"{block.where} shows no {missing}:\n{block.script()}\nprinted:\n{told}"
    assert sum(len(block.shows) for block in run) > 8
    demo.type("behind it", "kubectl wait --for=delete sched/first --timeout=300s")


def test_objects_of_the_guide_are_such_as_the_api_server_takes(demo):
    """Whole ones, as the page has them; what exists already may not be changed by them."""
    for block in guide.blocks("docs/user-guide.md", page("docs/user-guide.md")):
        body = yaml.safe_load(block.text) if block.language == "yaml" else {}
        if body.get("kind"):
            body["metadata"] = {"name": f"{body['metadata']['name']}-told", "namespace": "default"}
            demo.type(block.where, "kubectl create --dry-run=server --validate=strict -f - <<'END'\n"
                      f"{yaml.safe_dump(body)}END\n")
