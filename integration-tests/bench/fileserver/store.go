package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// entry is one version of one object. It is never changed; a write makes another one. body is the JSON
// text as it is sent: of a recorded object a part of the mapped file.
type entry struct {
	ns, name, uid string
	version       uint64
	node          string // pods: spec.nodeName
	labels        map[string]string
	body          []byte
	taken         int64 // thousandths of processors that the pod holds, plus one; 0: not worked out yet
}

func (e *entry) key() string { return e.ns + "/" + e.name }

// event is one change, as a watch reports it.
type event struct {
	what    string // ADDED, MODIFIED, DELETED
	version uint64
	now     *entry
	labels  map[string]string // of the object before a change, for selectors
}

// table holds the objects of one kind and all changes since the start of this program.
type table struct {
	of      *kind
	objects map[string]*entry
	sorted  []*entry // by key
	history []event
	byNode  index // pods: spec.nodeName
	byApp   index // pods of Spark: namespace/application
}

// index files the entries of a table under one value each; "" is not filed.
type index map[string]map[string]*entry

func (x index) file(value, key string, e *entry) {
	if value == "" {
		return
	}
	if x[value] == nil {
		x[value] = map[string]*entry{}
	}
	x[value][key] = e
}

func (x index) unfile(value, key string) {
	delete(x[value], key)
	if len(x[value]) == 0 {
		delete(x, value)
	}
}

func (e *entry) application() string {
	if name := e.labels[sparkApp]; name != "" {
		return e.ns + "/" + name
	}
	return ""
}

type store struct {
	// notes a write that no request made: what a player did.
	played  func(of *kind, verb, sub, ns, name string)
	mu      sync.Mutex
	tables  map[*kind]*table
	version uint64
	changed chan struct{} // closed and made anew at each change
}

func newStore() *store {
	return &store{tables: map[*kind]*table{}, version: 1, changed: make(chan struct{}),
		played: func(*kind, string, string, string, string) {}}
}

// table of a kind. The caller holds mu.
func (s *store) table(of *kind) *table {
	found := s.tables[of]
	if found == nil {
		found = &table{of: of, objects: map[string]*entry{}, byNode: index{}, byApp: index{}}
		s.tables[of] = found
	}
	return found
}

// add without sorting, for a whole file; sort() comes after it.
func (t *table) add(e *entry) {
	key := e.key()
	t.objects[key] = e
	t.sorted = append(t.sorted, e)
	t.byNode.file(e.node, key, e)
	t.byApp.file(e.application(), key, e)
}

func (t *table) sort() {
	slices.SortFunc(t.sorted, func(a, b *entry) int { return strings.Compare(a.key(), b.key()) })
}

func (t *table) at(key string) (int, bool) {
	return slices.BinarySearchFunc(t.sorted, key, func(e *entry, key string) int { return strings.Compare(e.key(), key) })
}

func (t *table) keep(e *entry) {
	key := e.key()
	at, known := t.at(key)
	if known {
		before := t.sorted[at]
		t.byNode.unfile(before.node, key)
		t.byApp.unfile(before.application(), key)
		t.sorted[at] = e
	} else {
		t.sorted = slices.Insert(t.sorted, at, e)
	}
	t.objects[key] = e
	t.byNode.file(e.node, key, e)
	t.byApp.file(e.application(), key, e)
}

func (t *table) drop(e *entry) {
	key := e.key()
	if at, known := t.at(key); known {
		t.sorted = slices.Delete(t.sorted, at, at+1)
	}
	delete(t.objects, key)
	t.byNode.unfile(e.node, key)
	t.byApp.unfile(e.application(), key)
}

// tell notes a change and wakes the watches. The caller holds mu.
func (s *store) tell(t *table, what string, now *entry, before *entry) {
	change := event{what: what, version: s.version, now: now}
	if before != nil {
		change.labels = before.labels
	}
	t.history = append(t.history, change)
	close(s.changed)
	s.changed = make(chan struct{})
}

// header is what the server reads of an object.
type header struct {
	Metadata struct {
		Name              string            `json:"name"`
		Namespace         string            `json:"namespace"`
		UID               string            `json:"uid"`
		ResourceVersion   string            `json:"resourceVersion"`
		Labels            map[string]string `json:"labels"`
		DeletionTimestamp string            `json:"deletionTimestamp"`
		Finalizers        []string          `json:"finalizers"`
	} `json:"metadata"`
	Spec struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
}

func entryOf(body []byte) (*entry, error) {
	var head header
	if err := json.Unmarshal(body, &head); err != nil {
		return nil, err
	}
	version, _ := strconv.ParseUint(head.Metadata.ResourceVersion, 10, 64)
	return &entry{head.Metadata.Namespace, head.Metadata.Name, head.Metadata.UID, version,
		head.Spec.NodeName, kept(head.Metadata.Labels), body, 0}, nil
}

// kept: ESI selects by its own labels only; the others would cost memory in each of 200,000 entries.
func kept(labels map[string]string) map[string]string {
	var out map[string]string
	for key, value := range labels {
		if strings.Contains(key, "esi.tu-berlin.de/") || strings.HasPrefix(key, "spark") {
			if out == nil {
				out = map[string]string{}
			}
			out[key] = value
		}
	}
	return out
}

