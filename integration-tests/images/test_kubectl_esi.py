"""What scripts/kubectl_esi.sh packs: a program that needs nothing of the machine, and that krew installs."""
import os
import subprocess
import tarfile

import pytest

from conftest import EPOCH, SOURCE


def pack(folder):
    environment = os.environ | {"ESI_KUBECTL_FOLDER": str(folder), "SOURCE_DATE_EPOCH": EPOCH}
    subprocess.run([SOURCE / "scripts/kubectl_esi.sh"], check=True, env=environment, timeout=300)
    [archive] = folder.glob("*.tar.gz")
    return archive


@pytest.fixture(scope="session")
def packed(tmp_path_factory):
    return pack(tmp_path_factory.mktemp("packed") / "folder")


@pytest.fixture(scope="session")
def unpacked(packed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="session")
def krew(tmp_path_factory):
    go = subprocess.run([SOURCE / "integration-tests/cluster/go.sh"], check=True, capture_output=True, text=True).stdout.strip()
    program = tmp_path_factory.mktemp("krew") / "krew"
    subprocess.run([go, "build", "-trimpath", "-o", program, "sigs.k8s.io/krew/cmd/krew"], check=True, timeout=600,
                   cwd=SOURCE / "integration-tests/images/krew", env=os.environ | {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local"})
    return program


def test_the_program_is_static_and_small(unpacked):
    program = unpacked / "kubectl-esi"
    asked = subprocess.run(["readelf", "--wide", "--program-headers", "--dynamic", program], check=True, capture_output=True, text=True).stdout
    assert "LOAD" in asked
    assert "INTERP" not in asked and "(NEEDED)" not in asked
    assert program.stat().st_size < 16_000_000


def test_two_packings_give_the_same_bytes(packed, tmp_path):
    again = pack(tmp_path / "again")
    assert again.name == packed.name and again.read_bytes() == packed.read_bytes()


def test_licences_of_what_is_inside_come_along(unpacked):
    licences = {path.name for path in (unpacked / "licenses").iterdir()}
    assert {"libc6", "libstdc++6", "libssl3", "libfmt9", "libspdlog1.10", "libsimdjson14", "libyaml-cpp0.7", "libboost1.81-dev"} <= licences
    assert (unpacked / "LICENSE").read_bytes() == (SOURCE / "LICENSE").read_bytes()


@pytest.mark.skipif(os.geteuid() != 0, reason="chroot needs root")
def test_it_runs_where_there_is_nothing_else(unpacked, tmp_path):
    """No library, no loader, and an nsswitch.conf that names modules that a static program must not load."""
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    (root / "etc/hosts").write_text("127.0.0.1 api.example\n", "utf-8")
    (root / "etc/nsswitch.conf").write_text("hosts: mymachines mdns4_minimal [NOTFOUND=return] resolve\n", "utf-8")
    (root / "config").write_text("""
apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, user: test}}]
clusters: [{name: test, cluster: {server: "http://api.example:1"}}]
users: [{name: test, user: {}}]
""", "utf-8")
    os.link(unpacked / "kubectl-esi", root / "kubectl-esi")

    def run(*words):
        return subprocess.run(["chroot", root, "/kubectl-esi", *words], capture_output=True, text=True, timeout=60,
                              env={"KUBECONFIG": "/config", "PATH": os.environ["PATH"]})
    done = run("version", "--client")
    assert (done.returncode, done.stdout) == (0, "Client: 0.2.0\n"), done
    done = run("top")
    # The name was found: it is the connection that is refused.
    assert done.returncode > 0 and "api.example" in done.stderr and "refused" in done.stderr, done


def test_krew_installs_it(packed, krew, tmp_path):
    # Its other commands (list, upgrade, uninstall) want the index of all plugins, which is a git repository.
    done = subprocess.run([krew, "install", f"--manifest={packed.parent / 'esi.yaml'}", f"--archive={packed}"],
                          capture_output=True, text=True, timeout=60, env=os.environ | {"KREW_ROOT": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert "Installed plugin: esi" in done.stderr and "completion" in done.stderr
    program = tmp_path / "bin/kubectl-esi"
    assert subprocess.run([program, "version", "--client"], check=True, capture_output=True, text=True).stdout == "Client: 0.2.0\n"


def test_krew_refuses_another_archive(packed, krew, tmp_path):
    changed = tmp_path / packed.name
    changed.write_bytes(packed.read_bytes() + b"\0")
    done = subprocess.run([krew, "install", f"--manifest={packed.parent / 'esi.yaml'}", f"--archive={changed}"],
                          capture_output=True, text=True, timeout=60, env=os.environ | {"KREW_ROOT": str(tmp_path / "root")})
    assert done.returncode != 0 and "checksum" in done.stderr, done.stderr
