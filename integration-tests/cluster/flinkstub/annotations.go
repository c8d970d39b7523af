package flinkstub

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Annotations of the JobManager's pod by which a test says how the job goes; the
// names are those of the stand-in for Spark. They are looked at anew all the
// time: a run can be ended by annotating the running JobManager.
const (
	// How long the job runs once all its TaskManagers do; default 3.
	annotationRunSeconds = "esi-test/run-seconds"
	// "true": the job ends as FAILED instead of FINISHED.
	annotationFail = "esi-test/fail"
	// Not empty: the job's main method fails, with this text, before it asks for slots.
	annotationSubmitFail = "esi-test/submit-fail"
)

// script is what the JobManager's annotations say.
type script struct {
	run        time.Duration
	fail       bool
	submitFail string
}

func readScript(jobManager *corev1.Pod) script {
	annotations := jobManager.Annotations
	s := script{run: 3 * time.Second, fail: annotations[annotationFail] == "true",
		submitFail: annotations[annotationSubmitFail]}
	if number, err := strconv.ParseFloat(annotations[annotationRunSeconds], 64); err == nil {
		s.run = time.Duration(number * float64(time.Second))
	}
	return s
}
