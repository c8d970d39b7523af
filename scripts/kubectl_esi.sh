#!/usr/bin/env bash
# Packs `kubectl esi` as krew takes it: build/kubectl-esi/kubectl-esi-VERSION-linux-ARCH.tar.gz, its sha256, and the
# manifest esi.yaml. Builds nothing: `make build` comes first. Needs no network; one commit gives the same bytes.
#   scripts/kubectl_esi.sh [URI]      URI: where the archive will be; else its file:// path
# In the archive: the program, the shared libraries that it needs but for glibc's (lib/, found by its RUNPATH), the
# licences of what is in it, and the program that kubectl asks for completion.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${ESI_OPERATORS:-build/release/operators}/kubectl-esi
folder=build/kubectl-esi
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
mkdir -p "$content/lib" "$content/licenses"

strip -o "$content/kubectl-esi" "$program"
# glibc's own are those of the machine: the loader is one of them.
own='^(ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv)\.so'
while read -r soname path; do
    [[ $soname =~ $own ]] && continue
    install -m 0755 "$(readlink -f "$path")" "$content/lib/$soname"
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
glibc=$(objdump -T "$content/kubectl-esi" "$content"/lib/* | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -V | tail -n 1)
sed -e "s|@VERSION@|$version|; s|@ARCH@|$arch|; s|@SHA256@|$sum|; s|@GLIBC@|$glibc|; s|@URI@|${1:-file://$PWD/$archive}|" \
    operators/kubectl-esi/krew.yaml.in >"$folder/esi.yaml"
echo "kubectl_esi: $archive, $(stat -c %s "$archive") bytes; manifest: $folder/esi.yaml"
