"""What each image is called, runs as and tells about itself."""
import re
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
VERSION = re.search(r"^project\(esi VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text(), re.MULTILINE)[1]


@dataclass(frozen=True)
class Image:
    name: str
    description: str
    entrypoint: str
    version: str = VERSION
    uid: int = 65532
    port: int | None = None
    env: tuple = ("PATH=/usr/local/bin:/usr/bin",)
    compiled_in: tuple = ()  # Debian packages whose headers or static libraries are in the program
    labels: dict = field(default_factory=dict)  # what only the caller knows: revision, source

    @property
    def reference(self):
        return f"localhost/{self.name}:{self.version}"

    def config(self):
        """The `config` of the image's configuration (image-spec, config.md)."""
        config = {"User": f"{self.uid}:{self.uid}", "Env": list(self.env), "Entrypoint": [self.entrypoint],
                  "Labels": {
                      f"org.opencontainers.image.{key}": value for key, value in {
                          "title": self.name, "description": self.description, "version": self.version,
                          "licenses": "Apache-2.0", **self.labels}.items() if value}}
        if self.port:
            config["ExposedPorts"] = {f"{self.port}/tcp": {}}
        return config


def operator(part, port, description):
    return Image(f"esi-{part}", description, f"/usr/local/bin/esi-{part}", port=port,
                 compiled_in=("libboost1.81-dev", "libcli11-dev", "nlohmann-json3-dev"))


IMAGES = {image.name: image for image in (
    operator("testbed", 8080,
             "ESI's Testbed operator: numbered slots on nodes, each free one held by a ghost pod"),
    operator("batchjob", 8081,
             "ESI's BatchJob operator: Spark and Flink jobs that wait, and are run in their slots"),
    operator("scheduling", 8082,
             "ESI's Scheduling operator: decides which jobs take which slots of a Testbed"),
    Image("esi-colocation",
          "ESI's example scheduler: measures jobs in pairs, then places each beside its best partner",
          "/usr/local/bin/esi-colocation",
          env=("PATH=/usr/local/bin:/usr/bin", "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1")),
    Image("esi-pause", "The program of ESI's ghost pods: it waits for SIGTERM", "/pause",
          version=(SOURCE / "images/pause/version").read_text().strip(), uid=65535,
          compiled_in=("libc6-dev",)),
)}
