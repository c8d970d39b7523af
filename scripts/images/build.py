#!/usr/bin/python3
"""Makes OCI archives, each with its bill of materials beside it, and says what it made.

    build.py FOLDER IMAGE...

REVISION and SOURCE become labels, SOURCE_DATE_EPOCH the time of everything. Debian's Python runs it, because
the layers' compressed bytes, and so the digests, depend on its zlib.
"""
import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import debian
import oci
from definitions import IMAGES
from stage import stage


def main():
    folder, names = Path(sys.argv[1]), sys.argv[2:] or list(IMAGES)
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    architecture = debian.output("dpkg", "--print-architecture").strip()
    unknown = sorted(set(names) - set(IMAGES))
    if unknown:
        raise debian.Refused(f"there is no image {', '.join(unknown)}; there are {', '.join(IMAGES)}")
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{'image':34} {'archive':>9} {'unpacked':>9}  digest")
    for name in names:
        image = replace(IMAGES[name], labels={
            key: os.environ.get(key.upper(), "") for key in ("revision", "source")})
        with tempfile.TemporaryDirectory(dir=folder) as work:
            layers = stage(image, Path(work) / name, epoch)
            new = Path(work) / "archive"
            digest = oci.write(new, image, layers, architecture, epoch)
            shutil.copyfile(layers[-1] / f"usr/share/sbom/{name}.spdx.json", folder / f"{name}.spdx.json")
            unpacked = sum(path.lstat().st_size for layer in layers for path in layer.rglob("*")
                           if path.is_file())
            os.replace(new, folder / f"{name}.tar")
        packed = (folder / f"{name}.tar").stat().st_size
        print(f"{image.reference:34} {packed / 1e6:6.2f} MB {unpacked / 1e6:6.2f} MB  {digest}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except debian.Refused as refused:
        sys.exit(f"images: {refused}")
