"""Writes the images of Spark, Flink and their operators into one OCI archive.

    archive.py OUT.tar LAYERS ARCHITECTURE

LAYERS is a folder with NAME.tar or NAME/ for each layer below. The layers are stored as they are, not
compressed, and each once: nothing here goes over a network, and four nodes unpack them.
"""
import hashlib
import io
import pathlib
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts" / "images"))

import oci  # noqa: E402  (after the path is set)

LAYER = "application/vnd.oci.image.layer.v1.tar"
JAVA = ["PATH=/usr/local/bin:/usr/bin:/bin", "JAVA_HOME=/usr/lib/jvm/java-17"]
SPARK = {"Env": [*JAVA, "SPARK_HOME=/opt/spark"], "User": "185", "WorkingDir": "/opt/spark/work-dir",
         "Entrypoint": ["/opt/entrypoint.sh"]}
FLINK = {"Env": [*JAVA, "FLINK_HOME=/opt/flink"], "User": "9999", "WorkingDir": "/opt/flink",
         "Entrypoint": ["/docker-entrypoint.sh"]}
OPERATOR = ["/usr/bin/tini", "-s", "--"]
#: name -> (its layers, the lowest first; what it runs as)
IMAGES = {
    "localhost/spark:4.0.1": (["base", "spark"], SPARK),
    "localhost/spark-operator:2.5.1": (
        ["base", "spark", "spark-operator"], SPARK | {"Entrypoint": [*OPERATOR, "/usr/bin/spark-operator"]}),
    "localhost/flink:1.19.1": (["base", "flink"], FLINK),
    "localhost/flink-operator:1.7.0": (["base", "flink-operator"], FLINK | {"Entrypoint": [
        *OPERATOR, "java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
        "-Dlog4j.configurationFile=/opt/flink/conf/log4j2.properties",
        # The standalone jar first: it replaces classes of another.
        "-cp", "/opt/flink-operator/flink-kubernetes-standalone-1.7.0.jar:/opt/flink-operator/*",
        "org.apache.flink.kubernetes.operator.FlinkOperator"]}),
}


def layer_file(folder, name):
    """The layer as a file: mmdebstrap's own, or packed out of a folder."""
    file = folder / f"{name}.tar"
    if not file.exists():
        file.write_bytes(oci.packed(oci.folder_entries(folder / name), epoch=0))
    return file


def add(archive, name, size, stream):
    entry = tarfile.TarInfo(name)
    entry.size = size
    archive.addfile(entry, stream)


def write(out, folder, architecture):
    platform = oci.PLATFORMS[architecture] | {"os": "linux"}
    with tarfile.open(out, "w", format=tarfile.PAX_FORMAT) as archive:
        def blob(content, media_type):
            digest = oci.digest_of(content)
            add(archive, f"blobs/sha256/{digest.removeprefix('sha256:')}", len(content), io.BytesIO(content))
            return {"mediaType": media_type, "digest": digest, "size": len(content)}

        layers = {}
        for name in dict.fromkeys(layer for used, _ in IMAGES.values() for layer in used):
            file = layer_file(folder, name)
            with open(file, "rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
                stream.seek(0)
                add(archive, f"blobs/sha256/{digest}", file.stat().st_size, stream)
            layers[name] = {"mediaType": LAYER, "digest": f"sha256:{digest}", "size": file.stat().st_size}
        manifests = []
        for reference, (used, config) in IMAGES.items():
            described = blob(oci.encoded(platform | {"config": config, "rootfs": {
                "type": "layers", "diff_ids": [layers[name]["digest"] for name in used]}}), oci.CONFIG)
            manifest = blob(oci.encoded({"schemaVersion": 2, "mediaType": oci.MANIFEST, "config": described,
                                         "layers": [layers[name] for name in used]}), oci.MANIFEST)
            manifests.append(manifest | {"platform": platform, "annotations": {
                "org.opencontainers.image.ref.name": reference, "io.containerd.image.name": reference}})
        for name, content in (("oci-layout", {"imageLayoutVersion": "1.0.0"}),
                              ("index.json", {"schemaVersion": 2, "mediaType": oci.INDEX,
                                              "manifests": manifests})):
            content = oci.encoded(content)
            add(archive, name, len(content), io.BytesIO(content))


if __name__ == "__main__":
    write(sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3])
