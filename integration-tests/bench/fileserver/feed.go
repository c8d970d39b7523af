package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// control is for the benchmark itself:
//
//	POST /bench/feed?kind=life|status&rate=100&seconds=30   changes of pods, evenly, answered at the end
//	POST /bench/forget?pod=NAMESPACE/NAME                   that pod goes, without any request
//	GET  /bench/numbers                                     objects of each kind, bytes, version
func (s *server) control(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	switch strings.TrimPrefix(r.URL.Path, "/bench/") {
	case "feed":
		rate, _ := strconv.Atoi(query.Get("rate"))
		seconds, _ := strconv.ParseFloat(query.Get("seconds"), 64)
		sent := s.feed(query.Get("kind"), rate, seconds)
		json.NewEncoder(w).Encode(object{"events": sent})
	case "forget":
		s.mu.Lock()
		t := s.table(kindOf("", "pods"))
		found := t.objects[query.Get("pod")]
		if found != nil {
			s.remove(t, found)
		}
		s.mu.Unlock()
		json.NewEncoder(w).Encode(object{"found": found != nil})
	case "numbers":
		s.mu.Lock()
		defer s.mu.Unlock()
		out := object{"version": s.version}
		for of, t := range s.tables {
			bytes := 0
			for _, each := range t.objects {
				bytes += len(each.body)
			}
			out[of.plural] = object{"objects": len(t.objects), "bytes": bytes, "changes": len(t.history)}
		}
		json.NewEncoder(w).Encode(out)
	default:
		http.NotFound(w, r)
	}
}

// feed changes pods of others that are on nodes of the testbed. "status": the kubelet reports something of
// a pod that runs, which concerns no slot. "life": pods come, are bound, run, and go, five changes each, so
// that two of five change the room on a node.
func (s *server) feed(kind string, rate int, seconds float64) int {
	s.mu.Lock()
	pods := s.table(kindOf("", "pods"))
	var others []*entry
	for _, each := range pods.sorted {
		if each.ns != "default" && each.node != "" && each.node != "system-0" {
			others = append(others, each)
		}
	}
	s.mu.Unlock()
	if len(others) == 0 || rate <= 0 {
		return 0
	}
	total := int(float64(rate) * seconds)
	begin := time.Now()
	// A stride that is coprime to most counts, so that events are spread over the nodes.
	const stride = 7919
	lives := make(map[int]*entry)
	for i := 0; i < total; i++ {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		s.mu.Lock()
		if kind == "status" {
			model := pods.objects[others[i*stride%len(others)].key()]
			o := parse(model.body)
			for _, each := range listOf(sub(o, "status"), "conditions") {
				each.(object)["lastProbeTime"] = fmt.Sprintf("2026-11-22T10:00:%02dZ", i%60)
			}
			s.replace(pods, model, o)
		} else {
			number, step := i/5, i%5
			lives[number] = s.live(pods, others[number*stride%len(others)], lives[number], number, step)
			if step == 4 {
				delete(lives, number)
			}
		}
		s.mu.Unlock()
	}
	return total
}

// live takes the next step in the life of a pod like `model`. The caller holds mu.
func (s *server) live(pods *table, model, at *entry, number, step int) *entry {
	if step == 0 {
		o := parse(model.body)
		meta, spec := sub(o, "metadata"), sub(o, "spec")
		meta["name"] = fmt.Sprintf("fed-%06d", number)
		delete(spec, "nodeName")
		o["status"] = object{"phase": "Pending", "qosClass": "Burstable"}
		return s.create(pods, o)
	}
	// The players may have changed it meanwhile.
	at = pods.objects[at.key()]
	o := parse(at.body)
	state := sub(o, "status")
	switch step {
	case 1:
		sub(o, "spec")["nodeName"] = model.node
		state["conditions"] = []any{condition("PodScheduled")}
	case 2:
		state["phase"] = "Running"
		state["conditions"] = []any{condition("PodScheduled"), condition("Initialized")}
	case 3:
		state["conditions"] = []any{condition("PodScheduled"), condition("Initialized"), condition("Ready")}
	case 4:
		s.remove(pods, at)
		return nil
	}
	return s.replace(pods, at, o)
}
