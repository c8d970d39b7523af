import os
import shutil
import subprocess
from pathlib import Path

import pytest

from archive import Archive

SOURCE = Path(__file__).resolve().parents[2]
NAMES = ("esi-testbed", "esi-batchjob", "esi-scheduling", "esi-colocation", "esi-pause")
EPOCH, REVISION = "1700000000", "0123456789abcdef0123456789abcdef01234567"


def make_images(folder, *names, umask=0o022, **environment):
    labels = {"SOURCE_DATE_EPOCH": EPOCH, "REVISION": REVISION, "ESI_IMAGES": str(folder)}
    subprocess.run([SOURCE / "scripts/images.sh", *names], check=True, umask=umask,
                   env=os.environ | labels | environment)
    return folder


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """All images, made for these tests: at a time and of a revision that are literals."""
    return make_images(tmp_path_factory.mktemp("images"), SOURCE="https://source.example/esi")


@pytest.fixture(scope="session")
def archives(folder):
    return {name: Archive(folder / f"{name}.tar") for name in NAMES}


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def archive(archives, name):
    return archives[name]


class Podman:
    """A store of its own for this session, and containers as restricted as the chart's."""
    RESTRICTED = ("--pull=never", "--network=none", "--read-only", "--read-only-tmpfs=false",
                  "--cap-drop=all", "--security-opt=no-new-privileges",
                  # Podman's defaults are above the limits of machines without CAP_SYS_RESOURCE.
                  "--ulimit=nofile=1000:1000", "--ulimit=nproc=1000:1000")

    def __init__(self, root):
        self.base = ("podman", f"--root={root}/store", f"--runroot={root}/run", "--storage-driver=vfs",
                     "--runtime=runc", "--cgroup-manager=cgroupfs", "--events-backend=none")

    def __call__(self, *arguments):
        return subprocess.run([*self.base, *arguments], capture_output=True, text=True, timeout=120)

    def out(self, *arguments):
        done = self(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def run(self, *arguments):
        return self("run", "--rm", *self.RESTRICTED, *arguments)


@pytest.fixture(scope="session")
def podman(folder, tmp_path_factory):
    """Podman with all images loaded from their archives."""
    namespaces = subprocess.run(["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "true"],
                                capture_output=True, text=True)
    if os.geteuid() != 0 or namespaces.returncode != 0:
        pytest.skip(f"containers need root and the right to make namespaces: {namespaces.stderr.strip()}")
    root = tmp_path_factory.mktemp("podman")
    podman = Podman(root)
    for name in NAMES:
        podman.out("load", "--input", str(folder / f"{name}.tar"))
    yield podman
    podman.out("rm", "--all", "--force", "--time=0")
    podman.out("rmi", "--all", "--force")
    shutil.rmtree(root)
