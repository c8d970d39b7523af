"""Copies files of Debian packages from this machine into the root of an image.

A file is copied only if it is as its package ships it, so that equal packages give equal images. With it go
the links that lead to it, its package's copyright file and the licences that this one refers to, and the
package's record under var/lib/dpkg/status.d, by which scanners know what the image consists of.
"""
import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

RECORDS = Path("var/lib/dpkg/status.d")


class Refused(Exception):
    """An image cannot be made; the message says why and what to do."""


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"LC_ALL": "C.UTF-8"})
    if done.returncode != 0:
        raise Refused(f"`{' '.join(map(str, command))}` failed: {done.stderr.strip()}")
    return done.stdout


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    architecture: str
    source: str
    stanza: str
    checksums: dict  # path without the first slash -> MD5


@cache
def package(name):
    """The installed package of this name; `name` may carry an architecture, as in libc6:amd64."""
    format_ = "${Package}\t${Version}\t${Architecture}\t${source:Package}\n${Conffiles}"
    first, *conffiles = output("dpkg-query", "-W", "-f", format_, name).splitlines()
    fields = first.split("\t")
    checksums = {}
    for line in conffiles:
        if line.strip():
            path, checksum, *_ = line.split()
            checksums[path.lstrip("/")] = checksum
    for listed in output("dpkg-query", "--control-show", name, "md5sums").splitlines():
        checksum, path = listed.split(maxsplit=1)
        checksums[path] = checksum
    # Status tells of this machine (whether the package is held back), not of the package.
    stanza = re.sub(r"^Status: .*\n", "", output("dpkg-query", "-s", name), flags=re.MULTILINE)
    return Package(*fields, stanza, checksums)


def names_of(path):
    """The file with and without /usr in front: on merged systems packages ship it under either name."""
    bare = path.removeprefix("/usr")
    return [bare, "/usr" + bare] if bare.startswith(("/bin", "/lib", "/sbin")) else [path]


@cache
def owners():
    """Path -> the package that ships it, for everything that is installed."""
    found = {}
    for line in output("dpkg-query", "-S", "/*").splitlines():
        names, _, path = line.partition(": ")
        if not line.startswith("diversion by"):
            found[path] = names.split(", ")[0]
    return found


def owner(path):
    for name in names_of(path):
        if name in owners():
            return owners()[name]
    raise Refused(f"{path} belongs to no Debian package, so its origin cannot be recorded. Images are made "
                  "of packaged files only: remove the local copy, or build on a clean Debian 12.")


def shared_libraries(program):
    """The files that the dynamic linker would load for this program, itself included."""
    listed = output("ldd", program)
    if "not found" in listed:
        raise Refused(f"{program} lacks a shared library on this machine:\n{listed}Run scripts/setup.sh.")
    return sorted(set(re.findall(r"(?:=> |^\s+)(/\S+) \(0x", listed, flags=re.MULTILINE)))


def copyright_of(name):
    """The package's copyright file: its path in an image, and its text."""
    path = f"usr/share/doc/{name.partition(':')[0]}/copyright"
    return path, Path("/" + path).read_bytes()


class DebianFiles:
    """What is taken from Debian packages into one root. `close` writes the records and comes last."""

    def __init__(self, root):
        self.root = Path(root)
        self.taken = {}  # package name -> {path in the package: MD5}

    def add(self, path):
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        target = self.root / path.lstrip("/")
        if os.path.lexists(target):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        name = owner(path)
        files = self.taken.setdefault(name, {})
        if os.path.islink(path):
            target.symlink_to(os.readlink(path))
            self.add(os.path.join(os.path.dirname(path), os.readlink(path)))
            return
        recorded = {known: checksum for known, checksum in package(name).checksums.items()
                    if "/" + known in names_of(path)}
        checksum = hashlib.md5(Path(path).read_bytes(), usedforsecurity=False).hexdigest()
        if checksum not in recorded.values():
            raise Refused(f"{path} is not as its package {name} ships it. Install the package again: "
                          f"apt-get install --reinstall {name}")
        shutil.copyfile(path, target)
        target.chmod(0o755 if os.access(path, os.X_OK) else 0o644)
        files |= recorded

    def add_licences(self, name):
        path, text = copyright_of(name)
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text)
        self.taken[name][path] = hashlib.md5(text, usedforsecurity=False).hexdigest()
        for licence in re.findall(rb"/usr/share/common-licenses/([\w.-]*\w)", text):
            common = "/usr/share/common-licenses/" + licence.decode()
            if os.path.exists(common):
                self.add(common)

    def close(self):
        """Adds what identifies the system and its packages, and the links of a merged /usr."""
        for path in ("/etc/debian_version", "/etc/os-release"):
            self.add(path)
        for name in sorted(self.taken):
            self.add_licences(name)
        for folder in ("bin", "lib", "lib64", "sbin"):
            if os.path.islink(f"/{folder}") and (self.root / "usr" / folder).exists():
                (self.root / folder).symlink_to(f"usr/{folder}")
        records = self.root / RECORDS
        records.mkdir(parents=True)
        for name, files in self.taken.items():
            record = package(name)
            (records / record.name).write_text(record.stanza)
            (records / f"{record.name}.md5sums").write_text(
                "".join(f"{checksum}  {path}\n" for path, checksum in sorted(files.items())))