// load maps KIND.jsonl of each kind: one object a line. KIND.index beside it (see index) saves the
// parsing; where it is missing it is made.
func (s *store) load(folder string) error {
	for _, of := range kinds {
		path := filepath.Join(folder, of.file())
		file, err := os.Open(path)
		if os.IsNotExist(err) {
			continue
		} else if err != nil {
			return err
		}
		size, err := file.Stat()
		if err != nil || size.Size() == 0 {
			file.Close()
			continue
		}
		data, err := syscall.Mmap(int(file.Fd()), 0, int(size.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
		file.Close()
		if err != nil {
			return err
		}
		if err := s.loadTable(s.table(of), data, strings.TrimSuffix(path, ".jsonl")+".index"); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func (s *store) loadTable(t *table, data []byte, index string) error {
	take := func(e *entry) {
		t.add(e)
		s.version = max(s.version, e.version)
	}
	defer t.sort()
	if file, err := os.Open(index); err == nil {
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		at := 0
		for lines.Scan() {
			// length, namespace, name, uid, version, node, then label=value pairs.
			cells := strings.Split(lines.Text(), "\t")
			length, _ := strconv.Atoi(cells[0])
			version, _ := strconv.ParseUint(cells[4], 10, 64)
			e := &entry{cells[1], cells[2], cells[3], version, cells[5], nil, data[at : at+length], 0}
			for _, pair := range cells[6:] {
				if key, value, ok := strings.Cut(pair, "="); ok {
					if e.labels == nil {
						e.labels = map[string]string{}
					}
					e.labels[key] = value
				}
			}
			take(e)
			at += length + 1
		}
		return lines.Err()
	}
	var out bytes.Buffer
	for at := 0; at < len(data); {
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			end = len(data) - at
		}
		if end > 0 {
			e, err := entryOf(data[at : at+end])
			if err != nil {
				return err
			}
			take(e)
			writeIndex(&out, e)
		}
		at += end + 1
	}
	return os.WriteFile(index, out.Bytes(), 0o644)
}

func writeIndex(out *bytes.Buffer, e *entry) {
	fmt.Fprintf(out, "%d\t%s\t%s\t%s\t%d\t%s", len(e.body), e.ns, e.name, e.uid, e.version, e.node)
	for key, value := range e.labels {
		fmt.Fprintf(out, "\t%s=%s", key, value)
	}
	out.WriteByte('\n')
}

// object is JSON that is changed.
type object = map[string]any

func (s *store) get(of *kind, ns, name string) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.table(of).objects[ns+"/"+name]
}

func parse(body []byte) object {
	var out object
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&out) != nil {
		return nil
	}
	return out
}

func render(o object) []byte {
	out, _ := json.Marshal(o)
	return out
}

func sub(o object, key string) object {
	found, _ := o[key].(object)
	if found == nil {
		found = object{}
		o[key] = found
	}
	return found
}

func text(o object, path ...string) string {
	for _, key := range path[:len(path)-1] {
		next, ok := o[key].(object)
		if !ok {
			return ""
		}
		o = next
	}
	out, _ := o[path[len(path)-1]].(string)
	return out
}

// create, replace and remove are the only writes. The caller holds mu.

func (s *store) create(t *table, o object) *entry {
	s.version++
	meta := sub(o, "metadata")
	o["apiVersion"] = t.of.apiVersion()
	if text(o, "kind") == "" {
		o["kind"] = t.of.kind
	}
	meta["uid"] = newUID()
	meta["creationTimestamp"] = time.Now().UTC().Format(time.RFC3339)
	meta["generation"] = 1
	meta["resourceVersion"] = strconv.FormatUint(s.version, 10)
	e, _ := entryOf(render(o))
	t.keep(e)
	s.tell(t, "ADDED", e, nil)
	return e
}

func (s *store) replace(t *table, before *entry, o object) *entry {
	s.version++
	meta := sub(o, "metadata")
	meta["resourceVersion"] = strconv.FormatUint(s.version, 10)
	e, _ := entryOf(render(o))
	if _, going := meta["deletionTimestamp"]; going && len(listOf(meta, "finalizers")) == 0 {
		t.drop(before)
		s.tell(t, "DELETED", e, before)
		return e
	}
	t.keep(e)
	s.tell(t, "MODIFIED", e, before)
	return e
}

func (s *store) remove(t *table, e *entry) {
	o := parse(e.body)
	meta := sub(o, "metadata")
	if len(listOf(meta, "finalizers")) > 0 {
		if _, going := meta["deletionTimestamp"]; !going {
			meta["deletionTimestamp"] = time.Now().UTC().Format(time.RFC3339)
			s.replace(t, e, o)
		}
		return
	}
	s.version++
	meta["resourceVersion"] = strconv.FormatUint(s.version, 10)
	last, _ := entryOf(render(o))
	t.drop(e)
	s.tell(t, "DELETED", last, e)
}

func listOf(o object, key string) []any {
	out, _ := o[key].([]any)
	return out
}
