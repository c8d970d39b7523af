#!/usr/bin/python3
"""Lays out the layers of images as folders, with the bill of materials in the uppermost one.

    stage.py FOLDER IMAGE...      ->  FOLDER/IMAGE/runtime (if it has one), FOLDER/IMAGE/program

The three operators have equal `runtime` layers, so that a node and a registry keep one. SOURCE_DATE_EPOCH is
the time of all files. Builds no operator: build/release has them, or ESI_OPERATORS names another folder.
"""
import json
import os
import shutil
import sys
from fnmatch import fnmatch
from pathlib import Path

import debian
import sbom
from definitions import IMAGES, SOURCE

OPERATORS = Path(os.environ.get("ESI_OPERATORS", SOURCE / "build/release/operators"))
# Parts of Debian's Python that a program without a terminal, a compiler and a test suite never imports.
UNUSED = ("EXTERNALLY-MANAGED", "_sysconfigdata_*", "curses", "dbm", "distutils", "ensurepip", "idlelib",
          "lib2to3", "pydoc_data", "sitecustomize.py", "sqlite3", "test", "turtle*", "venv", "*_test*",
          "_curses*", "_dbm*", "_sqlite3*", "_xx*", "nis.*", "ossaudiodev.*", "readline.*", "xx*")


def write(path, content, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(mode)


def account(layer, uid):
    """The image's user by name, and names resolved by /etc/hosts first, as on every Debian."""
    write(layer / "etc/passwd", f"root:x:0:0:root:/:/sbin/nologin\nesi:x:{uid}:{uid}:ESI:/:/sbin/nologin\n")
    write(layer / "etc/group", f"root:x:0:\nesi:x:{uid}:\n")
    write(layer / "etc/nsswitch.conf", "hosts: files dns\n")


def stage_operator(image, runtime, program):
    binary = OPERATORS / image.name
    if not binary.exists():
        raise debian.Refused(f"{binary} is missing: run `make build` first")
    files = debian.DebianFiles(runtime)
    for library in debian.shared_libraries(binary):
        files.add(library)
    files.close()
    account(runtime, image.uid)
    target = program / "usr/local/bin" / image.name
    target.parent.mkdir(parents=True)
    debian.output("llvm-strip-19", "--strip-all", "-o", target, binary)


def needed_of_python(path):
    if path.parts[:2] == ("usr", "lib"):
        return not any(fnmatch(part, pattern) for part in path.parts for pattern in UNUSED)
    return path.parts[:2] == ("usr", "bin")


def copy_python_packages(target):
    """Without tests and commands, which are taken from the lists of files too: a command is a script that
    names the folder in which pip ran, so that its hash differs from machine to machine."""
    packages = Path(debian.output(SOURCE / "scripts/images/python_packages.sh").strip())
    shutil.copytree(packages, target, ignore=shutil.ignore_patterns("bin", "tests", "__pycache__"))
    for record in target.glob("*.dist-info/RECORD"):
        lines = record.read_text().splitlines(keepends=True)
        record.write_text("".join(line for line in lines if (target / line.split(",")[0]).exists()))


def copy_client(target):
    """The client of /api/v1, with the part that is made of docs/openapi.json."""
    project = SOURCE / "examples/clients/python"
    debian.output(project / "tests/venv.sh")
    shutil.copytree(project / "src/esi_client", target / "esi_client",
                    ignore=shutil.ignore_patterns("__pycache__", ".generated*"))


def stage_colocation(image, runtime, program):
    files = debian.DebianFiles(runtime)
    files.add("/usr/bin/python3")
    for name in ("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib"):
        for path in sorted(debian.package(name).checksums):
            if needed_of_python(Path(path)):
                files.add("/" + path)
    target = program / "usr/local/lib/python3.11/dist-packages"
    copy_python_packages(target)
    for binary in (*runtime.rglob("lib-dynload/*.so"), *target.rglob("*.so"), runtime / "usr/bin/python3.11"):
        for library in debian.shared_libraries(binary):
            files.add(library)
    files.close()
    account(runtime, image.uid)
    shutil.copytree(SOURCE / "examples/schedulers/colocation/src/esi_colocation", target / "esi_colocation",
                    ignore=shutil.ignore_patterns("__pycache__"))
    copy_client(target)
    write(program / "usr/local/bin/esi-colocation",
          "#!/usr/bin/python3\nimport sys\n\nfrom esi_colocation.main import program\n\n"
          "sys.exit(program())\n", 0o755)


def stage_pause(image, runtime, program):
    target = program / "pause"
    target.parent.mkdir(parents=True)
    debian.output("clang++-19", "-std=c++23", "-Os", "-Wall", "-Wextra", "-Werror", "-fno-exceptions",
                  "-fno-rtti", "-static", "-fuse-ld=lld", "-Wl,--gc-sections,--build-id", "-s", "-o", target,
                  SOURCE / "images/pause/pause.cpp")


STAGES = {"esi-colocation": stage_colocation, "esi-pause": stage_pause}


def stage(image, folder, epoch):
    """Makes the image's layers in `folder` and returns them, the lowest first."""
    runtime, program = folder / "runtime", folder / "program"
    shutil.rmtree(folder, ignore_errors=True)
    STAGES.get(image.name, stage_operator)(image, runtime, program)
    for path, text in [(f"usr/share/doc/{image.name}/copyright", (SOURCE / "LICENSE").read_bytes()),
                       *map(debian.copyright_of, image.compiled_in)]:
        write(program / path, text.decode())
    layers = [layer for layer in (runtime, program) if layer.exists()]
    bill = sbom.document(image, layers, image.compiled_in, epoch)
    write(program / "usr/share/sbom" / f"{image.name}.spdx.json", json.dumps(bill, indent=1) + "\n")
    for layer in layers:
        for path in (layer, *layer.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
            os.utime(path, (epoch, epoch), follow_symlinks=False)
    return layers


def main():
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    for name in names:
        stage(IMAGES[name], folder / name, int(os.environ.get("SOURCE_DATE_EPOCH", "0")))


if __name__ == "__main__":
    try:
        main()
    except debian.Refused as refused:
        sys.exit(f"images: {refused}")
