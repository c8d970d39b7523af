#!/usr/bin/env bash
# Writes 1.34.mod and 1.34.sum, from which `K8S=1.34 ../build.sh` builds the control plane of that minor:
#   pin.sh 1.34.4
# `go list -m -versions k8s.io/kubernetes` lists the versions that there are.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
version=${1:?"which version of Kubernetes? For example: pin.sh 1.34.4"}
minor=${version%.*}
staging=v0.${version#*.}
export GOTOOLCHAIN=local
go=$(../go.sh)

own=$(mktemp --suffix=.mod)
trap 'rm -f "$own"' EXIT
cp "$("$go" list -m -f '{{.GoMod}}' "k8s.io/kubernetes@v$version")" "$own"
{
  echo "// Written by pin.sh $version; the go version, godebug and staging modules are those of Kubernetes' own go.mod."
  echo "module esi/integration-tests/cluster/versions"
  grep -E '^(go|godebug) ' "$own"
  echo "require k8s.io/kubernetes v$version"
  echo "replace ("
  awk -v version="$staging" '$2 == "=>" && $3 ~ /^\.\/staging\// { print $1, "=>", $1, version }' "$own"
  echo ")"
} >"$minor.mod"
rm -f "$minor.sum"
"$go" mod tidy -modfile="$minor.mod"
echo "$minor.mod: $(grep -c '=>' "$minor.mod") modules at $staging"
