package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// players are the rest of the cluster, as far as a start needs it, each without any pause of its own: a
// kube-scheduler that binds a pod without gates to the node that it is pinned to once that has the
// processors, kubelets that run what is bound, and the Spark operator with drivers. They write as fast as
// the objects change, so that what a start takes is ESI's share and little else.
type players struct {
	*store
	pods, applications int // cursors into the histories
	waiting            map[string]bool
	systemNode         string
	runFor             time.Duration
}

const sparkApp = "sparkoperator.k8s.io/app-name"

func (s *store) play(runFor time.Duration) {
	p := &players{store: s, waiting: map[string]bool{}, systemNode: "system-0", runFor: runFor}
	pods, applications := kindOf("", "pods"), kindOf("sparkoperator.k8s.io", "sparkapplications")
	for {
		s.mu.Lock()
		podChanges := s.table(pods).history[p.pods:]
		appChanges := s.table(applications).history[p.applications:]
		p.pods += len(podChanges)
		p.applications += len(appChanges)
		changed := s.changed
		for _, each := range appChanges {
			p.application(each)
		}
		for _, each := range podChanges {
			p.pod(each)
		}
		s.mu.Unlock()
		if len(podChanges)+len(appChanges) == 0 {
			<-changed
		}
	}
}

func (p *players) podTable() *table { return p.table(kindOf("", "pods")) }

func (p *players) pod(change event) {
	key := change.now.key()
	if change.what == "DELETED" {
		delete(p.waiting, key)
		// Room has come: whatever waits for that node is tried again.
		for other := range p.waiting {
			p.bind(other)
		}
		return
	}
	// What is there now counts; a change that is over is looked at with its successor.
	now := p.podTable().objects[key]
	if now == nil || now.version != change.now.version {
		return
	}
	o := parse(now.body)
	if now.node == "" {
		p.waiting[key] = true
		p.bind(key)
		return
	}
	if phase := text(o, "status", "phase"); phase == "Pending" || phase == "" {
		p.run(now, o)
		return
	}
	if labels := sub(sub(o, "metadata"), "labels"); text(labels, sparkApp) != "" {
		p.spark(now, o)
	}
}

func (p *players) bind(key string) {
	now := p.podTable().objects[key]
	if now == nil || now.node != "" {
		delete(p.waiting, key)
		return
	}
	o := parse(now.body)
	spec := sub(o, "spec")
	if len(listOf(spec, "schedulingGates")) > 0 {
		return
	}
	node := pinnedTo(spec)
	if node == "" {
		node = p.systemNode
	}
	if !p.fits(node, cpuOf(o)) {
		return
	}
	delete(p.waiting, key)
	spec["nodeName"] = node
	state := sub(o, "status")
	delete(state, "nominatedNodeName")
	state["phase"] = "Pending"
	state["conditions"] = []any{condition("PodScheduled")}
	p.replace(p.podTable(), now, o)
	p.played(p.podTable().of, "create", "binding", now.ns, now.name)
}

