package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

type server struct {
	*store
	log *requestLog
}

// target is what a path names.
type target struct {
	of            *kind
	ns, name, sub string
}

func targetOf(path string) (target, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var group string
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		group, parts = parts[1], parts[3:]
	default:
		return target{}, false
	}
	var out target
	if parts[0] == "namespaces" && len(parts) >= 3 {
		out.ns, parts = parts[1], parts[2:]
	}
	out.of = kindOf(group, parts[0])
	if len(parts) > 1 {
		out.name = parts[1]
	}
	if len(parts) > 2 {
		out.sub = parts[2]
	}
	return out, out.of != nil
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/bench/") {
		s.control(w, r)
		return
	}
	at := time.Now()
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/version" {
		io.WriteString(w, `{"major":"1","minor":"36","gitVersion":"v1.36.3"}`)
		return
	}
	where, ok := targetOf(r.URL.Path)
	if !ok {
		refuse(w, 404, "NotFound", r.URL.Path+" is not served")
		s.log.note(r, where, "get", at, 404, 0)
		return
	}
	query := r.URL.Query()
	if r.Method == "GET" && where.name == "" {
		if query.Get("watch") == "true" {
			s.watch(w, r, where, query, at)
		} else {
			count := s.list(w, where, query)
			s.log.note(r, where, "list", at, 200, count)
		}
		return
	}
	code, body := s.single(r, &where, query)
	if code < 300 && wantsMetadata(r) {
		body = metadataOnly(body)
	}
	w.WriteHeader(code)
	w.Write(body)
	s.log.note(r, where, verbOf(r.Method), at, code, len(body))
}

// wantsMetadata: the client asks for the metadata of an object alone.
func wantsMetadata(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Accept"), "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
}

// metadataOnly is the object as a PartialObjectMetadata. It reads no further than the metadata, which come
// before what is large.
func metadataOnly(body []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.Token()
	for decoder.More() {
		key, _ := decoder.Token()
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			break
		}
		if key == "metadata" {
			return fmt.Appendf(nil, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":%s}`, value)
		}
	}
	return body
}

func verbOf(method string) string {
	return map[string]string{"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[method]
}

func refuse(w http.ResponseWriter, code int, reason, message string) {
	w.WriteHeader(code)
	w.Write(status(code, reason, message))
}

func status(code int, reason, message string) []byte {
	out, _ := json.Marshal(object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message,
		"reason": reason, "code": code})
	return out
}

// --- reading ---

type selector struct {
	ns, node, name string
	labels         map[string]string // "" : exists
}

func selectorOf(where target, query url.Values) selector {
	out := selector{ns: where.ns, labels: map[string]string{}}
	for _, part := range strings.Split(query.Get("fieldSelector"), ",") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "spec.nodeName":
			out.node = value
		case "metadata.name":
			out.name = value
		}
	}
	for _, part := range strings.Split(query.Get("labelSelector"), ",") {
		if key, value, _ := strings.Cut(part, "="); key != "" {
			out.labels[key] = value
		}
	}
	return out
}

func (s selector) takesLabels(labels map[string]string) bool {
	for key, value := range s.labels {
		found, ok := labels[key]
		if !ok || (value != "" && found != value) {
			return false
		}
	}
	return true
}

func (s selector) takes(e *entry) bool {
	return (s.ns == "" || s.ns == e.ns) && (s.node == "" || s.node == e.node) &&
		(s.name == "" || s.name == e.name) && s.takesLabels(e.labels)
}

// snapshot: the objects that a list shows, the version it is of, and how many changes it holds.
func (s *store) snapshot(of *kind, chosen selector) ([]*entry, uint64, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.table(of)
	var out []*entry
	if chosen.node != "" {
		for _, each := range t.byNode[chosen.node] {
			if chosen.takes(each) {
				out = append(out, each)
			}
		}
	} else {
		out = make([]*entry, 0, len(t.objects))
		for _, each := range t.sorted {
			if chosen.takes(each) {
				out = append(out, each)
			}
		}
	}
	return out, s.version, len(t.history)
}

