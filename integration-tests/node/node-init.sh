#!/usr/bin/env bash
# Runs inside a node's namespaces, below tini: gives the node its own view of the machine, then runs
# containerd, kubelet and kube-proxy until the node ends. What it sees is set by node.py:
#
#     NODE folder of the node     STORE folder of its containers and images     PARTS folder of the programs
#     NAME, ADDRESS, KUBECONFIG   CPUS, MEMORY_GI: the capacity that the node claims
#
# NODE/stop-PROGRAM keeps a program from being started again; NODE/PROGRAM.pid is its pid in here.
set -euo pipefail
hostname "$NAME"
export PATH=$PARTS:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# --- a view of its own: the mount namespace is private, nothing of this is seen outside --------------
mount --bind "$NODE/run" /run
mkdir -p /run/lock /run/netns
# Kubelet and libcni keep some things under /var whatever they are told.
mount -t overlay -o "lowerdir=/var,upperdir=$NODE/var,workdir=$NODE/var-work" overlay /var
mkdir -p /var/lib/kubelet /var/lib/cni /var/log/containers /var/log/pods
mount --bind "$NODE/kubelet" /var/lib/kubelet
mount --make-shared /var/lib/kubelet
mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
while IFS=: read -r _ controller _; do
  [[ -n $controller ]] || continue
  options=$controller
  [[ $controller != name=* ]] || options=none,$controller
  mkdir -p "/sys/fs/cgroup/${controller#name=}"
  mount -t cgroup -o "$options" cgroup "/sys/fs/cgroup/${controller#name=}"
done </proc/self/cgroup
sysctl -q -w net.ipv4.ip_forward=1

# --- claimed capacity ---------------------------------------------------------------------------------
# Kubelet adds up the CPUs of the NUMA nodes in /sys and reads MemTotal in /proc. So the node shows as
# many NUMA nodes as it takes, all with the machine's real CPUs: the set of their ids is what kubelet
# writes into a cpuset. Containers get their own, true /proc and /sys.
real=$(nproc)
fake=$NODE/claimed
rm -rf "$fake"
mkdir -p "$fake/node"
for ((number = 0, left = CPUS; left > 0; number++, left -= real)); do
  folder=$fake/node/node$number
  mkdir -p "$folder/hugepages"
  for ((cpu = 0; cpu < (left < real ? left : real); cpu++)); do
    mkdir -p "$folder/cpu$cpu/topology"
    echo "$cpu" >"$folder/cpu$cpu/topology/core_id"
    echo 0 >"$folder/cpu$cpu/topology/physical_package_id"
  done
  echo "Node $number MemTotal: $((MEMORY_GI * 1048576 * real / CPUS)) kB" >"$folder/meminfo"
done
for folder in "$fake"/node/node*; do
  printf '10 %.0s' "$fake"/node/node* >"$folder/distance"
done
sed "s/^MemTotal:.*/MemTotal: $((MEMORY_GI * 1048576)) kB/" /proc/meminfo >"$fake/meminfo"
mount --bind "$fake/node" /sys/devices/system/node
mount --bind "$fake/meminfo" /proc/meminfo

# --- the programs: each is started again when it ends, unless it was told to stop ------------------------
keep() {
  local program=$1 pid
  while true; do
    if [[ ! -e $NODE/stop-$program ]]; then
      "$@" >>"$NODE/log/$program.log" 2>&1 &
      pid=$!
      echo "$pid" >"$NODE/$program.pid"
      wait "$pid" || true
    fi
    sleep 0.3
  done
}
ulimit -n "$(ulimit -Hn)"
keep containerd --config "$NODE/containerd.toml" &
until ctr version >/dev/null 2>&1; do sleep 0.05; done
if [[ ! -e $NODE/joined ]]; then # an earlier cluster's containers, whose pods nobody knows any more
  for container in $(ctr -n k8s.io containers ls -q); do ctr -n k8s.io containers rm "$container" >/dev/null || true; done
  for sandbox in $(ctr -n k8s.io sandboxes ls | awk 'NR > 1 {print $1}'); do
    ctr -n k8s.io sandboxes rm --force "$sandbox" >/dev/null || true
  done
  touch "$NODE/joined"
fi
touch "$NODE/run/containerd-up"
keep kube-proxy "--config=$NODE/kube-proxy.yaml" -v=1 &
keep kubelet "--config=$NODE/kubelet.yaml" "--kubeconfig=$KUBECONFIG" "--hostname-override=$NAME" "--node-ip=$ADDRESS" \
  --root-dir=/var/lib/kubelet "--cert-dir=$NODE/pki" -v=1