// pinnedTo is the node that the required node affinity or the node selector names.
func pinnedTo(spec object) string {
	if name := text(spec, "nodeSelector", "kubernetes.io/hostname"); name != "" {
		return name
	}
	required, _ := lookup(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution").(object)
	for _, term := range listOf(required, "nodeSelectorTerms") {
		for _, list := range []string{"matchFields", "matchExpressions"} {
			for _, each := range listOf(term.(object), list) {
				rule := each.(object)
				key := text(rule, "key")
				values := listOf(rule, "values")
				if text(rule, "operator") == "In" && len(values) == 1 &&
					(key == "metadata.name" || key == "kubernetes.io/hostname") {
					return values[0].(string)
				}
			}
		}
	}
	return ""
}

func lookup(o object, path ...string) any {
	var at any = o
	for _, key := range path {
		inner, ok := at.(object)
		if !ok {
			return nil
		}
		at = inner[key]
	}
	return at
}

func (p *players) fits(node string, wanted int64) bool {
	found := p.table(kindOf("", "nodes")).objects["/"+node]
	if found == nil {
		return false
	}
	room := milli(text(parse(found.body), "status", "allocatable", "cpu"))
	for _, each := range p.podTable().byNode[node] {
		if each.taken == 0 {
			each.taken = 1
			o := parse(each.body)
			if phase := text(o, "status", "phase"); phase != "Succeeded" && phase != "Failed" {
				each.taken += cpuOf(o)
			}
		}
		room -= each.taken - 1
	}
	return wanted <= room
}

func cpuOf(pod object) int64 {
	var out int64
	for _, each := range listOf(sub(pod, "spec"), "containers") {
		out += milli(text(each.(object), "resources", "requests", "cpu"))
	}
	return out
}

// milli reads "600m", "2" and "1.5".
func milli(quantity string) int64 {
	if number, ok := strings.CutSuffix(quantity, "m"); ok {
		out, _ := strconv.ParseInt(number, 10, 64)
		return out
	}
	out, _ := strconv.ParseFloat(quantity, 64)
	return int64(out * 1000)
}

func condition(of string) object {
	return object{"type": of, "status": "True", "lastProbeTime": nil, "lastTransitionTime": now()}
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

func (p *players) run(e *entry, o object) {
	state := sub(o, "status")
	state["phase"] = "Running"
	state["startTime"] = now()
	state["podIP"], state["hostIP"] = "10.0.0.1", "192.168.0.1"
	state["conditions"] = []any{condition("PodReadyToStartContainers"), condition("Initialized"), condition("Ready"),
		condition("ContainersReady"), condition("PodScheduled")}
	var containers []any
	for _, each := range listOf(sub(o, "spec"), "containers") {
		containers = append(containers, object{"name": each.(object)["name"], "ready": true, "started": true, "restartCount": 0,
			"image": each.(object)["image"], "imageID": "", "state": object{"running": object{"startedAt": now()}}})
	}
	state["containerStatuses"] = containers
	p.replace(p.podTable(), e, o)
}

// --- Spark ---

func (p *players) application(change event) {
	e := change.now
	if change.what == "DELETED" {
		for _, each := range p.podsOf(e.ns, e.name) {
			p.remove(p.podTable(), each)
		}
		return
	}
	o := parse(e.body)
	if lookup(o, "status", "applicationState") != nil {
		return
	}
	submission := newUID()
	driver := sparkPod(o, "driver", object{"sparkoperator.k8s.io/submission-id": submission, "spark-app-selector": "spark-" + submission[:8]})
	meta := sub(driver, "metadata")
	meta["name"], meta["namespace"] = e.name+"-driver", e.ns
	meta["ownerReferences"] = []any{owner("sparkoperator.k8s.io/v1beta2", "SparkApplication", e.name, e.uid)}
	if p.podTable().objects[e.ns+"/"+e.name+"-driver"] != nil {
		return
	}
	p.createPod(driver)
	p.state(e.ns, e.name, object{"submissionAttempts": 1, "executionAttempts": 1, "lastSubmissionAttemptTime": now(),
		"terminationTime": nil, "submissionID": submission, "sparkApplicationId": "spark-" + submission[:8],
		"driverInfo": object{"podName": e.name + "-driver"}, "applicationState": object{"state": "SUBMITTED"}})
}

func (p *players) state(ns, name string, status object) {
	t := p.table(kindOf("sparkoperator.k8s.io", "sparkapplications"))
	e := t.objects[ns+"/"+name]
	if e == nil {
		return
	}
	o := parse(e.body)
	merge(sub(o, "status"), status)
	p.replace(t, e, o)
}

func owner(version, kind, name, uid string) object {
	return object{"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": true}
}

func (p *players) createPod(o object) {
	e := p.create(p.podTable(), o)
	p.played(p.podTable().of, "create", "", e.ns, e.name)
}

func (p *players) podsOf(ns, application string) []*entry {
	var out []*entry
	for _, each := range p.podTable().byApp[ns+"/"+application] {
		out = append(out, each)
	}
	return out
}

func sparkPod(app object, role string, labels object) object {
	part := sub(sub(app, "spec"), role)
	pod := parse(render(sub(part, "template")))
	meta := sub(pod, "metadata")
	merge(sub(meta, "labels"), parse(render(sub(part, "labels"))))
	merge(sub(meta, "annotations"), parse(render(sub(part, "annotations"))))
	merge(sub(meta, "labels"), labels)
	merge(sub(meta, "labels"), object{"spark-role": role, sparkApp: text(app, "metadata", "name"),
		"sparkoperator.k8s.io/launched-by-spark-operator": "true"})
	spec := sub(pod, "spec")
	spec["restartPolicy"] = "Never"
	name := "spark-kubernetes-" + role
	containers := listOf(spec, "containers")
	if len(containers) == 0 {
		containers = []any{object{"name": name}}
	}
	container := containers[0].(object)
	container["name"], container["image"] = name, "apache/spark:4.0.1"
	heap, _ := strconv.Atoi(strings.TrimRight(text(part, "memory"), "mg"))
	if strings.HasSuffix(text(part, "memory"), "g") {
		heap *= 1024
	}
	over, _ := strconv.Atoi(strings.TrimSuffix(text(part, "memoryOverhead"), "m"))
	if over == 0 {
		over = max(384, heap/10)
	}
	memory := fmt.Sprintf("%dMi", heap+over)
	container["resources"] = object{"requests": object{"cpu": text(part, "coreRequest"), "memory": memory},
		"limits": object{"memory": memory}}
	spec["containers"] = containers
	if scheduler := text(app, "spec", "sparkConf", "spark.kubernetes."+role+".scheduler.name"); scheduler != "" {
		spec["schedulerName"] = scheduler
	}
	pod["status"] = object{"phase": "Pending"}
	return pod
}

// spark goes on when a pod of an application runs: the driver asks for its executors; with the last of
// them the program begins, and ends after runFor.
func (p *players) spark(e *entry, o object) {
	name := e.labels[sparkApp]
	apps := p.table(kindOf("sparkoperator.k8s.io", "sparkapplications"))
	app := apps.objects[e.ns+"/"+name]
	if app == nil || text(o, "status", "phase") != "Running" {
		return
	}
	spec := parse(app.body)
	count, _ := strconv.Atoi(fmt.Sprint(lookup(spec, "spec", "executor", "instances")))
	if e.labels["spark-role"] == "driver" {
		if len(p.podsOf(e.ns, name)) > 1 {
			return
		}
		p.state(e.ns, name, object{"applicationState": object{"state": "RUNNING"}})
		for i := 1; i <= count; i++ {
			pod := sparkPod(spec, "executor", object{"spark-exec-id": strconv.Itoa(i),
				"sparkoperator.k8s.io/submission-id": e.labels["sparkoperator.k8s.io/submission-id"]})
			meta := sub(pod, "metadata")
			meta["name"], meta["namespace"] = fmt.Sprintf("%s-%s-exec-%d", name, strings.ReplaceAll(e.uid, "-", "")[:16], i), e.ns
			meta["ownerReferences"] = []any{owner("v1", "Pod", e.name, e.uid)}
			p.createPod(pod)
		}
		return
	}
	running := 0
	for _, each := range p.podsOf(e.ns, name) {
		if each.labels["spark-role"] == "executor" && each.node != "" && text(parse(each.body), "status", "phase") == "Running" {
			running++
		}
	}
	if running == count {
		go p.finish(e.ns, name, app.uid)
	}
}

func (p *players) finish(ns, name, uid string) {
	time.Sleep(p.runFor)
	p.mu.Lock()
	defer p.mu.Unlock()
	app := p.table(kindOf("sparkoperator.k8s.io", "sparkapplications")).objects[ns+"/"+name]
	if app == nil || app.uid != uid || text(parse(app.body), "status", "applicationState", "state") != "RUNNING" {
		return
	}
	for _, each := range p.podsOf(ns, name) {
		if each.labels["spark-role"] == "executor" {
			p.remove(p.podTable(), each)
			continue
		}
		o := parse(each.body)
		sub(o, "status")["phase"] = "Succeeded"
		p.replace(p.podTable(), each, o)
	}
	p.state(ns, name, object{"terminationTime": now(), "applicationState": object{"state": "COMPLETED"}})
}
