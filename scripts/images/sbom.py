"""The bill of materials of an image, as SPDX 2.3 in JSON, made from what is in its layers.

Debian packages are read from var/lib/dpkg/status.d, Python packages from their dist-info folders; each file
belongs to the package that lists it, any other to the image's own program. So a file of unknown origin
cannot be in an image without being named.
"""
import hashlib
import json
import re
import uuid
from datetime import datetime, timezone
from email.parser import Parser
from pathlib import Path
from urllib.parse import quote

import debian

# The main licence of a Debian source package, in SPDX's names, from its copyright file, which names all
# others and is in the image. A package that is missing here is recorded as NOASSERTION.
LICENCES = {
    "base-files": "GPL-2.0-or-later", "boost1.81": "BSL-1.0", "bzip2": "bzip2-1.0.6",
    "cli11": "BSD-3-Clause", "expat": "MIT", "fmtlib": "MIT",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1", "glibc": "LGPL-2.1-or-later", "libffi": "MIT",
    "libxcrypt": "LGPL-2.1-or-later", "nlohmann-json3": "MIT", "openssl": "Apache-2.0",
    "prometheus-cpp": "MIT", "python3-defaults": "Python-2.0", "python3.11": "Python-2.0",
    "simdjson": "Apache-2.0", "spdlog": "MIT", "util-linux": "BSD-3-Clause", "xz-utils": "0BSD",
    "yaml-cpp": "MIT", "zlib": "Zlib",
}
UNKNOWN = "NOASSERTION"


def spdx_id(kind, text):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def described(kind, name, version, purl, *, licence=UNKNOWN, purpose="LIBRARY", supplier=UNKNOWN):
    return {
        "SPDXID": spdx_id(kind, name), "name": name, "versionInfo": version, "supplier": supplier,
        "downloadLocation": UNKNOWN, "filesAnalyzed": False, "licenseConcluded": UNKNOWN,
        "licenseDeclared": licence, "copyrightText": UNKNOWN, "primaryPackagePurpose": purpose,
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": purl}]}


def debian_package(fields):
    """A package from the fields of its stanza."""
    name, version = fields["Package"], fields["Version"]
    source = fields.get("Source", name).split()[0]
    purl = (f"pkg:deb/debian/{quote(name)}@{quote(version)}?arch={fields['Architecture']}"
            f"&distro=debian-12&upstream={quote(source)}")
    return described("deb", name, version, purl, licence=LICENCES.get(source, UNKNOWN),
                     supplier="Organization: Debian")


def debian_packages(layer):
    """Each recorded package with the paths of its files."""
    for record in sorted((layer / debian.RECORDS).glob("*.md5sums")):
        stanza = record.with_suffix("")
        # The paths are those of the package; in the image /lib is a link into /usr.
        listed = [line.split(maxsplit=1)[1] for line in record.read_text().splitlines()]
        files = {str((layer / path).resolve().relative_to(layer.resolve())) for path in listed}
        files |= {str(path.relative_to(layer)) for path in (record, stanza)}
        yield debian_package(Parser().parsestr(stanza.read_text())), files


def python_packages(layer):
    for folder in sorted(layer.glob("usr/local/lib/python3*/dist-packages/*.dist-info")):
        fields = Parser().parsestr((folder / "METADATA").read_text(), headersonly=True)
        licence = fields["License-Expression"] or fields["License"] or UNKNOWN
        purl = f"pkg:pypi/{fields['Name'].lower().replace('_', '-')}@{fields['Version']}"
        listed = [line.split(",")[0] for line in (folder / "RECORD").read_text().splitlines()]
        files = {str((folder.parent / path).relative_to(layer)) for path in listed}
        yield described("pypi", fields["Name"], fields["Version"], purl,
                        licence=licence if re.fullmatch(r"[\w.-]+", licence) else UNKNOWN), files


def file_entries(layers):
    """Path -> SPDX file, for every regular file of the image."""
    paths = sorted((str(path.relative_to(layer)), path) for layer in layers for path in layer.rglob("*")
                   if path.is_file() and not path.is_symlink())
    entries = {}
    for number, (name, path) in enumerate(paths):
        content = path.read_bytes()
        entries[name] = {
            "SPDXID": f"SPDXRef-file-{number}", "fileName": "./" + name, "licenseConcluded": UNKNOWN,
            "copyrightText": UNKNOWN,
            "checksums": [{"algorithm": kind, "checksumValue": hashlib.new(kind, content).hexdigest()}
                          for kind in ("SHA1", "SHA256")]}
    return entries


def verification_code(entries):
    """SPDX 2.3, 7.9: the SHA1 over the sorted SHA1s of the package's files."""
    sums = sorted(entry["checksums"][0]["checksumValue"] for entry in entries)
    return {"packageVerificationCodeValue": hashlib.sha1("".join(sums).encode()).hexdigest()}


def relation(one, kind, other):
    return {"spdxElementId": one["SPDXID"], "relationshipType": kind, "relatedSpdxElement": other["SPDXID"]}


def document(image, layers, compiled_in, epoch):
    """The SPDX document of the image with these layers. `compiled_in` names the Debian packages whose code
    is in the program though none of their files is in the image: headers and static libraries."""
    container = described("image", image.name, image.version, f"pkg:oci/{image.name}?tag={image.version}",
                          licence="Apache-2.0", purpose="CONTAINER")
    program = described("program", image.name, image.version, f"pkg:generic/{image.name}@{image.version}",
                        licence="Apache-2.0", purpose="APPLICATION")
    layers = [Path(layer) for layer in layers]
    contents = [found for layer in layers for found in (*debian_packages(layer), *python_packages(layer))]
    files = file_entries(layers)
    claimed = set().union(*(paths for _, paths in contents))
    contents.insert(0, (program, set(files) - claimed))

    relations = []
    for found, paths in contents:
        entries = [files[path] for path in sorted(paths & set(files))]
        relations.append(relation(container, "CONTAINS", found))
        if entries:
            found |= {"filesAnalyzed": True, "packageVerificationCode": verification_code(entries)}
        relations += [relation(found, "CONTAINS", entry) for entry in entries]
    inside = []
    for name in compiled_in:
        inside.append(debian_package(Parser().parsestr(debian.package(name).stanza)))
        relations.append(relation(program, "STATIC_LINK", inside[-1]))

    made = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": image.name,
        "creationInfo": {"created": f"{datetime.fromtimestamp(epoch, timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
                         "creators": ["Organization: ESI", "Tool: scripts/images"]},
        "packages": [container, *(found for found, _ in contents), *inside],
        "files": list(files.values()),
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                           "relatedSpdxElement": container["SPDXID"]}, *relations]}
    # A namespace of its own for each content, the same for the same content.
    digest = json.dumps(made, sort_keys=True)
    return {"documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}"} | made
