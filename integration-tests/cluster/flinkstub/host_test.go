package flinkstub

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ask sends a request to the JobManager of that Service, as the operator does.
func ask(t *testing.T, h *host, service, method, path string) (int, map[string]any) {
	t.Helper()
	request := httptest.NewRequest(method, path, nil)
	request.Host = service
	recorder := httptest.NewRecorder()
	h.routes().ServeHTTP(recorder, request)
	content, err := io.ReadAll(recorder.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(content, &answer); err != nil {
		t.Fatalf("%s %s: %v in %q", method, path, err, content)
	}
	return recorder.Code, answer
}

func twoClusters(t *testing.T) (*host, *job, *job) {
	t.Helper()
	h := &host{plays: map[string]*play{}}
	var jobs []*job
	for _, name := range []string{"one", "two"} {
		j, err := newJob("job-of-"+name, name, twoSlots, time.Unix(1000, 0))
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, j)
		h.plays["uid-of-"+name] = &play{job: j, slots: 1, pod: &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "jobs", Name: name + "-1", Labels: map[string]string{"app": name}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Image: "registry:5000/flink:1.18"}}}}}
	}
	return h, jobs[0], jobs[1]
}

func TestEachJobManagerAnswersUnderTheNameOfItsService(t *testing.T) {
	h, _, two := twoClusters(t)
	two.enter(stateRunning, time.Unix(1010, 0))
	code, answer := ask(t, h, "two-rest.jobs:8081", "GET", "/v1/jobs/overview")
	if code != http.StatusOK {
		t.Fatal(code, answer)
	}
	line := answer["jobs"].([]any)[0].(map[string]any)
	for key, want := range map[string]any{"jid": "job-of-two", "name": "two", "state": "RUNNING",
		"start-time": 1000000.0, "end-time": -1.0, "last-modification": 1010000.0} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
	tasks := line["tasks"].(map[string]any)
	if len(tasks) != 11 || tasks["total"] != 2.0 || tasks["running"] != 2.0 || tasks["failed"] != 0.0 {
		t.Errorf("tasks: %v", tasks)
	}
	_, answer = ask(t, h, "two-rest.jobs", "GET", "/config")
	if answer["flink-version"] != "1.18" {
		t.Errorf("the image is of Flink %v, want 1.18", answer["flink-version"])
	}
}

func TestWithoutAJobManagerNobodyAnswers(t *testing.T) {
	h, _, _ := twoClusters(t)
	for _, service := range []string{"three-rest.jobs:8081", "two-rest.other:8081", "localhost:8081"} {
		if code, answer := ask(t, h, service, "GET", "/v1/jobs/overview"); code != http.StatusServiceUnavailable {
			t.Errorf("%s answers %d: %v", service, code, answer)
		}
	}
}

func TestAJobIsCancelledByItsNumberAlone(t *testing.T) {
	h, one, two := twoClusters(t)
	if code, _ := ask(t, h, "one-rest.jobs:1", "PATCH", "/v1/jobs/job-of-two?mode=cancel"); code != http.StatusNotFound {
		t.Errorf("a job of another JobManager: %d", code)
	}
	if code, _ := ask(t, h, "one-rest.jobs:1", "PATCH", "/v1/jobs/job-of-one?mode=stop"); code != http.StatusBadRequest {
		t.Errorf("another mode: %d", code)
	}
	if code, _ := ask(t, h, "one-rest.jobs:1", "PATCH", "/v1/jobs/job-of-one?mode=cancel"); code != http.StatusAccepted {
		t.Errorf("cancel: %d", code)
	}
	if one.state != stateCanceled || two.state != stateCreated {
		t.Errorf("the one is %s, the other %s", one.state, two.state)
	}
}

func TestAFailureIsToldAsAnExceptionAndAsAJavaObject(t *testing.T) {
	h, one, _ := twoClusters(t)
	if _, answer := ask(t, h, "one-rest.jobs:1", "GET", "/v1/jobs/job-of-one/execution-result"); answer["status"].(map[string]any)["id"] != "IN_PROGRESS" {
		t.Errorf("before its end: %v", answer)
	}
	one.fail(time.Unix(1007, 0), "java.io.IOException", "disk full")
	_, answer := ask(t, h, "one-rest.jobs:1", "GET", "/v1/jobs/job-of-one/exceptions")
	if answer["root-exception"] != "java.io.IOException: disk full" || answer["timestamp"] != 1007000.0 {
		t.Errorf("exceptions: %v", answer)
	}
	_, answer = ask(t, h, "one-rest.jobs:1", "GET", "/v1/jobs/job-of-one/execution-result")
	result := answer["job-execution-result"].(map[string]any)
	if result["application-status"] != "FAILED" || result["net-runtime"] != 7000.0 {
		t.Errorf("result: %v", result)
	}
	if text, _ := result["failure-cause"].(map[string]any)["serialized-throwable"].(string); !strings.HasPrefix(text, "rO0ABXNy") { // 0xaced0005, an object, its class
		t.Errorf("the throwable is %q", text)
	}
}

func TestAThrowableHoldsItsTextBetweenTheClasses(t *testing.T) {
	got := serializedThrowable(failure{"java.io.IOException", "disk full"})
	for _, part := range []string{"\xac\xed\x00\x05sr\x00)org.apache.flink.util.SerializedThrowable",
		"t\x00\x1ejava.io.IOException: disk full" + "ur\x00\x1e[Ljava.lang.StackTraceElement;",
		"xt\x00\x1fjava.io.IOException: disk full\n" + "t\x00\x13java.io.IOException" + "ur\x00\x02[B"} {
		if !bytes.Contains(got, []byte(part)) {
			t.Errorf("%q is not in %q", part, got)
		}
	}
	if !bytes.HasSuffix(got, []byte("xp\x00\x00\x00\x00")) {
		t.Errorf("the last thing is not an empty array: %q", got[len(got)-8:])
	}
}
