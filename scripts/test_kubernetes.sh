#!/usr/bin/env bash
# The core of the scenarios on a real control plane of Kubernetes $K8S, such as 1.34, which is built
# first if need be. Writes that version's row of docs/kubernetes-versions.md anew.
set -euo pipefail
cd "$(dirname "$0")/.."
export K8S=${K8S:?"which version? For example: make test K8S=1.34"}
result=$PWD/build/kubernetes/$K8S.xml

scripts/setup.sh
scripts/build.sh release esi-testbed esi-batchjob esi-scheduling kubectl-esi
mkdir -p "${result%/*}"
rm -f "$result"
code=0
integration-tests/scenarios/run.sh -m core --junit-xml="$result" || code=$?
# 1: tests failed; more: not all of them ran
[[ $code -le 1 && -f $result ]] || exit "$code"
echo
scripts/kubernetes_table.py "$K8S" "$result" docs/kubernetes-versions.md
exit "$code"
