#!/usr/bin/env bash
# Looks for known vulnerabilities in everything that registries give: Python packages (pip-audit) and npm's.
# For a release; needs the internet. What could not be looked up is a failure, as it is no answer.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

cache=${ESI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/esi}
venv=$cache/audit-$(sha256sum scripts/audit/requirements.txt | cut -c1-16)
if [[ ! -e $venv/ready ]]; then
    rm -rf "$venv"
    python3 -m venv "$venv" || exit 1
    "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r scripts/audit/requirements.txt || exit 1
    touch "$venv/ready"
fi

failed=0
check() {  # check NAME COMMAND...
    echo
    echo "--> $1"
    "${@:2}" || failed=1
}
for list in integration-tests/scenarios integration-tests/interface integration-tests/images examples/clients/python \
    examples/clients/python/tests examples/schedulers/colocation examples/schedulers/colocation/tests scripts/audit; do
    check "$list" "$venv/bin/pip-audit" --strict --disable-pip --progress-spinner off --requirement "$list/requirements.txt"
done
check integration-tests/cluster/go-requirements.txt "$venv/bin/pip-audit" --strict --disable-pip --progress-spinner off \
    --requirement integration-tests/cluster/go-requirements.txt
check integration-tests/stomp-clients npm audit --package-lock-only --prefix integration-tests/stomp-clients
if ((failed)); then
    echo "audit: vulnerabilities are known, or could not be looked up: see above" >&2
fi
exit $failed
