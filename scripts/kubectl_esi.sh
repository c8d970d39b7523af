#!/usr/bin/env bash
# Packs `kubectl esi` as krew takes it: build/kubectl-esi/kubectl-esi-VERSION-linux-ARCH.tar.gz, its sha256, and the
# manifest esi.yaml. `make build` comes first: its objects are linked once more, into a program that needs no library of
# the machine (static_libraries.sh; the network is needed once for that). One commit gives the same bytes.
#   scripts/kubectl_esi.sh [URI]      URI: where the archive will be; else its file:// path
# In the archive: the program, the licences of what is in it, and the program that kubectl asks for completion.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/release
program=$build/operators/kubectl-esi
folder=${ESI_KUBECTL_FOLDER:-build/kubectl-esi}
[[ -x $program ]] || { echo "kubectl_esi: $program is missing: run \`make build\` first" >&2; exit 1; }

version=$("$program" version --client | sed -n 's/^Client: //p')
case $(uname -m) in
    x86_64) arch=amd64 ;;
    aarch64) arch=arm64 ;;
    *) arch=$(uname -m) ;;
esac
name=kubectl-esi-$version-linux-$arch
content=$folder/$name
rm -rf "$folder"
mkdir -p "$content/licenses"
content=$(realpath "$content")

# The build's own link, with each shared library replaced by its archive.
static=$(scripts/static_libraries.sh)
link=$(ninja -C "$build" -t commands kubectl-esi | tail -n 1)
link=${link/#: && /}
link=${link/% && :/}
words=()
for word in $link; do
    case $word in
        -pie) word=-static-pie ;;
        -Wl,-rpath,*) continue ;;
        */lib*.so*)
            word=${word%%.so*}.a
            [[ ! -f $static/${word##*/} ]] || word=$static/${word##*/}
            # What has no archive is linked for other programs, or the link says what it lacks.
            [[ -f $word ]] || continue ;;
        operators/kubectl-esi) word=$content/kubectl-esi ;;
    esac
    words+=("$word")
done
(cd "$build" && "${words[@]}" -s)

while read -r _ path; do
    package=$(dpkg -S "$(readlink -f "$path")" 2>/dev/null || dpkg -S "$(realpath --relative-base=/usr "$(readlink -f "$path")" | sed 's|^|/|')")
    package=${package%%:*}
    install -m 0644 "/usr/share/doc/$package/copyright" "$content/licenses/$package"
done < <(ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// {print $1, $3}')
# What is compiled in.
for package in libboost1.81-dev libcli11-dev nlohmann-json3-dev libyaml-cpp-dev; do
    [[ -f /usr/share/doc/$package/copyright ]] && install -m 0644 "/usr/share/doc/$package/copyright" "$content/licenses/$package"
done
install -m 0644 LICENSE "$content/LICENSE"
"$content/kubectl-esi" completion kubectl >"$content/kubectl_complete-esi"
chmod 0755 "$content/kubectl_complete-esi"

epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
archive=$folder/$name.tar.gz
tar --create --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --format=gnu \
    -C "$content" . | gzip --no-name --best >"$archive"
sum=$(sha256sum "$archive")
sum=${sum%% *}
echo "$sum  $name.tar.gz" >"$archive.sha256"
sed -e "s|@VERSION@|$version|; s|@ARCH@|$arch|; s|@SHA256@|$sum|; s|@URI@|${1:-file://$(realpath "$archive")}|" \
    operators/kubectl-esi/krew.yaml.in >"$folder/esi.yaml"
echo "kubectl_esi: $archive, $(stat -c %s "$archive") bytes; manifest: $folder/esi.yaml"
