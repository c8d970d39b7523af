#!/usr/bin/env bash
# Prints the path of a Helm 3, which is built once into the cache folder (some minutes).
set -euo pipefail
version=v3.22.0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${ESI_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/esi}/helm3
if [[ ! -x $cache/$version/helm ]]; then
    mkdir -p "$cache/$version"
    go=$("$here/../cluster/go.sh")
    echo "chart: building Helm $version" >&2
    link="-s -w -X helm.sh/helm/v3/internal/version.version=$version"
    GOBIN=$cache/$version CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS='' nice -n 5 \
        "$go" install -trimpath -ldflags "$link" "helm.sh/helm/v3/cmd/helm@$version" >&2
fi
echo "$cache/$version/helm"
