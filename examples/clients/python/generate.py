#!/usr/bin/env python3
"""Makes the package esi_client.generated out of openapi.json by openapi-python-client.

    generate.py                 into src/esi_client/generated, if that is not what the document gives
    generate.py FOLDER          into a new FOLDER
"""
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE / "src" / "esi_client" / "generated"
PINNED = "0.29.1"  # as pyproject.toml has it: another version writes another text
STAMP = "MADE_FROM"


def made_from() -> str:
    """What the result depends on."""
    whole = hashlib.sha256()
    for each in ("openapi.json", "generator.yaml", "generate.py"):
        whole.update((HERE / each).read_bytes())
    return f"openapi-python-client {PINNED}, sha256 of document, options and script {whole.hexdigest()}\n"


def generate(folder: pathlib.Path) -> None:
    """A new folder with the package."""
    found = version("openapi-python-client")
    if found != PINNED:
        sys.exit(f"generate: openapi-python-client is {found}, and must be {PINNED}")
    with tempfile.TemporaryDirectory() as place:
        document = pathlib.Path(place) / "openapi.json"
        document.write_text(json.dumps(without_streams(json.loads((HERE / "openapi.json").read_text("utf-8")))))
        run(document, folder)
    for each in folder.rglob("__pycache__"):
        shutil.rmtree(each)
    (folder / STAMP).write_text(made_from())


def without_streams(document: dict[str, Any]) -> dict[str, Any]:
    """An answer without an end is nothing that a function can return: events.py is in its place."""
    for path in [path for path, methods in document["paths"].items()
                 if any("events" in operation["tags"] for operation in methods.values())]:
        del document["paths"][path]
    return document


def run(document: pathlib.Path, folder: pathlib.Path) -> None:
    line = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning",
            "--path", str(document), "--config", str(HERE / "generator.yaml"),
            "--output-path", str(folder)]
    told = subprocess.run(line, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "PYTHONHASHSEED": "0", "NO_COLOR": "1"})
    if told.returncode:
        sys.exit(f"generate: openapi-python-client ended with {told.returncode}:\n{told.stdout}")


def refresh() -> None:
    stamp = TARGET / STAMP
    # Two suites of tests may ask for it at the same time.
    with open(TARGET.parent / ".generated.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != made_from():
            replace()


def replace() -> None:
    with tempfile.TemporaryDirectory(dir=TARGET.parent, prefix=".generated-") as place:
        new = pathlib.Path(place) / "generated"
        generate(new)
        shutil.rmtree(TARGET, ignore_errors=True)
        new.rename(TARGET)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        generate(pathlib.Path(sys.argv[1]))
    else:
        refresh()
