"""What registries give is taken by its hash."""
import re
import subprocess

import pytest

from control_plane import ROOT


def files(*patterns):
    found = subprocess.run(["git", "-C", ROOT, "ls-files", "--", *patterns], capture_output=True, text=True, check=True)
    return found.stdout.split()


LISTS = files("*requirements.txt")
#: Flink itself, for real nodes: pinned by its version alone.
BY_VERSION = {"integration-tests/node/images/build.sh"}
#: A command of pip or npm, with the lines that it goes on over.
COMMAND = re.compile(r"^[^#\n]*\b(?:bin/pip\"?|npm) (?:install|ci|download)\b(?:[^\n]*\\\n)*[^\n]*$", re.MULTILINE)


@pytest.mark.parametrize("name", LISTS)
def test_every_package_of_a_list_has_a_version_and_hashes(name):
    text = (ROOT / name).read_text("utf-8").replace("\\\n", " ")
    packages = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert packages
    for line in packages:
        assert re.fullmatch(r"[A-Za-z0-9.-]+==\S+(?:\s+--hash=sha256:[0-9a-f]{64})+", line.rstrip()), line


def test_nothing_is_installed_without_hashes_and_no_package_runs_a_script():
    commands = [(name, match[0]) for name in files("*.sh") for match in COMMAND.finditer((ROOT / name).read_text("utf-8"))]
    assert len(commands) >= 7
    for name, command in commands:
        if "npm" in command:
            assert " ci " in command and "--ignore-scripts" in command, f"{name}: {command}"
        else:
            own = "--no-deps" in command and "--editable" in command
            assert "--require-hashes" in command or own or name in BY_VERSION, f"{name}: {command}"


def test_the_python_packages_are_without_known_vulnerabilities_of_old():
    """urllib3 before 2.5.0: redirects that were switched off were followed (CVE-2025-50181, CVE-2025-50182)."""
    versions = [tuple(int(part) for part in match[1].split(".")) for name in LISTS
                for match in re.finditer(r"^urllib3==([0-9.]+)", (ROOT / name).read_text("utf-8"), re.MULTILINE)]
    assert len(versions) >= 2 and min(versions) >= (2, 5, 0)