// list answers in pages where the client asks for that: continue is the number of objects shown so far.
func (s *server) list(w http.ResponseWriter, where target, query url.Values) int {
	found, version, _ := s.snapshot(where.of, selectorOf(where, query))
	from, _ := strconv.Atoi(query.Get("continue"))
	limit, _ := strconv.Atoi(query.Get("limit"))
	from = min(from, len(found))
	page, more := found[from:], ""
	if limit > 0 && len(page) > limit {
		page, more = page[:limit], strconv.Itoa(from+limit)
	}
	out := bufio.NewWriterSize(w, 64<<10)
	fmt.Fprintf(out, `{"kind":"%sList","apiVersion":"%s","metadata":{"resourceVersion":"%d","continue":"%s"},"items":[`,
		where.of.kind, where.of.apiVersion(), version, more)
	sent := 0
	for i, each := range page {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(each.body)
		sent += len(each.body)
	}
	out.WriteString("]}")
	out.Flush()
	return sent
}

const bookmarkPeriod = 30 * time.Second

func (s *server) watch(w http.ResponseWriter, r *http.Request, where target, query url.Values, at time.Time) {
	chosen := selectorOf(where, query)
	out := bufio.NewWriterSize(w, 64<<10)
	flusher := w.(http.Flusher)
	sent, next := 0, 0
	line := func(what string, body []byte) {
		out.WriteString(`{"type":"` + what + `","object":`)
		out.Write(body)
		out.WriteString("}\n")
		sent += len(body) + len(what) + 23
	}
	bookmark := func(version uint64, note string) {
		line("BOOKMARK", []byte(fmt.Sprintf(
			`{"kind":"%s","apiVersion":"%s","metadata":{"resourceVersion":"%d","creationTimestamp":null%s},"spec":{},"status":{}}`,
			where.of.kind, where.of.apiVersion(), version, note)))
	}
	w.WriteHeader(200)
	flusher.Flush()
	var version uint64
	if query.Get("sendInitialEvents") == "true" {
		found, of, changes := s.snapshot(where.of, chosen)
		for i, each := range found {
			line("ADDED", each.body)
			if i%1000 == 0 && r.Context().Err() != nil {
				return
			}
		}
		version, next = of, changes
		bookmark(version, `,"annotations":{"k8s.io/initial-events-end":"true"}`)
		if out.Flush() != nil {
			return
		}
		flusher.Flush()
		// The last byte is with the kernel: the client has at most the socket's buffers left to read.
		s.log.note(r, where, "watchlist", at, 200, sent)
	} else {
		version, _ = strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
		s.mu.Lock()
		history := s.table(where.of).history
		for next < len(history) && history[next].version <= version {
			next++
		}
		s.mu.Unlock()
		s.log.note(r, where, "watch", at, 200, 0)
	}
	seconds, _ := strconv.Atoi(query.Get("timeoutSeconds"))
	end := time.After(time.Duration(max(seconds, 60)) * time.Second)
	tick := time.NewTicker(bookmarkPeriod)
	defer tick.Stop()
	for {
		s.mu.Lock()
		history, changed, now := s.table(where.of).history[next:], s.changed, s.version
		next += len(history)
		s.mu.Unlock()
		for _, each := range history {
			is, was := chosen.takes(each.now), each.what != "ADDED" && chosen.takesLabels(each.labels)
			switch {
			case is && each.what == "MODIFIED" && !was:
				line("ADDED", each.now.body)
			case is:
				line(each.what, each.now.body)
			case was && each.what == "MODIFIED" && len(chosen.labels) > 0:
				line("DELETED", each.now.body)
			}
		}
		if len(history) > 0 {
			if out.Flush() != nil {
				return
			}
			flusher.Flush()
		}
		select {
		case <-changed:
		case <-tick.C:
			bookmark(now, "")
			out.Flush()
			flusher.Flush()
		case <-r.Context().Done():
			return
		case <-end:
			return
		}
	}
}

