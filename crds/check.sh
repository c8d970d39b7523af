#!/usr/bin/env bash
# Checks the rules of the CRDs against a real API server (Kubernetes >= 1.31): refused/ and accepted/,
# see README.md. Needs kubectl and the CRDs in the cluster of KUBECONFIG; works in a namespace of its
# own, which it removes. Prints one line per failure; exit code 1 if there was any.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
namespace=esi-crds-check-$$
trap 'kubectl delete namespace "$namespace" --ignore-not-found --wait=false >/dev/null; rm -rf "$work"' EXIT
kubectl create namespace "$namespace" >/dev/null || exit 1

failures=0
checked=0
fail() {
    failures=$((failures + 1))
    printf 'FAIL %s: %s\n' "$1" "$2"
}

# Splits a file into $work/doc.1, doc.2, ... and says how many there are.
split() {
    rm -f "$work"/doc.*
    sed "s/^  namespace: default$/  namespace: $namespace/" "$1" |
        awk -v out="$work/doc." 'BEGIN { n = 1 } /^---$/ { n++; next } { print > (out n) } END { print n }'
}

for file in "$here"/accepted/*.yaml; do
    name=accepted/$(basename "$file")
    checked=$((checked + 1))
    count=$(split "$file")
    for ((i = 1; i <= count; i++)); do
        said=$(kubectl apply -f "$work/doc.$i" 2>&1) || fail "$name" "document $i: $said"
        if grep -q '^status:' "$work/doc.$i"; then
            said=$(kubectl replace --subresource=status -f "$work/doc.$i" 2>&1) ||
                fail "$name" "status of document $i: $said"
        fi
    done
done

for file in "$here"/refused/*.yaml; do
    name=refused/$(basename "$file")
    checked=$((checked + 1))
    mapfile -t expected < <(sed -n 's/^# expect: //p' "$file")
    [ ${#expected[@]} -gt 0 ] || { fail "$name" "no line says what to expect"; continue; }
    count=$(split "$file")
    for ((i = 1; i < count; i++)); do
        said=$(kubectl apply -f "$work/doc.$i" 2>&1) || fail "$name" "document $i: $said"
    done
    how=(apply)
    grep -q '^status:' "$work/doc.$count" && how=(replace --subresource=status)
    if said=$(kubectl "${how[@]}" -f "$work/doc.$count" 2>&1); then
        fail "$name" "was accepted"
        continue
    fi
    for part in "${expected[@]}"; do
        [[ $said == *"$part"* ]] || fail "$name" "expected \"$part\", got: $said"
    done
    [ "${VERBOSE:-}" ] && printf '%s\n    %s\n' "$name" "$said"
done

printf '%d files checked, %d failures\n' "$checked" "$failures"
[ "$failures" = 0 ]
