package flinkstub

import "testing"

// As the operator writes it.
const operatorsConf = `blob.server.port: 6124
jobmanager.rpc.address: demo.default
$internal.application.program-args: --input;x: y
parallelism.default: 6
# a comment
taskmanager.numberOfTaskSlots: 4 # another
$internal.pipeline.job-id: 8be1bc1ebef5dff32d9a256b6ca72444
restart-strategy: none
`

func TestTheOperatorsConfigurationIsUnderstood(t *testing.T) {
	c := readConf(operatorsConf)
	if got := c["$internal.application.program-args"]; got != "--input;x: y" {
		t.Errorf("the arguments are %q: only the first colon separates", got)
	}
	if got, err := c.taskManagers(); err != nil || got != 2 {
		t.Errorf("%d TaskManagers (%v), want 2 for 6 tasks by 4", got, err)
	}
	if got := c.jobID("default", "demo"); got != "8be1bc1ebef5dff32d9a256b6ca72444" {
		t.Errorf("job %s, want the operator's choice", got)
	}
	if c.restarts() {
		t.Error("strategy none restarts")
	}
}

func TestNumbersThatAreNoneAreRefused(t *testing.T) {
	for _, text := range []string{"0", "-1", "two", "1.5"} {
		if got, err := (conf{"parallelism.default": text}).taskManagers(); err == nil {
			t.Errorf("parallelism %q gives %d TaskManagers, want an error", text, got)
		}
	}
}

func TestAJobRestartsAsItsConfigurationSays(t *testing.T) {
	for _, c := range []struct {
		name string
		conf conf
		want bool
	}{
		{"without a strategy and checkpoints it does not", conf{}, false},
		{"with checkpoints it does", conf{"execution.checkpointing.interval": "10s"}, true},
		{"but not against its strategy", conf{"execution.checkpointing.interval": "10s", "restart-strategy": "off"}, false},
		{"a strategy is one", conf{"restart-strategy": "exponential-delay"}, true},
		{"also under its newer name", conf{"restart-strategy.type": "fixed-delay"}, true},
		{"where none is none, too", conf{"restart-strategy.type": "none"}, false},
	} {
		if got := c.conf.restarts(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestWithoutTheOperatorsChoiceTheJobsNumberComesOfItsName(t *testing.T) {
	a, b := conf{}.jobID("default", "a"), conf{}.jobID("default", "b")
	if len(a) != 32 || a == b || a != (conf{}).jobID("default", "a") {
		t.Errorf("a is %s, b is %s", a, b)
	}
}
