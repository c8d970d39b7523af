"""Writes one image as an OCI archive that holds no trace of the machine or the hour it was made on.

The archive is an image layout (image-spec 1.0, image-layout.md) in a tar. It also has the manifest.json of
`docker save`, which points to the same blobs, so that every version of Docker loads it.
"""
import gzip
import hashlib
import io
import json
import os
import tarfile
from datetime import datetime, timezone
from functools import cache
from pathlib import Path

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
PLATFORMS = {  # Debian's name of the architecture -> image-spec's platform, which has Go's names
    "amd64": {"architecture": "amd64"},
    "arm64": {"architecture": "arm64", "variant": "v8"},
    "ppc64el": {"architecture": "ppc64le"},
    "riscv64": {"architecture": "riscv64"},
    "s390x": {"architecture": "s390x"},
}


def encoded(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digest_of(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


@cache
def compressed(tar):
    """Remembered, because images share layers."""
    return gzip.compress(tar, compresslevel=6, mtime=0)


def packed(entries, epoch):
    """A tar of (TarInfo, content) in the given order, all of it root's and of one time."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for entry, content in entries:
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime = epoch
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def folder_entries(folder):
    """Everything in the folder, parents first, in an order that does not depend on the file system."""
    for path in sorted(Path(folder).rglob("*")):
        entry = tarfile.TarInfo(str(path.relative_to(folder)))
        content = b""
        if path.is_symlink():
            entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, os.readlink(path), 0o777
        elif path.is_dir():
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
        else:
            content = path.read_bytes()
            entry.size, entry.mode = len(content), path.stat().st_mode & 0o755
        yield entry, content


class Archive:
    def __init__(self, epoch):
        self.epoch = epoch
        self.blobs = {}

    def blob(self, content, media_type):
        digest = digest_of(content)
        self.blobs["blobs/sha256/" + digest.removeprefix("sha256:")] = content
        return {"mediaType": media_type, "digest": digest, "size": len(content)}

    def write(self, path, files):
        files = {"oci-layout": encoded({"imageLayoutVersion": "1.0.0"})} | files | self.blobs
        entries = []
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            entries.append((entry, files[name]))
        Path(path).write_bytes(packed(entries, self.epoch))


def write(path, image, layers, architecture, epoch):
    """Writes the archive and returns the digest of its manifest. `layers` are folders, the lowest first."""
    if architecture not in PLATFORMS:
        raise ValueError(f"no image platform is known for Debian's architecture {architecture!r}; "
                         f"add it to PLATFORMS in {__file__}")
    platform = PLATFORMS[architecture] | {"os": "linux"}
    archive = Archive(epoch)
    tars = [packed(folder_entries(layer), epoch) for layer in layers]
    blobs = [archive.blob(compressed(tar), LAYER) for tar in tars]
    created = f"{datetime.fromtimestamp(epoch, timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
    config = archive.blob(encoded(platform | {
        "created": created, "config": image.config(),
        "rootfs": {"type": "layers", "diff_ids": [digest_of(tar) for tar in tars]},
        "history": [{"created": created, "created_by": f"make images: {layer.name}"} for layer in layers],
    }), CONFIG)
    manifest = archive.blob(encoded({"schemaVersion": 2, "mediaType": MANIFEST, "config": config,
                                     "layers": blobs}), MANIFEST)
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [
        manifest | {"platform": platform, "annotations": {
            "org.opencontainers.image.ref.name": image.reference,
            "io.containerd.image.name": image.reference}}]}

    def path_of(blob):
        return "blobs/sha256/" + blob["digest"].removeprefix("sha256:")

    docker = [{"Config": path_of(config), "RepoTags": [image.reference],
               "Layers": [path_of(blob) for blob in blobs]}]
    archive.write(path, {"index.json": encoded(index), "manifest.json": encoded(docker)})
    return manifest["digest"]
