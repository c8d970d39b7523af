#!/usr/bin/env bash
# Builds what real nodes consist of into a cache folder, each part once per content of its sources, and
# prints the path of the folder with all of them on the last line of its output. Everything else it
# says goes to stderr.
#
#     build.sh            all that is missing
#     build.sh --check    builds nothing: exit 3, and what is missing on stderr
#
# From nothing: 5 minutes of processor time beside esi-cluster's own; nothing if nothing changed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cluster=$here/../cluster
cache=${ESI_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/esi}/node
mkdir -p "$cache"

say() { printf 'nodes build: %s\n' "$*" >&2; }
digest() { sha256sum | cut -c1-16; }
content() { find "$@" -type f -print0 | sort -z | xargs -0 cat; }

export GOTOOLCHAIN=local CGO_ENABLED=0
go=$("$cluster/go.sh")
go_version=$("$go" env GOVERSION GOARCH)

# The operators of Spark and Flink go into images of their own.
operators=$(dirname "$("$cluster/build.sh" | tail -n1)")

# --- the parts: a function each, which is called with the folder to fill -----------------------------
flags=(-trimpath -buildvcs=false)

go_build() { # FOLDER OUTPUT PACKAGE LINK [FLAG...]: says how far it is
  local folder=$1 output=$2 package=$3 link=$4 log builder begin=$SECONDS
  shift 4
  log=$(mktemp)
  # A compiler's process is short: collecting its garbage costs more than the memory is worth.
  (cd "$folder" && GOGC=off GOMEMLIMIT=1GiB exec nice -n 5 "$go" build -v "${flags[@]}" "$@" -ldflags "$link" \
    -o "$output" "$package") 2>"$log" &
  builder=$!
  while kill -0 "$builder" 2>/dev/null; do
    sleep 1
    if (((SECONDS - begin) % 20 == 19)); then
      say "$(basename "$output"): $((SECONDS - begin)) s, $(grep -c '^[a-z][^: ]*$' "$log" || true) packages compiled"
    fi
  done
  if ! wait "$builder"; then
    grep -v '^[a-z][^: ]*$' "$log" >&2 || true
    rm -f "$log"
    say "$(basename "$output") failed"
    return 1
  fi
  rm -f "$log"
}

part_kubernetes() { # kubelet and kube-proxy; with the flags of esi-cluster, so that packages are shared
  local link
  link=$("$cluster/build.sh" --link-flags)
  go_build "$cluster" "$1/nodeparts" ./nodeparts "$link"
  ln -s nodeparts "$1/kubelet"
  ln -s nodeparts "$1/kube-proxy"
}

part_containerd() {
  local version
  version=$(cd "$here/containerd" && "$go" list -m -f '{{.Version}}' github.com/containerd/containerd/v2)
  go_build "$here/containerd" "$1/containerd" . \
    "-s -w -X github.com/containerd/containerd/v2/version.Version=$version -X github.com/containerd/containerd/v2/version.Revision=esi"
  ln -s containerd "$1/ctr"
  go_build "$here/containerd" "$1/containerd-shim-runc-v2" ./shim "-s -w"
}

part_runc() { # runc is partly C, and needs seccomp: every pod's sandbox has a profile
  local version plugin
  version=$(cd "$here/runc-cni" && "$go" list -m -f '{{.Version}}' github.com/opencontainers/runc)
  CGO_ENABLED=1 go_build "$here/runc-cni" "$1/runc" github.com/opencontainers/runc \
    "-s -w -extldflags -static -X main.version=${version#v}" -tags netgo,osusergo,seccomp
  for plugin in main/bridge main/loopback ipam/host-local; do
    go_build "$here/runc-cni" "$1/cni/${plugin#*/}" "github.com/containernetworking/plugins/plugins/$plugin" "-s -w"
  done
}

part_coredns() { go_build "$here/coredns" "$1/coredns" . "-s -w"; }

part_base() { "$here/images/base.sh" "$1/base.tar"; }

part_images() {
  "$here/images/build.sh" "$1" "$cache/work" "$(part_folder base)/base.tar" \
    "$operators/spark-operator" "$operators/flink-operator"
}

declare -A key=(
  [kubernetes]=$({ content "$cluster/nodeparts" "$cluster/go.mod"; "$cluster/build.sh" --link-flags; } | digest)
  [containerd]=$(content "$here/containerd" | digest)
  [runc]=$(content "$here/runc-cni" | digest)
  [coredns]=$(content "$here/coredns" | digest)
  [base]=$(digest <"$here/images/base.sh")
  [images]=$({ content "$here/images"; readlink "$operators/spark-operator" "$operators/flink-operator"; } | digest)
)
order=(kubernetes containerd runc coredns base images)

part_folder() { printf '%s/%s-%s\n' "$cache" "$1" "$(printf '%s' "${key[$1]} ${flags[*]} $go_version" | digest)"; }

if [[ ${1:-} == --part ]]; then
  "part_$2" "$3"
  exit 0
fi

missing=()
for part in "${order[@]}"; do
  [[ -e $(part_folder "$part")/cpu-seconds ]] || missing+=("$part")
done
if [[ ${1:-} == --check && ${#missing[@]} != 0 ]]; then
  say "not built: ${missing[*]}; build them with \`make nodes\`"
  exit 3
fi

# --- one build at a time; who waited finds it done ---------------------------------------------------
exec 9>"$cache/lock"
flock -n 9 || { say "waiting for another build"; flock 9; }

TIMEFORMAT='%U %S'
for part in "${order[@]}"; do
  folder=$(part_folder "$part")
  [[ -e $folder/cpu-seconds ]] && continue
  say "$part: begins"
  begin=$SECONDS
  rm -rf "$folder.new" "$folder"
  mkdir -p "$folder.new"
  { time "$here/build.sh" --part "$part" "$folder.new" 2>&3; } 3>&2 2>"$cache/time" || { say "$part failed"; exit 1; }
  awk '{printf "%.0f\n", $1 + $2}' <(tail -n1 "$cache/time") >"$folder.new/cpu-seconds"
  mv "$folder.new" "$folder"
  say "$part: done in $((SECONDS - begin)) s, $(cat "$folder/cpu-seconds") s of processor time"
done

# --- one folder with all of them; a changed part gives it another name -------------------------------
parts=()
for part in "${order[@]}"; do parts+=("$(part_folder "$part")"); done
all=$cache/all-$(printf '%s\n' "${parts[@]}" | digest)
if [[ ! -d $all ]]; then
  mkdir -p "$all.new"
  for folder in "${parts[@]}"; do
    find "$folder" -mindepth 1 -maxdepth 1 ! -name cpu-seconds -exec ln -sfn -t "$all.new" {} +
  done
  mv "$all.new" "$all"
fi
touch "$all" "${parts[@]}"

# Forget parts that nobody asked for in two days.
find "$cache" -mindepth 1 -maxdepth 1 -type d -regex '.*/[a-z]*-[0-9a-f]*' -mtime +1 -exec rm -rf {} +
echo "$all"