// --- single objects ---

func (s *server) single(r *http.Request, where *target, query url.Values) (int, []byte) {
	var body object
	if r.Method != "GET" {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return 400, status(400, "BadRequest", err.Error())
		}
		if len(raw) > 0 {
			if body = parse(raw); body == nil {
				return 400, status(400, "BadRequest", "the body is no object")
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.table(where.of)
	if r.Method == "POST" {
		return s.post(t, where, query, body)
	}
	found := t.objects[where.ns+"/"+where.name]
	if found == nil {
		return 404, status(404, "NotFound", where.of.plural+" \""+where.name+"\" not found")
	}
	switch r.Method {
	case "GET":
		return 200, found.body
	case "DELETE":
		guard, _ := body["preconditions"].(object)
		if uid := text(guard, "uid"); uid != "" && uid != found.uid {
			return 409, status(409, "Conflict", "the uid is another one")
		}
		if version := text(guard, "resourceVersion"); version != "" && version != strconv.FormatUint(found.version, 10) {
			return 409, status(409, "Conflict", "the resourceVersion is another one")
		}
		s.remove(t, found)
		return 200, found.body
	case "PUT", "PATCH":
		how := r.Method
		if strings.Contains(r.Header.Get("Content-Type"), "strategic") {
			how = "STRATEGIC"
		}
		return s.change(t, found, how, where.sub, body)
	}
	return 405, status(405, "MethodNotAllowed", r.Method)
}

func (s *server) post(t *table, where *target, query url.Values, body object) (int, []byte) {
	meta := sub(body, "metadata")
	name := text(meta, "name")
	if name == "" {
		name = text(meta, "generateName") + newUID()[:5]
		meta["name"] = name
	}
	where.name = name
	if t.of.namespaced {
		meta["namespace"] = where.ns
	}
	if t.objects[where.ns+"/"+name] != nil {
		return 409, status(409, "AlreadyExists", t.of.plural+" \""+name+"\" already exists")
	}
	if query.Get("dryRun") != "" || t.of.plural == "events" {
		return 201, render(body)
	}
	return 201, s.create(t, body).body
}

// change: a PUT of the whole, a merge patch or a strategic one. Only the subresource named changes: the
// status, or all but the status.
func (s *server) change(t *table, found *entry, method, part string, body object) (int, []byte) {
	now, before := parse(found.body), parse(found.body)
	meta := sub(body, "metadata")
	if uid := text(meta, "uid"); uid != "" && uid != found.uid {
		return 422, status(422, "Invalid", "metadata.uid: field is immutable")
	}
	if version := text(meta, "resourceVersion"); version != "" && version != strconv.FormatUint(found.version, 10) {
		return 409, status(409, "Conflict", "the object has been modified")
	}
	switch method {
	case "PUT":
		now = body
	case "STRATEGIC":
		mergeNamed(now, body)
	default:
		merge(now, body)
	}
	split := t.of.plural != "leases"
	if split && part == "status" {
		state := now["status"]
		now = parse(found.body)
		now["status"] = state
	} else if split {
		now["status"] = before["status"]
		if before["status"] == nil {
			delete(now, "status")
		}
	}
	old, changed := sub(before, "metadata"), sub(now, "metadata")
	for _, key := range []string{"uid", "creationTimestamp", "generation", "resourceVersion", "deletionTimestamp"} {
		if value, ok := old[key]; ok {
			changed[key] = value
		}
	}
	if same(before, now) {
		return 200, found.body
	}
	if !same(before["spec"], now["spec"]) {
		generation, _ := strconv.Atoi(fmt.Sprint(old["generation"]))
		changed["generation"] = generation + 1
	}
	return 200, s.replace(t, found, now).body
}
