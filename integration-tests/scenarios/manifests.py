"""What `make manifests` writes into helm/manifests, made of the chart as it is: once for each state of the chart."""
import functools
import hashlib
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAKES = ROOT / "scripts" / "manifests.sh"


@functools.cache
def made():
    """Their folder. Processes beside each other may all make it: the first that has it whole puts it in place."""
    files = sorted(each for each in (ROOT / "helm" / "esi").rglob("*") if each.is_file())
    state = hashlib.sha256(b"".join(each.read_bytes() for each in (*files, MAKES))).hexdigest()[:16]
    folder = ROOT / "build" / "manifests" / state
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as place:
            subprocess.run([MAKES, f"{place}/whole"], check=True)
            try:
                os.rename(f"{place}/whole", folder)
            except OSError:
                if not folder.is_dir():
                    raise
    return folder
