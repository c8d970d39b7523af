"""The Dockerfile makes the images that `make images` makes."""
import os
import re
import shlex
import shutil
import subprocess
from functools import cache

import pytest

from archive import Archive
from conftest import EPOCH, NAMES, REVISION, SOURCE

TEXT = (SOURCE / "Dockerfile").read_text()
BASE = "localhost/debian:12-slim"


def stages():
    """Stage -> its base and instructions, as (word, rest)."""
    found = {}
    for line in re.sub(r"\\\n", " ", TEXT).splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            base, _, name = rest.split()
            found[name] = (base, instructions := [])
        elif found and word and not word.startswith("#"):
            instructions.append((word, rest.strip()))
    return found


def configuration(target):
    """What the target's instructions and those of its base come to."""
    base, instructions = stages()[target]
    config = {"Env": {}, "Labels": {}, "ExposedPorts": {}} if base == "scratch" else configuration(base)
    for word, rest in instructions:
        if word in ("ENV", "LABEL"):
            pairs = dict(part.split("=", 1) for part in shlex.split(rest))
            config["Env" if word == "ENV" else "Labels"] |= pairs
        elif word == "USER":
            config["User"] = rest
        elif word == "EXPOSE":
            config["ExposedPorts"] = {f"{rest}/tcp": {}}
        elif word == "ENTRYPOINT":
            config["Entrypoint"] = rest
    return config


def test_a_target_is_configured_like_the_archive(name, archive):
    written = configuration(name.removeprefix("esi-"))
    assert written["Entrypoint"] == f'["{archive.config["Entrypoint"][0]}"]'
    assert written["User"] == archive.config["User"]
    assert written["ExposedPorts"] == archive.config.get("ExposedPorts", {})
    assert sorted(f"{key}={value}" for key, value in written["Env"].items()) == sorted(archive.config["Env"])
    given = {"${VERSION}": re.search("^ARG VERSION=(.*)$", TEXT, re.MULTILINE)[1], "${REVISION}": REVISION,
             "${SOURCE}": "https://source.example/esi"}
    labels = {key: given.get(value, value) for key, value in written["Labels"].items()}
    assert labels.pop("org.opencontainers.image.base.name") == "${BASE}"
    assert labels == archive.config["Labels"]


def test_it_installs_nothing_that_the_project_does_not_install():
    def listed(path):
        return {line for line in (SOURCE / path).read_text().splitlines() if not line.startswith("#")}

    assert listed("scripts/images/debian-packages.txt") < listed("scripts/debian-packages.txt")


@pytest.fixture(scope="module")
def buildah(tmp_path_factory):
    """Buildah with a store of its own, and an image in the place of debian:12-slim: made by mmdebstrap and,
    like that one, without manuals and without documentation but copyright files. pip in it trusts whom this
    machine trusts, e.g. a company's proxy. It has ccache, so that what is compiled is what has changed."""
    if os.geteuid() != 0:
        pytest.skip("buildah builds as root here, and this user is not root")
    packages = SOURCE / "integration-tests/images/dockerfile-packages.txt"
    subprocess.run([SOURCE / "scripts/setup.sh", packages], check=True)
    root = tmp_path_factory.mktemp("buildah")

    def run(*arguments):
        base = ("buildah", f"--root={root}/store", f"--runroot={root}/run", "--storage-driver=overlay")
        done = subprocess.run([*base, *arguments], check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    options = [f"--dpkgopt={option}" for option in (
        "path-exclude=/usr/share/man/*", "path-exclude=/usr/share/doc/*",
        "path-include=/usr/share/doc/*/copyright")]
    subprocess.run(["mmdebstrap", "--variant=minbase", "--include=ccache", *options, "bookworm",
                    root / "base.tar"], check=True)
    container = run("from", "scratch")
    run("add", container, str(root / "base.tar"), "/")
    # Under a name of its own, because the package ca-certificates writes its bundle anew.
    run("add", container, "/etc/ssl/certs/ca-certificates.crt", "/etc/trusted.crt")
    run("config", "--env=PIP_CERT=/etc/trusted.crt", container)
    run("commit", "--rm", container, BASE)
    yield run
    run("rm", "--all")
    run("rmi", "--all", "--force")
    shutil.rmtree(root)


@pytest.fixture(scope="module")
def build(buildah, tmp_path_factory):
    """Builds a target once; the stages that targets share are built once too."""
    folder = tmp_path_factory.mktemp("built")
    compiled = subprocess.check_output(["ccache", "--get-config", "cache_dir"], text=True).strip()
    os.makedirs(compiled, exist_ok=True)

    @cache
    def build(name):
        buildah("build", "--layers", "--isolation=chroot", "--network=host",
                f"--volume={compiled}:/root/.cache/ccache", f"--build-arg=BASE={BASE}",
                f"--build-arg=REVISION={REVISION}", "--build-arg=SOURCE=https://source.example/esi",
                f"--build-arg=SOURCE_DATE_EPOCH={EPOCH}", f"--target={name.removeprefix('esi-')}",
                f"--tag={name}", str(SOURCE))
        buildah("push", name, f"oci-archive:{folder}/{name}.tar:localhost/{name}:dockerfile")
        return Archive(folder / f"{name}.tar")

    return build


@pytest.mark.dockerfile
def test_what_is_built_has_the_archives_files(name, archive, build):
    """The versions of libraries may differ: the build gets the newest, this machine has what it has."""
    def kinds(image):
        return {re.sub(r"(\.so)[.\d]*$", r"\1", path): (entry.type, entry.mode & 0o7777, entry.uid, entry.gid)
                for path, entry in image.entries.items()}

    built = build(name)
    assert kinds(built) == kinds(archive)
    assert built.config["User"] == archive.config["User"]
    assert built.config["Entrypoint"] == archive.config["Entrypoint"]
    assert built.labels == archive.labels | {"base.name": BASE}


@pytest.mark.dockerfile
@pytest.mark.parametrize("name", NAMES[:4])
def test_what_is_built_runs(podman, build, name):
    podman.out("load", "--input", str(build(name).path))
    done = podman.run(f"localhost/{name}:dockerfile", "--help")
    assert done.returncode == 0 and "--" in done.stdout, done.stderr
