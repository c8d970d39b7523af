package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func townOf(t *testing.T, w *world) (*server, *httptest.Server) {
	t.Helper()
	folder := t.TempDir()
	if err := w.write(folder); err != nil {
		t.Fatal(err)
	}
	s := newStore()
	if err := s.load(folder); err != nil {
		t.Fatal(err)
	}
	log, err := openLog(filepath.Join(folder, "requests.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	s.played = log.played
	all := &server{s, log}
	served := httptest.NewServer(all)
	t.Cleanup(served.Close)
	return all, served
}

func ask(t *testing.T, method, url, body string) (int, object) {
	t.Helper()
	request, _ := http.NewRequest(method, url, strings.NewReader(body))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, parse(raw)
}

const testbedURL = "/apis/esi.tu-berlin.de/v1alpha1/namespaces/default/testbeds/slots"

func TestPagesHoldEachObjectOnceInTheOrderOfKeys(t *testing.T) {
	_, served := townOf(t, &world{nodes: 3, slots: 2, others: 7})
	var names []string
	next := ""
	for page := 0; page < 5; page++ {
		_, answer := ask(t, "GET", served.URL+"/api/v1/pods?limit=5&continue="+next, "")
		for _, each := range listOf(answer, "items") {
			meta := sub(each.(object), "metadata")
			names = append(names, text(meta, "namespace")+"/"+text(meta, "name"))
		}
		if next = text(answer, "metadata", "continue"); next == "" {
			break
		}
	}
	if len(names) != 13 {
		t.Fatalf("13 pods were made, the pages show %d: %v", len(names), names)
	}
	for i := 1; i < len(names); i++ {
		if names[i-1] >= names[i] {
			t.Errorf("%s comes before %s", names[i-1], names[i])
		}
	}
}

func TestAStreamingListEndsWithABookmarkAndGoesOnAsAWatch(t *testing.T) {
	_, served := townOf(t, &world{nodes: 2, slots: 2})
	answer, err := http.Get(served.URL + "/api/v1/pods?watch=true&sendInitialEvents=true&labelSelector=esi.tu-berlin.de/testbed")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	next := func() object {
		if !lines.Scan() {
			t.Fatal("the watch ended")
		}
		return parse(lines.Bytes())
	}
	for i := range 4 {
		if what := text(next(), "type"); what != "ADDED" {
			t.Fatalf("event %d is %s", i, what)
		}
	}
	end := next()
	if note := text(end, "object", "metadata", "annotations", "k8s.io/initial-events-end"); note != "true" {
		t.Fatalf("no end of the list, but %v", end)
	}
	name := ghostName(testbedName, uid(1, 1), nodeName(0), 0)
	if code, _ := ask(t, "DELETE", served.URL+"/api/v1/namespaces/default/pods/"+name, "{}"); code != 200 {
		t.Fatal(code)
	}
	gone := next()
	if text(gone, "type") != "DELETED" || text(gone, "object", "metadata", "name") != name {
		t.Errorf("the deletion of %s was shown as %v", name, gone)
	}
}

func TestWritesAreGuardedAsTheAPIServerGuardsThem(t *testing.T) {
	_, served := townOf(t, &world{nodes: 1, slots: 1})
	for _, row := range []struct {
		what, url, body string
		code            int
	}{
		{"another uid", testbedURL, `{"metadata":{"uid":"x","labels":{"a":"b"}}}`, 422},
		{"another version", testbedURL, `{"metadata":{"resourceVersion":"7","labels":{"a":"b"}}}`, 409},
		{"no such object", testbedURL + "-x", `{}`, 404},
		{"a change", testbedURL, `{"metadata":{"labels":{"a":"b"}}}`, 200},
	} {
		if code, _ := ask(t, "PATCH", served.URL+row.url, row.body); code != row.code {
			t.Errorf("%s: %d instead of %d", row.what, code, row.code)
		}
	}
}

func TestAStrategicPatchChangesTheContainerOfThatName(t *testing.T) {
	_, served := townOf(t, &world{nodes: 1, slots: 1})
	url := served.URL + "/api/v1/namespaces/default/pods/" + ghostName(testbedName, uid(1, 1), nodeName(0), 0)
	request, _ := http.NewRequest("PATCH", url, strings.NewReader(`{"spec":{"containers":[{"name":"ghost","image":"x"}]}}`))
	request.Header.Set("Content-Type", "application/strategic-merge-patch+json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, _ := io.ReadAll(answer.Body)
	container := listOf(sub(parse(raw), "spec"), "containers")[0].(object)
	if container["image"] != "x" || text(container, "resources", "requests", "cpu") != "600m" {
		t.Errorf("%v", container)
	}
}

func TestAStatusIsWrittenByItsSubresourceOnly(t *testing.T) {
	_, served := townOf(t, &world{nodes: 1, slots: 1})
	_, same := ask(t, "PATCH", served.URL+testbedURL, `{"status":{"state":"X"}}`)
	if text(same, "status", "state") != "" {
		t.Error("a patch of the object changed its status")
	}
	before := text(same, "metadata", "resourceVersion")
	_, changed := ask(t, "PATCH", served.URL+testbedURL+"/status", `{"status":{"state":"X"},"spec":{"slotsPerNode":9}}`)
	if text(changed, "status", "state") != "X" || lookup(changed, "spec", "slotsPerNode") != json.Number("1") {
		t.Errorf("the status was not written alone: %v", changed)
	}
	_, again := ask(t, "PATCH", served.URL+testbedURL+"/status", `{"status":{"state":"X"}}`)
	if v := text(changed, "metadata", "resourceVersion"); v == before || v != text(again, "metadata", "resourceVersion") {
		t.Error("a change moves the version, and a patch without effect does not")
	}
}

func TestAnObjectWithAFinalizerGoesWithTheLastOfThem(t *testing.T) {
	_, served := townOf(t, &world{nodes: 1, slots: 1})
	ask(t, "PATCH", served.URL+testbedURL, `{"metadata":{"finalizers":["a/b"]}}`)
	ask(t, "DELETE", served.URL+testbedURL, `{}`)
	code, going := ask(t, "GET", served.URL+testbedURL, "")
	if code != 200 || text(going, "metadata", "deletionTimestamp") == "" {
		t.Fatalf("%d %v", code, going)
	}
	ask(t, "PATCH", served.URL+testbedURL, `{"metadata":{"finalizers":null}}`)
	if code, _ := ask(t, "GET", served.URL+testbedURL, ""); code != 404 {
		t.Errorf("it is still there: %d", code)
	}
}

func TestAFileWithoutIndexIsReadAllTheSame(t *testing.T) {
	folder := t.TempDir()
	if err := (&world{nodes: 2, slots: 1}).write(folder); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(folder, "pods.index"))
	s := newStore()
	if err := s.load(folder); err != nil {
		t.Fatal(err)
	}
	found, _, _ := s.snapshot(kindOf("", "pods"), selector{node: nodeName(1)})
	if len(found) != 1 || found[0].labels["esi.tu-berlin.de/ghost"] != "true" {
		t.Errorf("not the ghost of %s: %v", nodeName(1), found)
	}
}

func TestThePlayersBindAPodOnceItsGateIsGoneAndThereIsRoom(t *testing.T) {
	s, served := townOf(t, &world{nodes: 1, slots: 1})
	go s.play(0)
	pods := served.URL + "/api/v1/namespaces/default/pods"
	ask(t, "POST", pods, `{"metadata":{"name":"a"},"spec":{"schedulingGates":[{"name":"g"}],"nodeSelector":{"kubernetes.io/hostname":"node-00000"},
		"containers":[{"name":"c","resources":{"requests":{"cpu":"63500m"}}}]}}`)
	node := func() string { _, pod := ask(t, "GET", pods+"/a", ""); return text(pod, "spec", "nodeName") }
	ask(t, "PATCH", pods+"/a", `{"spec":{"schedulingGates":null}}`)
	time.Sleep(50 * time.Millisecond)
	if at := node(); at != "" {
		t.Fatalf("bound to %s beside a ghost of 600m, of 64 cores", at)
	}
	ask(t, "DELETE", pods+"/"+ghostName(testbedName, uid(1, 1), nodeName(0), 0), "{}")
	for range 100 {
		if node() == nodeName(0) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("it was not bound when the ghost had gone")
}

func TestFedPodsComeAndGo(t *testing.T) {
	s, _ := townOf(t, &world{nodes: 2, slots: 1, others: 4})
	before := len(s.table(kindOf("", "pods")).objects)
	if sent := s.feed("life", 1000, 0.05); sent != 50 {
		t.Errorf("%d events of 50", sent)
	}
	pods := s.table(kindOf("", "pods"))
	if len(pods.history) != 50 || len(pods.objects) != before {
		t.Errorf("%d changes, %d pods of %d", len(pods.history), len(pods.objects), before)
	}
}

func TestAnAnswerShowsTheMetadataAloneWhereThatIsAskedFor(t *testing.T) {
	_, served := townOf(t, &world{nodes: 2, slots: 2})
	_, whole := ask(t, "GET", served.URL+testbedURL, "")
	for _, method := range []string{"GET", "PATCH"} {
		request, _ := http.NewRequest(method, served.URL+testbedURL, strings.NewReader(`{"metadata":{"labels":{"a":"b"}}}`))
		request.Header.Set("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		shown := parse(raw)
		if len(shown) != 3 || text(shown, "kind") != "PartialObjectMetadata" || text(shown, "apiVersion") != "meta.k8s.io/v1" {
			t.Errorf("%s: no PartialObjectMetadata: %s", method, raw)
		}
		if text(shown, "metadata", "uid") != text(whole, "metadata", "uid") {
			t.Errorf("%s: the metadata are not the object's: %s", method, raw)
		}
		if method == "PATCH" && text(shown, "metadata", "labels", "a") != "b" {
			t.Errorf("the label that was set is not shown: %s", raw)
		}
	}
	if _, now := ask(t, "GET", served.URL+testbedURL, ""); !same(now["spec"], whole["spec"]) || text(now, "kind") != "Testbed" {
		t.Error("the object itself has changed")
	}
}
