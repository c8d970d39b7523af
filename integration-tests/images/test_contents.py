"""What is in the images: nothing that helps an intruder, and everything recorded."""
import hashlib
import re
import subprocess
import sys
from pathlib import PurePath

import pytest

from conftest import EPOCH, NAMES, SOURCE

OPERATORS = ("esi-testbed", "esi-batchjob", "esi-scheduling")
SHELLS = {"sh", "bash", "dash", "ash", "zsh", "busybox", "su", "sudo", "apt-get", "dpkg", "curl", "wget"}


def out(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_there_is_no_shell_and_no_installer(archive):
    names = {PurePath(path).name for path, entry in archive.entries.items() if not entry.isdir()}
    assert not names & SHELLS


def test_files_belong_to_root_and_nobody_else_writes_them(archive):
    for path, entry in archive.entries.items():
        assert (entry.uid, entry.gid, entry.mtime) == (0, 0, int(EPOCH)), path
        assert entry.isfile() or entry.isdir() or entry.issym(), path
        if not entry.issym():
            assert entry.mode in (0o644, 0o755), path
        assert not PurePath(path).is_absolute() and ".." not in PurePath(path).parts


def test_every_file_is_in_the_bill_of_materials(name, archive, folder):
    path = f"usr/share/sbom/{name}.spdx.json"
    listed = {file["fileName"].removeprefix("./"): file["checksums"] for file in archive.bill()["files"]}
    assert set(listed) == set(archive.content) - {path}
    for file, checksums in listed.items():
        assert checksums == [
            {"algorithm": "SHA1", "checksumValue": hashlib.sha1(archive.content[file]).hexdigest()},
            {"algorithm": "SHA256", "checksumValue": hashlib.sha256(archive.content[file]).hexdigest()}]
    assert archive.content[path] == (folder / f"{name}.spdx.json").read_bytes()


def test_the_bill_of_materials_is_valid_spdx(name, folder):
    out(sys.executable, "-m", "spdx_tools.spdx.clitools.pyspdxtools",
        "--infile", folder / f"{name}.spdx.json")


def packages_of(archive, kind):
    return {package["name"]: package for package in archive.bill()["packages"]
            if package["externalRefs"][0]["referenceLocator"].startswith(f"pkg:{kind}/")}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "esi-pause"])
def test_the_bill_names_the_package_and_version_of_each_library(archive):
    libraries = [path for path in archive.content if path.startswith("usr/lib") and ".so" in path]
    assert len(libraries) >= 13
    # Packages ship a library under /lib or /usr/lib; in the image all are under /usr/lib.
    names = [name for path in libraries for name in (f"/{path}", path.removeprefix("usr"))]
    found = subprocess.run(["dpkg", "-S", *names], capture_output=True, text=True).stdout
    assert len(found.splitlines()) == len(libraries)
    owners = set(re.findall(r"^([a-z0-9][^:, ]+)(?::\S+)?: ", found, re.MULTILINE))
    billed = packages_of(archive, "deb")
    assert owners <= set(billed)
    for owner in owners:
        installed, architecture = out("dpkg-query", "-W", "-f", "${Version} ${Architecture}", owner).split()
        assert billed[owner]["versionInfo"] == installed
        locator = billed[owner]["externalRefs"][0]["referenceLocator"]
        assert f"arch={architecture}&distro=debian-12" in locator
        assert re.search(rf"^Version: {re.escape(installed)}$",
                         archive.content[f"var/lib/dpkg/status.d/{owner}"].decode(), re.MULTILINE)


def test_the_bill_names_what_is_compiled_in(archives):
    headers = {"libboost1.81-dev", "libcli11-dev", "nlohmann-json3-dev"}
    for name in OPERATORS:
        assert headers <= set(packages_of(archives[name], "deb"))
    assert set(packages_of(archives["esi-pause"], "deb")) == {"libc6-dev"}


def test_the_bill_names_the_python_packages_in_the_versions_that_are_tested(archives):
    pinned = (SOURCE / "examples/schedulers/colocation/requirements.txt").read_text()
    billed = packages_of(archives["esi-colocation"], "pypi")
    assert {"networkx", "requests", "websocket-client", "urllib3", "certifi", "httpx", "httpx-sse", "attrs"} <= set(billed)
    for name, package in billed.items():
        # One name in two spellings (PEP 503).
        assert f"{name.replace('_', '-')}=={package['versionInfo']} \\\n" in pinned
        assert package["licenseDeclared"] != "NOASSERTION"


def test_the_licence_of_every_debian_package_is_known_and_in_the_image(archive):
    for name, package in packages_of(archive, "deb").items():
        assert package["licenseDeclared"] != "NOASSERTION", name
        assert archive.content[f"usr/share/doc/{name}/copyright"]


def test_the_records_for_scanners_hold_the_files_as_they_are(archive):
    links = {path: entry.linkname for path, entry in archive.entries.items() if entry.issym()}
    checked = 0
    for path, content in archive.content.items():
        if not path.endswith(".md5sums"):
            continue
        for line in content.decode().splitlines():
            checksum, file = line.split("  ")
            top, _, rest = file.partition("/")
            file = f"{links[top]}/{rest}" if top in links else file
            assert hashlib.md5(archive.content[file]).hexdigest() == checksum, file
            checked += 1
    records = [path for path in archive.content if path.startswith("var/lib/dpkg/status.d/")]
    assert checked >= len(records)


@pytest.mark.parametrize("name", OPERATORS)
def test_the_binary_is_stripped_and_keeps_its_build_id(name, archive, tmp_path):
    (tmp_path / name).write_bytes(archive.content[f"usr/local/bin/{name}"])
    sections = out("llvm-readelf-19", "--sections", tmp_path / name)
    assert ".symtab" not in sections and ".debug_" not in sections

    def build_id(path):
        return re.search(r"Build ID: ([0-9a-f]{40})", out("llvm-readelf-19", "--notes", path))[1]

    assert build_id(tmp_path / name) == build_id(SOURCE / "build/release/operators" / name)


@pytest.mark.parametrize("name", OPERATORS)
def test_the_binary_is_hardened(name, archive, tmp_path):
    (tmp_path / name).write_bytes(archive.content[f"usr/local/bin/{name}"])
    told = out("llvm-readelf-19", "--dynamic", "--program-headers", "--wide", tmp_path / name)
    assert "NOW PIE" in told and "GNU_RELRO" in told
    assert re.search(r"GNU_STACK .* RW +0", told), "the stack cannot be executed"
    imported = out("llvm-readelf-19", "--dyn-syms", tmp_path / name)
    for mark in ("__stack_chk_fail", "__glibcxx_assert_fail", "__memcpy_chk"):
        assert mark in imported


def test_pause_is_one_static_program_under_a_megabyte(archives, tmp_path):
    content = archives["esi-pause"].content["pause"]
    assert len(content) < 1_000_000
    (tmp_path / "pause").write_bytes(content)
    assert "INTERP" not in out("llvm-readelf-19", "--program-headers", tmp_path / "pause")
