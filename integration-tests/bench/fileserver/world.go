package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A world is what `make` writes: nodes of one Testbed with a ghost in each slot, other pods on them, a few
// BatchJobs. The texts are those of real objects with all that an API server sends along (defaults,
// managedFields of each writer). What only an operator knows (the Testbed's status) is left to it: the
// benchmark lets the operators settle before it measures.
type world struct {
	nodes, slots, others, jobs int
	empty                      bool
	testbedUID                 string
	version                    uint64
}

const (
	testbedName = "slots"
	nodeLabel   = "bench.esi/slots"
	made        = "2026-11-20T08:00:00Z"
)

func (w *world) next() string {
	w.version++
	return strconv.FormatUint(w.version, 10)
}

// uid of the n-th object of a sort: the same in each run.
func uid(sort, n int) string { return fmt.Sprintf("%08x-%04x-4000-8000-%012x", n, sort, n*7919) }

func nodeName(i int) string { return fmt.Sprintf("node-%05d", i) }

// ghostName is grid::ghost_name (common/grid/grid.cpp).
func ghostName(testbed, testbedUID, node string, index int) string {
	hash := uint64(0xcbf29ce484222325)
	for _, b := range []byte(fmt.Sprintf("%s/%s/%d", testbedUID, node, index)) {
		hash = (hash ^ uint64(b)) * 0x100000001b3
	}
	hash ^= hash >> 33
	hash *= 0xff51afd7ed558ccd
	hash ^= hash >> 33
	return fmt.Sprintf("%s-ghost-%010x", testbed, hash>>24)
}

// managed writes a managedFields entry that owns all of `part`, as server-side tracking spells it.
func managed(manager, subresource, version string, part object) object {
	out := object{"manager": manager, "operation": "Update", "apiVersion": version, "time": made,
		"fieldsType": "FieldsV1", "fieldsV1": fields(part)}
	if subresource != "" {
		out["subresource"] = subresource
	}
	return out
}

func fields(of object) object {
	out := object{}
	for key, value := range of {
		out["f:"+key] = fieldsOf(value)
	}
	return out
}

func fieldsOf(value any) object {
	switch value := value.(type) {
	case object:
		return fields(value)
	case []any:
		out := object{}
		for _, each := range value {
			item, ok := each.(object)
			if !ok {
				return object{}
			}
			for _, key := range []string{"name", "type", "mountPath", "containerPort", "uid", "ip"} {
				if name, ok := item[key]; ok {
					if name, isText := name.(string); isText {
						inner := fields(item)
						inner["."] = object{}
						out[fmt.Sprintf(`k:{"%s":"%s"}`, key, name)] = inner
					}
					break
				}
			}
		}
		return out
	}
	return object{}
}

// --- templates: made once, then filled in by text ---

func conditionsOf(types ...string) []any {
	var out []any
	for _, each := range types {
		out = append(out, object{"type": each, "status": "True", "lastProbeTime": nil, "lastTransitionTime": made, "observedGeneration": 1})
	}
	return out
}

func statusOf(containers []any, qos string) object {
	var states []any
	for _, each := range containers {
		name := each.(object)["name"].(string)
		states = append(states, object{"name": name, "ready": true, "started": true, "restartCount": 0,
			"image": each.(object)["image"], "containerID": "containerd://@HASH@@HASH@", "lastState": object{},
			"imageID":   "registry.example.org/platform/" + name + "@sha256:@HASH@@HASH@",
			"state":     object{"running": object{"startedAt": made}},
			"resources": each.(object)["resources"],
			"user":      object{"linux": object{"gid": 65535, "supplementalGroups": []any{65535}, "uid": 65535}}})
	}
	return object{"phase": "Running", "startTime": made, "podIP": "@IP@", "podIPs": []any{object{"ip": "@IP@"}},
		"hostIP": "192.168.7.12", "hostIPs": []any{object{"ip": "192.168.7.12"}}, "qosClass": qos, "observedGeneration": 1,
		"conditions":        conditionsOf("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"),
		"containerStatuses": states}
}

