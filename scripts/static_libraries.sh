#!/usr/bin/env bash
# Prints a folder with libfmt.a, libspdlog.a and libsimdjson.a, which Debian has as shared libraries only: compiled from
# Debian's sources of the versions that are installed, so that they fit the installed headers. Into the cache folder, once
# for each version: half a minute. apt checks the signature of the list of sources, and the checksums of what it gets.
set -euo pipefail
cache=${ESI_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/esi}
compiler=clang++-19
flags=(-O2 -fPIC -ffunction-sections -fdata-sections)

installed() { dpkg-query -W -f '${source:Package}=${source:Version}\n' "$1"; }
sources=("$(installed libfmt-dev)" "$(installed libspdlog-dev)" "$(installed libsimdjson-dev)")
made=$cache/static-$({ cat "${BASH_SOURCE[0]}"; echo "${sources[@]}"; "$compiler" --version; } | sha256sum | cut -c1-16)
mkdir -p "$cache"
exec 9>"$made.lock"
flock 9
if [[ ! -d $made ]]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    # Lists of its own, as machines rarely have those of sources: the machine's archives, their keys, the line deb-src.
    mkdir -p "$work/lists/partial" "$work/parts"
    for file in /etc/apt/sources.list.d/*.sources; do
        [[ -f $file ]] && sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/parts/${file##*/}"
    done
    [[ ! -f /etc/apt/sources.list ]] || sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$work/parts/machine.list"
    apt=(apt-get -q -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/parts"
        -o "Dir::State::Lists=$work/lists" -o "APT::Sandbox::User=$(id -un)")
    {
        cd "$work"
        "${apt[@]}" update
        "${apt[@]}" source "${sources[@]}"
        fmt=(fmtlib-*/src) spdlog=(spdlog-*/src) simdjson=(simdjson-*/src)
        archive() {
            local library=$1
            shift
            mkdir "$library"
            printf '%s\0' "${@:2}" | xargs -0 -P2 -I{} sh -c "$compiler ${flags[*]} $1 -c {} -o $library/\$(basename {}).o"
            ar rcs "$library.a" "$library"/*.o
        }
        archive libfmt -std=c++20 "${fmt[0]}/format.cc" "${fmt[0]}/os.cc"
        archive libspdlog "-std=c++20 -DSPDLOG_COMPILED_LIB -DSPDLOG_FMT_EXTERNAL" \
            "${spdlog[0]}"/{spdlog,async,color_sinks,file_sinks,stdout_sinks}.cpp
        archive libsimdjson "-std=c++17 -I${simdjson[0]} -I${simdjson[0]}/../include" "${simdjson[0]}/simdjson.cpp"
        mkdir "$made.new"
        mv lib*.a "$made.new"
        mv "$made.new" "$made"
    } >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; echo "static_libraries: ${sources[*]} could not be made" >&2; exit 1; }
fi
echo "$made"
