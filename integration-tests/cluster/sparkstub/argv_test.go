package sparkstub

import (
	"reflect"
	"strings"
	"testing"
)

// operatorArgv is a call as the operator makes it.
func operatorArgv(more ...string) []string {
	argv := []string{
		"--master", "k8s://https://127.0.0.1:23456", "--deploy-mode", "cluster",
		"--class", "org.example.Main", "--name", "wordcount",
		"--conf", "spark.kubernetes.namespace=jobs",
		"--conf", "spark.kubernetes.container.image=spark:4",
		"--conf", "spark.kubernetes.driver.pod.name=wordcount-driver",
		"--conf", "spark.kubernetes.driver.label.sparkoperator.k8s.io/app-name=wordcount",
		"--conf", "spark.kubernetes.driver.request.cores=500m",
		"--conf", "spark.driver.memory=512m",
		"--conf", "spark.kubernetes.authenticate.driver.serviceAccountName=spark",
		"--conf", "spark.executor.instances=3",
		"--conf", "spark.executor.cores=2",
		"--conf", "spark.kubernetes.executor.request.cores=1500m",
		"--conf", "spark.kubernetes.executor.limit.cores=2",
		"--conf", "spark.executor.memory=2g",
		"--conf", "spark.executor.memoryOverhead=512m",
		"--conf", "spark.kubernetes.executor.label.team=a",
		"--conf", "spark.kubernetes.executor.annotation.example.com/slots=3,5",
	}
	return append(append(argv, more...), "local:///app.jar", "input.txt", "--verbose")
}

func mustParse(t *testing.T, argv []string) *submission {
	t.Helper()
	s, err := parseArgv(argv)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheOperatorsCallIsUnderstood(t *testing.T) {
	s := mustParse(t, operatorArgv("--conf", "spark.driver.extraJavaOptions=-Da=b -Dc=d"))
	if s.master != "k8s://https://127.0.0.1:23456" || s.name != "wordcount" || s.class != "org.example.Main" {
		t.Errorf("master %q, name %q, class %q", s.master, s.name, s.class)
	}
	if s.resource != "local:///app.jar" || !reflect.DeepEqual(s.args, []string{"input.txt", "--verbose"}) {
		t.Errorf("application %q with arguments %q, want its own options left to it", s.resource, s.args)
	}
	for key, want := range map[string]string{
		"spark.kubernetes.executor.annotation.example.com/slots": "3,5",
		"spark.driver.extraJavaOptions":                          "-Da=b -Dc=d", // only the first = separates
	} {
		if s.conf[key] != want {
			t.Errorf("%s is %q, want %q", key, s.conf[key], want)
		}
	}
}

func TestOptionsStandForConfUnlessItIsGiven(t *testing.T) {
	s := mustParse(t, []string{"--master=k8s://x", "--driver-memory", "2g", "--executor-memory=3g",
		"-c", "spark.executor.memory=4g", "app.py"})
	if s.conf["spark.driver.memory"] != "2g" || s.conf["spark.executor.memory"] != "4g" {
		t.Errorf("driver %q, executor %q; want 2g and 4g", s.conf["spark.driver.memory"], s.conf["spark.executor.memory"])
	}
}

func TestWrongCallsAreRefusedWithTheReason(t *testing.T) {
	for want, argv := range map[string][]string{
		"unrecognized option: --colour": {"--colour", "blue", "app.jar"},
		"missing argument for option":   {"--master"},
		"missing application resource":  {"--master", "k8s://x"},
		"spark config without '='":      {"--master", "k8s://x", "--conf", "spark.x", "app.jar"},
		"want k8s://":                   {"--master", "local[2]", "app.jar"},
		"plays cluster mode only":       {"--master", "k8s://x", "--deploy-mode", "client", "app.jar"},
	} {
		if _, err := parseArgv(argv); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", argv, err, want)
		}
	}
}
