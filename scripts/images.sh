#!/usr/bin/env bash
# Makes the images of ESI as OCI archives in build/images (ESI_IMAGES names another folder), without a
# container engine, a registry or root: all of them, or those named, e.g. `scripts/images.sh esi-pause`.
# Builds no operator: `make build` comes first. One commit gives one digest; REVISION, SOURCE (the URL of the
# sources) and SOURCE_DATE_EPOCH are needed from outside only where there is no git checkout.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -z ${SOURCE_DATE_EPOCH:-} || -z ${REVISION:-} ]]; then
    if ! head=$(git log -1 --format='%ct %H'); then
        echo "images: git does not say which commit this is: set SOURCE_DATE_EPOCH and REVISION" >&2
        exit 1
    fi
    changed=$(git status --porcelain --untracked-files=no)
    export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-${head% *}}
    export REVISION=${REVISION:-${head#* }${changed:+-dirty}}
fi
folder=${ESI_IMAGES:-build/images}
scripts/images/build.py "$folder" "$@"
echo "images: written to $folder as NAME.tar, each with its bill of materials NAME.spdx.json"
