# shellcheck shell=bash disable=SC2034
# Sourced by what runs the operators on a control plane: the tests, the benchmark, the demo. Sets
# ESI_OPERATORS and ESI_CLUSTER where the caller has not, and `python` of the tests' virtual
# environment. Builds nothing of C++.
scenarios=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export ESI_OPERATORS=${ESI_OPERATORS:-$(cd "$scenarios/../.." && pwd)/build/release/operators}
for main in "$scenarios"/../../operators/*/main.cpp; do
    name=$(basename "$(dirname "$main")")
    [[ $name == kubectl-esi ]] || name=esi-$name
    if [[ ! -x $ESI_OPERATORS/$name ]]; then
        echo "$ESI_OPERATORS/$name is missing: run \`make build\` first" >&2
        exit 1
    fi
done
python=$("$scenarios/../venv.sh" scenarios)
if [[ -z ${ESI_CLUSTER:-} ]]; then
    ESI_CLUSTER=$("$scenarios/../cluster/build.sh" | tail -n 1)
    export ESI_CLUSTER
fi
