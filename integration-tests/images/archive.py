"""Reads OCI archives on its own, without the code that writes them."""
import gzip
import hashlib
import io
import json
import tarfile
from functools import cached_property


class Archive:
    def __init__(self, path):
        self.path = path
        with tarfile.open(path) as archive:
            self.files = {entry.name: archive.extractfile(entry).read() for entry in archive
                          if entry.isfile()}
        (self.descriptor,) = json.loads(self.files["index.json"])["manifests"]
        self.manifest = json.loads(self.blob(self.descriptor))
        self.image = json.loads(self.blob(self.manifest["config"]))
        self.config = self.image["config"]
        self.labels = {key.removeprefix("org.opencontainers.image."): value
                       for key, value in self.config["Labels"].items()}

    def blob(self, descriptor):
        content = self.files["blobs/" + descriptor["digest"].replace(":", "/")]
        assert len(content) == descriptor["size"]
        assert "sha256:" + hashlib.sha256(content).hexdigest() == descriptor["digest"]
        return content

    @cached_property
    def layers(self):
        return [gzip.decompress(self.blob(layer)) for layer in self.manifest["layers"]]

    @cached_property
    def entries(self):
        """Path -> tar entry, for all that is in the image."""
        found = {}
        for layer in self.layers:
            with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
                found |= {entry.name: entry for entry in tar}
        return found

    @cached_property
    def content(self):
        """Path -> bytes, for all regular files."""
        found = {}
        for layer in self.layers:
            with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
                found |= {entry.name: tar.extractfile(entry).read() for entry in tar if entry.isfile()}
        return found

    def bill(self):
        (path,) = (path for path in self.content if path.startswith("usr/share/sbom/"))
        return json.loads(self.content[path])
