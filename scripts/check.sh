#!/usr/bin/env bash
# What can be said of the sources without building them: format, names and links of the documents, which folder includes
# which, that no decision reads text, that one table lists the kinds of application, that the
# recipes name what their sample changes touch, spelling, shell scripts; and clang-tidy for what was changed, where a build has been
# configured.
#   scripts/check.sh [STEP...]      all steps, or some: format names kinds recipes layers decisions spelling shell tidy
#   BASE=COMMIT                     tidy: changed since when; else since main was left, or the last commit
#   PRESET=release                  tidy: whose compile commands
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export PYTHONDONTWRITEBYTECODE=1
# A file takes clang-tidy some 10 s.
most_tidied=30

format() {
    local code=0 go gofmt wrong
    git ls-files '*.cpp' '*.h' | xargs -P "$(nproc)" -n 50 clang-format-19 --dry-run -Werror || code=1
    go=$(integration-tests/cluster/go.sh) || return 1
    gofmt=$(GOTOOLCHAIN=local "$go" env GOROOT)/bin/gofmt
    [[ -x $gofmt ]] || gofmt=$(dirname "$go")/gofmt
    wrong=$(git ls-files '*.go' | xargs "$gofmt" -l) || code=1
    if [[ -n $wrong ]]; then
        printf '%s: gofmt would change it\n' "$wrong"
        code=1
    fi
    ((code == 0)) || echo "\`make format\` mends it"
    return $code
}

names() {
    python3 scripts/check/names.py && (cd scripts/check && python3 -m unittest -q test_checks)
}

kinds() { python3 scripts/check/kinds.py; }

recipes() { python3 scripts/check/recipes.py; }

layers() { python3 scripts/layers.py && echo "layers: no include runs up"; }

decisions() { python3 scripts/check/decisions.py; }

spelling() { python3 scripts/check/spelling.py; }

shell() {
    # SC2154: a file that others source uses their variables; `set -u` is for that.
    git ls-files '*.sh' .ci/run scripts/pre-commit |
        xargs shellcheck --external-sources --source-path=SCRIPTDIR --severity=warning --exclude=SC2154
}

tidy() {
    local base=${BASE:-} build=build/${PRESET:-release} changed files
    if [[ ! -f $build/compile_commands.json ]]; then
        echo "skipped: $build/compile_commands.json is missing; \`make build\` makes it"
        return 0
    fi
    [[ -n $base ]] || base=$(git merge-base HEAD origin/main 2>/dev/null) || base=""
    # On main itself, or without a remote: what the last commit changed.
    if [[ -z $base || $base == $(git rev-parse HEAD) ]]; then
        base=$(git rev-parse --verify --quiet HEAD~1) || {
            echo "skipped: there is no commit to compare with"
            return 0
        }
    fi
    changed=$(git diff --name-only --diff-filter=d "$base" -- 'common/*.cpp' 'operators/*.cpp')
    if [[ -z $changed ]]; then
        echo "no source file was changed since ${base:0:12}"
        return 0
    fi
    mapfile -t files <<<"$changed"
    local file sources=() tests=() code=0
    for file in "${files[@]}"; do
        if [[ $file == *_test.cpp || $file == *_bench.cpp ]]; then tests+=("$PWD/$file"); else sources+=("$PWD/$file"); fi
    done
    if ((${#files[@]} > most_tidied)); then
        echo "skipped: ${#files[@]} files changed since ${base:0:12}, more than $most_tidied; \`make tidy\` takes all there are"
        return 0
    fi
    echo "${#files[@]} files changed since ${base:0:12}"
    ((${#sources[@]} == 0)) || run-clang-tidy-19 -quiet -p "$build" "${sources[@]}" || code=1
    # A test that takes an optional without a value ends there, by the checks of the standard library.
    ((${#tests[@]} == 0)) ||
        run-clang-tidy-19 -quiet -p "$build" -checks=-bugprone-unchecked-optional-access "${tests[@]}" || code=1
    return "$code"
}

all=(format names kinds recipes layers decisions spelling shell tidy)
steps=("$@")
((${#steps[@]} > 0)) || steps=("${all[@]}")
failed=()
for each in "${steps[@]}"; do
    started=$SECONDS
    echo "--> $each"
    if [[ " ${all[*]} " != *" $each "* ]]; then
        echo "check: there is no step '$each'" >&2
        exit 2
    fi
    "$each" || failed+=("$each")
    ((SECONDS - started < 5)) || echo "    $((SECONDS - started)) s"
done
if ((${#failed[@]} > 0)); then
    echo "check: failed: ${failed[*]}" >&2
    exit 1
fi
echo "check: all is well"
