#!/usr/bin/env bash
# Tests of the page in Debian's Chromium.
#   run.sh [--junit-xml=FILE] [OPTION OF node --test...] [TEST FILE...]      all of tests/, or some
# ESI_PAGE_URL=http://127.0.0.1:8082 adds the tests that look at a server which runs already.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$here/../../scripts/setup.sh" "$here/debian-packages.txt"
ESI_PAGE_PACKAGES=$("$here/install.sh")
export ESI_PAGE_PACKAGES
export ESI_PAGE_OUTPUT="$here/../../build/page-tests/output"
mkdir -p "$ESI_PAGE_OUTPUT"
reporters=(--test-reporter=spec --test-reporter-destination=stdout)
files=()
for each in "$@"; do
    case $each in
        --junit-xml=*)
            # Before the tests change nothing of it: a run that dies leaves no old result.
            rm -f "${each#*=}"
            reporters+=(--test-reporter=junit --test-reporter-destination="$(realpath -m "${each#*=}")")
            ;;
        -*) reporters+=("$each") ;;
        *) files+=("$(realpath "$each")") ;;
    esac
done
cd "$here"
((${#files[@]} > 0)) || files=(tests/*.test.mjs)
# One file at a time: the frame times of one would suffer from the browser of another.
exec node --test --test-concurrency=1 "${reporters[@]}" "${files[@]}"
