package sparkstub

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Annotations of the driver's pod by which a test says how the application goes.
// They arrive as spark.kubernetes.driver.annotation.*, and are looked at anew all
// the time: a run can be ended by annotating the running driver.
const (
	// How long the application runs once all executors do; default 3.
	annotationRunSeconds = "esi-test/run-seconds"
	// "true": the application ends with exit code 1 instead of 0.
	annotationFail = "esi-test/fail"
	// Not empty: spark-submit itself fails, with this text.
	annotationSubmitFail = "esi-test/submit-fail"
	// So many executors instead of spark.executor.instances, fewer or more.
	annotationExecutors = "esi-test/executors"
	// So long from the driver's start to the first executor; default 0.
	annotationExecutorDelay = "esi-test/executor-delay-seconds"
	// The driver dies so long after all executors run, without a word to them: they
	// stay as failed pods.
	annotationCrashAfter = "esi-test/crash-after"
	// Of any pod, and kwok's: still running so long after its deletion.
	annotationTermination = "esi-test/termination-seconds"
)

// script is what the driver's annotations say.
type script struct {
	run, delay time.Duration
	crashAfter time.Duration // < 0: does not
	fail       bool
	executors  int
}

func readScript(driver *corev1.Pod, instances int) script {
	annotations := driver.Annotations
	s := script{
		run:        duration(annotations[annotationRunSeconds], 3*time.Second),
		delay:      duration(annotations[annotationExecutorDelay], 0),
		crashAfter: duration(annotations[annotationCrashAfter], -1),
		fail:       annotations[annotationFail] == "true",
		executors:  instances,
	}
	if number, err := strconv.Atoi(annotations[annotationExecutors]); err == nil {
		s.executors = number
	}
	return s
}

func duration(text string, fallback time.Duration) time.Duration {
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		return time.Duration(number * float64(time.Second))
	}
	return fallback
}