func podOf(meta, spec object, manager string) string {
	state := statusOf(listOf(spec, "containers"), "Burstable")
	owned := object{"metadata": object{"labels": meta["labels"], "ownerReferences": meta["ownerReferences"]}, "spec": spec}
	if meta["annotations"] != nil {
		sub(owned, "metadata")["annotations"] = meta["annotations"]
	}
	meta["managedFields"] = []any{managed(manager, "", "v1", owned), managed("kubelet", "status", "v1", object{"status": state})}
	meta["creationTimestamp"], meta["uid"], meta["resourceVersion"] = made, "@UID@", "@VERSION@"
	meta["name"], meta["namespace"], meta["generation"] = "@NAME@", "@NS@", 1
	spec["nodeName"] = "@NODE@"
	merge(spec, object{"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
		"preemptionPolicy": "PreemptLowerPriority", "enableServiceLinks": spec["enableServiceLinks"]})
	return string(render(object{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": state}))
}

func (w *world) ghostTemplate() string {
	pin := object{"nodeAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": object{"nodeSelectorTerms": []any{
		object{"matchFields": []any{object{"key": "metadata.name", "operator": "In", "values": []any{"@NODE@"}}}}}}}}
	var tolerations []any
	for _, key := range []string{"esi.tu-berlin.de/testbed", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable",
		"node.kubernetes.io/memory-pressure", "node.kubernetes.io/disk-pressure", "node.kubernetes.io/pid-pressure"} {
		tolerations = append(tolerations, object{"key": key, "operator": "Exists"})
	}
	image := "localhost/esi-pause:1"
	return podOf(object{
		"labels":      object{"esi.tu-berlin.de/testbed": testbedName, "esi.tu-berlin.de/testbed-namespace": "default", "esi.tu-berlin.de/ghost": "true"},
		"annotations": object{"esi.tu-berlin.de/node": "@NODE@", "esi.tu-berlin.de/index": "@INDEX@", "esi.tu-berlin.de/ghost-image": image},
		"ownerReferences": []any{object{"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "Testbed", "name": testbedName,
			"uid": w.testbedUID, "controller": true, "blockOwnerDeletion": true}},
	}, object{"affinity": pin, "tolerations": tolerations, "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": false,
		"enableServiceLinks": false, "priorityClassName": "esi-ghost", "priority": -1000, "serviceAccountName": "default", "serviceAccount": "default",
		"securityContext": object{"runAsNonRoot": true, "runAsUser": 65535, "runAsGroup": 65535, "seccompProfile": object{"type": "RuntimeDefault"}},
		"containers": []any{object{"name": "ghost", "image": image, "imagePullPolicy": "IfNotPresent",
			"resources":              object{"requests": object{"cpu": "600m", "memory": "1792Mi"}},
			"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
			"securityContext": object{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": object{"drop": []any{"ALL"}}}}}},
		"esi-testbed")
}

// otherTemplate: a pod of a Deployment with so many containers, each with so many variables, and probes.
func otherTemplate(containers, variables int, probes bool) string {
	var all, mounts []any
	mounts = append(mounts, object{"name": "kube-api-access-@SHORT@", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true},
		object{"name": "config", "mountPath": "/etc/service"})
	for i := range containers {
		name := []string{"service", "proxy", "metrics", "logs"}[i]
		var env []any
		for _, each := range []string{"POD_NAME", "POD_NAMESPACE", "NODE_NAME"} {
			env = append(env, object{"name": each, "valueFrom": object{"fieldRef": object{"apiVersion": "v1", "fieldPath": "metadata.name"}}})
		}
		for _, each := range []string{"LOG_LEVEL", "DATABASE_URL", "CACHE_URL", "OTEL_EXPORTER_OTLP_ENDPOINT", "FEATURE_FLAGS", "REGION"}[:variables] {
			env = append(env, object{"name": each, "value": "https://" + strings.ToLower(each) + ".internal.example.org:8443/v1"})
		}
		probe := object{"httpGet": object{"path": "/healthz", "port": 8080 + i, "scheme": "HTTP"}, "periodSeconds": 10, "timeoutSeconds": 1,
			"successThreshold": 1, "failureThreshold": 3}
		container := object{"name": name, "image": "registry.example.org/platform/" + name + ":2.31.4", "imagePullPolicy": "IfNotPresent",
			"env": env, "ports": []any{object{"containerPort": 8080 + i, "name": "http-" + strconv.Itoa(i), "protocol": "TCP"}},
			"resources":              object{"requests": object{"cpu": "100m", "memory": "128Mi"}, "limits": object{"memory": "256Mi"}},
			"securityContext":        object{"allowPrivilegeEscalation": false, "capabilities": object{"drop": []any{"ALL"}}},
			"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "volumeMounts": mounts}
		if probes {
			container["livenessProbe"], container["readinessProbe"] = probe, probe
		}
		all = append(all, container)
	}
	return podOf(object{
		"generateName":    "web-@SHORT@-",
		"labels":          object{"app.kubernetes.io/name": "web", "app.kubernetes.io/instance": "web-@SHORT@", "app.kubernetes.io/part-of": "shop", "pod-template-hash": "@SHORT@"},
		"annotations":     object{"prometheus.io/scrape": "true", "prometheus.io/port": "8080", "kubectl.kubernetes.io/restartedAt": made},
		"ownerReferences": []any{object{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-@SHORT@", "uid": uid(9, 1), "controller": true, "blockOwnerDeletion": true}},
	}, object{"containers": all, "terminationGracePeriodSeconds": 30, "serviceAccountName": "web", "serviceAccount": "web", "priority": 0,
		"enableServiceLinks": true, "securityContext": object{"runAsNonRoot": true, "fsGroup": 2000},
		"tolerations": []any{object{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
			object{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
			object{"key": "esi.tu-berlin.de/testbed", "operator": "Exists"}},
		"volumes": []any{object{"name": "config", "configMap": object{"name": "web-config", "defaultMode": 420}},
			object{"name": "kube-api-access-@SHORT@", "projected": object{"defaultMode": 420, "sources": []any{
				object{"serviceAccountToken": object{"expirationSeconds": 3607, "path": "token"}},
				object{"configMap": object{"name": "kube-root-ca.crt", "items": []any{object{"key": "ca.crt", "path": "ca.crt"}}}},
				object{"downwardAPI": object{"items": []any{object{"path": "namespace", "fieldRef": object{"apiVersion": "v1", "fieldPath": "metadata.namespace"}}}}}}}}}},
		"kube-controller-manager")
}

func (w *world) nodeTemplate(inTestbed bool) string {
	var images []any
	for i := range 30 {
		images = append(images, object{"names": []any{fmt.Sprintf("registry.example.org/platform/part-%02d@sha256:%064x", i, i*7919),
			fmt.Sprintf("registry.example.org/platform/part-%02d:2.31.%d", i, i)}, "sizeBytes": 41943040 + i})
	}
	size := object{"cpu": "64", "memory": "262144Mi", "pods": "110", "ephemeral-storage": "209715200Ki", "hugepages-2Mi": "0"}
	labels := object{"kubernetes.io/hostname": "@NODE@", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
		"node.kubernetes.io/instance-type": "m6.16xlarge", "topology.kubernetes.io/region": "eu-central", "topology.kubernetes.io/zone": "eu-central-a"}
	spec := object{"podCIDR": "10.0.0.0/24", "providerID": "example://@NODE@"}
	if inTestbed {
		labels[nodeLabel] = "@INDEX@"
	}
	if inTestbed && !w.empty {
		spec["taints"] = []any{object{"key": "esi.tu-berlin.de/testbed", "value": w.testbedUID, "effect": "NoSchedule"}}
	}
	var conditions []any
	for _, each := range []string{"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"} {
		state := "False"
		if each == "Ready" {
			state = "True"
		}
		conditions = append(conditions, object{"type": each, "status": state, "lastHeartbeatTime": made, "lastTransitionTime": made,
			"reason": "Kubelet" + each, "message": "kubelet reports " + each})
	}
	state := object{"capacity": size, "allocatable": size, "conditions": conditions, "images": images,
		"addresses":       []any{object{"type": "InternalIP", "address": "@IP@"}, object{"type": "Hostname", "address": "@NODE@"}},
		"daemonEndpoints": object{"kubeletEndpoint": object{"Port": 10250}},
		"nodeInfo": object{"architecture": "amd64", "bootID": uid(8, 1), "containerRuntimeVersion": "containerd://2.1.4", "kernelVersion": "6.12.0",
			"kubeletVersion": "v1.36.3", "machineID": "@SHORT@", "operatingSystem": "linux", "osImage": "Debian GNU/Linux 12 (bookworm)", "systemUUID": uid(8, 2)}}
	meta := object{"name": "@NODE@", "uid": "@UID@", "resourceVersion": "@VERSION@", "creationTimestamp": made, "labels": labels,
		"annotations":   object{"node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true"},
		"managedFields": []any{managed("kubelet", "", "v1", object{"metadata": object{"labels": labels}, "spec": spec}), managed("kubelet", "status", "v1", object{"status": state})}}
	return string(render(object{"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": state}))
}

// --- writing ---

type output struct {
	objects, index *bufio.Writer
	files          []*os.File
}

func openOutput(folder string, of *kind) (*output, error) {
	objects, err := os.Create(filepath.Join(folder, of.file()))
	if err != nil {
		return nil, err
	}
	index, err := os.Create(filepath.Join(folder, of.plural+".index"))
	if err != nil {
		return nil, err
	}
	return &output{bufio.NewWriterSize(objects, 1<<20), bufio.NewWriterSize(index, 1<<20), []*os.File{objects, index}}, nil
}

func (o *output) add(e *entry) {
	o.objects.Write(e.body)
	o.objects.WriteByte('\n')
	var line bytes.Buffer
	writeIndex(&line, e)
	o.index.Write(line.Bytes())
}

func (o *output) close() {
	o.objects.Flush()
	o.index.Flush()
	for _, each := range o.files {
		each.Close()
	}
}

func (w *world) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	w.testbedUID, w.version = uid(1, 1), 1000
	out := map[string]*output{}
	for _, each := range kinds[:7] {
		opened, err := openOutput(folder, each)
		if err != nil {
			return err
		}
		defer opened.close()
		out[each.plural] = opened
	}
	add := func(plural, body string) {
		e, err := entryOf([]byte(body))
		if err != nil {
			panic(plural + ": " + err.Error() + ": " + body)
		}
		out[plural].add(e)
	}
	fill := func(template, name, ns, node string, sort, n, index int) string {
		return strings.NewReplacer("@NAME@", name, "@NS@", ns, "@NODE@", node, "@UID@", uid(sort, n), "@VERSION@", w.next(),
			"@INDEX@", strconv.Itoa(index), "@IP@", fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255),
			"@SHORT@", fmt.Sprintf("%010x", n), "@HASH@", fmt.Sprintf("%032x", uint64(n)*2654435761)).Replace(template)
	}
	add("nodes", fill(w.nodeTemplate(false), "", "", "system-0", 2, 0, 0))
	nodes, ghost := w.nodeTemplate(true), w.ghostTemplate()
	for i := range w.nodes {
		add("nodes", fill(nodes, "", "", nodeName(i), 2, i+1, i))
		for k := range w.slots {
			if w.empty {
				break
			}
			add("pods", fill(ghost, ghostName(testbedName, w.testbedUID, nodeName(i), k), "default", nodeName(i), 3, i*w.slots+k+1, k))
		}
	}
	others := []string{otherTemplate(1, 0, false), otherTemplate(1, 2, false), otherTemplate(1, 6, true)}
	for i := range w.others {
		name := fmt.Sprintf("web-%010x-%05x", i, i*31&0xfffff)
		add("pods", fill(others[i%len(others)], name, fmt.Sprintf("team-%02d", i%40), nodeName(i%max(w.nodes, 1)), 4, i+1, 0))
	}
	add("testbeds", string(render(object{"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "Testbed",
		"metadata": object{"name": testbedName, "namespace": "default", "uid": w.testbedUID, "resourceVersion": w.next(), "generation": 1, "creationTimestamp": made},
		"spec": object{"slotsPerNode": w.slots, "nodeLabel": nodeLabel, "isolation": "Taint",
			"resourcesPerSlot": object{"cpu": "600m", "memory": "1792Mi"}}})))
	for i := range w.jobs {
		add("batchjobs", string(render(object{"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "BatchJob",
			"metadata": object{"name": fmt.Sprintf("job-%04d", i), "namespace": "default", "uid": uid(5, i), "resourceVersion": w.next(), "generation": 1, "creationTimestamp": made},
			"spec": object{"sparkSpec": object{"type": "Scala", "mode": "cluster", "sparkVersion": "4.0.1", "image": "apache/spark:4.0.1",
				"mainClass": "org.apache.spark.examples.SparkPi", "mainApplicationFile": "local:///opt/spark/examples/jars/spark-examples.jar",
				"restartPolicy": object{"type": "Never"}, "driver": object{"cores": 1, "coreRequest": "100m", "memory": "512m"}, "executor": object{}}}})))
	}
	add("customresourcedefinitions", string(render(object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": object{"name": "sparkapplications.sparkoperator.k8s.io", "uid": uid(6, 1), "resourceVersion": w.next(), "creationTimestamp": made},
		"spec": object{"group": "sparkoperator.k8s.io", "scope": "Namespaced", "names": object{"kind": "SparkApplication", "plural": "sparkapplications"},
			"versions": []any{object{"name": "v1beta2", "served": true, "storage": true}}},
		"status": object{"conditions": []any{object{"type": "NamesAccepted", "status": "True"}, object{"type": "Established", "status": "True"}},
			"acceptedNames": object{"kind": "SparkApplication", "plural": "sparkapplications"}, "storedVersions": []any{"v1beta2"}}})))
	return nil
}
