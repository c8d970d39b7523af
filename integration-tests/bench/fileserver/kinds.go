package main

import (
	"strings"
	"sync"
)

// kind is one resource that is served.
type kind struct {
	group, version, plural, kind string
	namespaced                   bool
}

var kinds = []*kind{
	{"", "v1", "pods", "Pod", true},
	{"", "v1", "nodes", "Node", false},
	{"esi.tu-berlin.de", "v1alpha1", "testbeds", "Testbed", true},
	{"esi.tu-berlin.de", "v1alpha1", "batchjobs", "BatchJob", true},
	{"esi.tu-berlin.de", "v1alpha1", "schedulings", "Scheduling", true},
	{"sparkoperator.k8s.io", "v1beta2", "sparkapplications", "SparkApplication", true},
	{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false},
	{"coordination.k8s.io", "v1", "leases", "Lease", true},
	{"events.k8s.io", "v1", "events", "Event", true},
}

var kindsMu sync.Mutex

func kindOf(group, plural string) *kind {
	kindsMu.Lock()
	defer kindsMu.Unlock()
	for _, each := range kinds {
		if each.group == group && each.plural == plural {
			return each
		}
	}
	// A kind of ESI's that this program does not know yet is served all the same: it begins empty.
	if group == "esi.tu-berlin.de" {
		name := strings.ToUpper(plural[:1]) + strings.TrimSuffix(plural[1:], "s")
		added := &kind{group, "v1alpha1", plural, name, true}
		kinds = append(kinds, added)
		return added
	}
	return nil
}

func (k *kind) apiVersion() string {
	if k.group == "" {
		return k.version
	}
	return k.group + "/" + k.version
}

// file is the name of the file that holds the recorded objects of the kind.
func (k *kind) file() string { return k.plural + ".jsonl" }
