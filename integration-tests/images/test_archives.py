"""The archives: the same bytes every time, small, and read by the tools that people load them with."""
import json
import platform
import subprocess

import pytest

from archive import Archive
from conftest import NAMES, make_images

MEGABYTE = 1_000_000
LIMITS = {  # bytes of the archive, bytes unpacked: sizes of today and a tenth more
    "esi-testbed": (8.3, 24.5), "esi-batchjob": (7.7, 22.6), "esi-scheduling": (9.5, 28.0),
    "esi-colocation": (13.0, 41.7), "esi-pause": (0.4, 0.8)}
ENTRYPOINTS = {name: f"/usr/local/bin/{name}" for name in NAMES} | {"esi-pause": "/pause"}
PORTS = {"esi-testbed": "8080/tcp", "esi-batchjob": "8081/tcp", "esi-scheduling": "8082/tcp"}


def out(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_same_sources_give_the_same_bytes(folder, tmp_path):
    """Another folder, time zone, language and umask, minutes later, and Python packages installed anew."""
    again = make_images(tmp_path / "again", umask=0o077, SOURCE="https://source.example/esi",
                        TZ="Pacific/Chatham", LC_ALL="C", XDG_CACHE_HOME=str(tmp_path / "cache"))
    made = {path.name for path in folder.iterdir()}
    assert made == {f"{name}{ending}" for name in NAMES for ending in (".tar", ".spdx.json")}
    for name in sorted(made):
        assert (folder / name).read_bytes() == (again / name).read_bytes(), f"{name} differs"


def test_another_commit_changes_the_label_and_the_times(archives, tmp_path):
    make_images(tmp_path, "esi-pause", SOURCE_DATE_EPOCH="1700000001", REVISION="f" * 40)
    other = Archive(tmp_path / "esi-pause.tar")
    assert other.labels["revision"] == "f" * 40
    assert other.image["created"] == "2023-11-14T22:13:21Z"
    assert other.descriptor["digest"] != archives["esi-pause"].descriptor["digest"]


def test_the_image_says_what_it_is_and_how_it_runs(name, archive):
    version = "1" if name == "esi-pause" else "0.2.0"
    user = "65535:65535" if name == "esi-pause" else "65532:65532"
    description = archive.labels.pop("description")
    assert description.startswith(("ESI's ", "The program of ESI's "))
    assert archive.labels == {
        "title": name, "version": version, "licenses": "Apache-2.0", "source": "https://source.example/esi",
        "revision": "0123456789abcdef0123456789abcdef01234567"}
    assert archive.config["User"] == user
    assert archive.config["Entrypoint"] == [ENTRYPOINTS[name]]
    assert list(archive.config.get("ExposedPorts", [])) == ([PORTS[name]] if name in PORTS else [])
    assert archive.image["created"] == "2023-11-14T22:13:20Z"
    assert archive.descriptor["annotations"]["io.containerd.image.name"] == f"localhost/{name}:{version}"


def test_the_platform_is_this_machines(archive):
    expected = {"x86_64": {"os": "linux", "architecture": "amd64"},
                "aarch64": {"os": "linux", "architecture": "arm64", "variant": "v8"}}[platform.machine()]
    assert archive.descriptor["platform"] == expected
    assert expected.items() <= archive.image.items()


def test_the_image_is_small(name, archive):
    packed, unpacked = LIMITS[name]
    assert archive.path.stat().st_size <= packed * MEGABYTE
    assert sum(map(len, archive.content.values())) <= unpacked * MEGABYTE


def test_the_operators_share_the_layer_with_the_libraries(archives):
    lowest = {name: archives[name].manifest["layers"][0]["digest"] for name in PORTS}
    assert len(set(lowest.values())) == 1, lowest


@pytest.mark.parametrize("transport", ["oci-archive", "docker-archive"])
def test_skopeo_reads_it(name, archive, transport):
    read = json.loads(out("skopeo", "inspect", f"{transport}:{archive.path}"))
    assert read["Labels"]["org.opencontainers.image.title"] == name
    assert len(read["Layers"]) == len(archive.layers)
    if transport == "oci-archive":
        assert read["Digest"] == archive.descriptor["digest"]


def test_skopeo_copies_it_whole(archive, tmp_path):
    """Copying checks the digest of every blob, and unpacked layers against the configuration."""
    out("skopeo", "--insecure-policy", "copy", f"oci-archive:{archive.path}", f"dir:{tmp_path}")
    assert json.loads((tmp_path / "manifest.json").read_text()) == archive.manifest


def test_podman_names_it_as_the_chart_does(podman, name):
    loaded = podman.out("images", "--format", "{{.Repository}}:{{.Tag}}").splitlines()
    assert f"localhost/{name}:{'1' if name == 'esi-pause' else '0.2.0'}" in loaded
