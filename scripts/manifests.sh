#!/usr/bin/env bash
# Makes helm/manifests (or FOLDER): the chart rendered with its defaults, for people without Helm; one file with all of it,
# and the parts that single features need.
#   scripts/manifests.sh [FOLDER]
# HELM names a helm; else it is the one of integration-tests/cluster.
set -euo pipefail
cd "$(dirname "$0")/.."
chart=helm/esi
if [[ ${1:-} == -* ]]; then
    echo "usage: scripts/manifests.sh [FOLDER]" >&2
    exit 2
fi
manifests=${1:-helm/manifests}

if [[ -n ${HELM:-} ]]; then
    helm=("$HELM")
else
    helm=("${ESI_CLUSTER:-$(integration-tests/cluster/build.sh | tail -n 1)}" helm)
fi

# render FILE TEMPLATES... -- OPTIONS...: without what is Helm's alone.
render() {
    local file=$manifests/$1 shown=()
    shift
    while (($#)) && [[ $1 != -- ]]; do
        shown+=(--show-only "templates/$1")
        shift
    done
    mkdir -p "$(dirname "$file")"
    {
        echo "# Made from the chart helm/esi by scripts/manifests.sh."
        "${helm[@]}" template esi "$chart" --namespace esi-system --skip-tests --kube-version 1.36 \
            --set crds.keep=false "${shown[@]}" "${@:2}" |
            sed -e '/^# Source: /d' -e '/^ *helm.sh\/chart: /d' -e '/^ *app.kubernetes.io\/managed-by: /d' |
            awk 'NR == 1 && /^---$/ { next } /^$/ { next } { print }'
    } >"$file"
}

render namespace.yaml namespace.yaml -- --set namespace.create=true
render priority-classes.yaml priority-classes.yaml
for operator in testbed batchjob scheduling; do
    render "rbac-$operator.yaml" "$operator/rbac.yaml"
done
for part in testbed batchjob scheduling operators orders pods nodes priority-classes bounds; do
    render "policies-$part.yaml" "admission/$part.yaml"
done
render nodes/rbac-scheduling-nodes.yaml scheduling/rbac-nodes.yaml -- --set interface.nodes.enabled=true
render nodes/policies-scheduling.yaml admission/scheduling.yaml -- --set interface.nodes.enabled=true
render isolation/rbac-testbed-nodes.yaml testbed/rbac-nodes.yaml
render debug/rbac-testbed-debug.yaml testbed/rbac-debug.yaml testbed/rbac-nodes.yaml -- --set debugEndpoints.enabled=true
render debug/policies-nodes.yaml admission/nodes.yaml -- --set debugEndpoints.enabled=true
render debug/policies-testbed-debug.yaml admission/testbed-debug.yaml -- --set debugEndpoints.enabled=true
render extender/priority-class.yaml priority-class-extender.yaml -- --set extender.enabled=true
render extender/policies-priority-classes.yaml admission/priority-classes.yaml -- --set extender.enabled=true
render flinkcluster/policy.yaml admission/flinkcluster.yaml -- --set flinkCluster.enabled=true
render flinkcluster/rights.yaml batchjob/rbac-flinkcluster.yaml -- --set flinkCluster.enabled=true
for part in gangs testbed; do
    render "gangs/policies-$part.yaml" "admission/$part.yaml" -- --set gangs.enabled=true
done
render gangs/rbac-testbed-gangs.yaml testbed/rbac-gangs.yaml -- --set gangs.enabled=true
render claims/priority-classes.yaml priority-classes-claims.yaml -- --set claims.enabled=true
for operator in testbed scheduling; do
    render "claims/rbac-$operator-claims.yaml" "$operator/rbac-claims.yaml" -- --set claims.enabled=true
done
render sparkdrivers/policies-sparkdrivers.yaml admission/sparkdrivers.yaml -- --set sparkDrivers.enabled=true,claims.enabled=true
for part in batchjob pods; do
    render "sparkdrivers/policies-$part.yaml" "admission/$part.yaml" -- --set sparkDrivers.enabled=true,claims.enabled=true
done
render sparkdrivers/rbac-batchjob-sparkdrivers.yaml batchjob/rbac-sparkdrivers.yaml -- --set sparkDrivers.enabled=true,claims.enabled=true
render install/install.yaml -- --set namespace.create=true
