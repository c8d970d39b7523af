#!/usr/bin/env bash
# Installs the Debian packages that are missing, of scripts/debian-packages.txt or of the lists that are
# named. Idempotent; as root or with sudo; says plainly what it cannot do.
#   scripts/setup.sh [LIST...]
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v apt-get >/dev/null; then
    echo "setup: this is not a Debian system. Install the equivalents of" \
         "${*:-scripts/debian-packages.txt} by hand." >&2
    exit 1
fi

lists=("${@:-scripts/debian-packages.txt}")
listed=$(grep -hv '^#' "${lists[@]}")
mapfile -t wanted <<<"$listed"
missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [[ $status == "install ok installed" ]] || missing+=("$package")
done
# With Debian's Node.js npm is a package of its own; with others it comes along.
if (($# == 0)) && ! command -v npm >/dev/null; then
    missing+=(npm)
fi
if ((${#missing[@]} == 0)); then
    exit 0
fi

as_root=()
if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
        echo "setup: these packages are missing and this user is neither root nor has sudo:" >&2
        echo "    apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi

echo "setup: installing ${#missing[@]} packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q
if ! "${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"; then
    echo "setup: apt-get could not install them; ESI is built on Debian 12 (bookworm)." >&2
    exit 1
fi
