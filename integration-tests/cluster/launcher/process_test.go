package launcher

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func TestAProcessIsKnownByPidAndStartTime(t *testing.T) {
	command := exec.Command("sleep", "60")
	if err := newSpawner().start(command); err != nil {
		t.Fatal(err)
	}
	id, err := identify(command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if !id.alive() {
		t.Error("a running process counts as dead")
	}
	impostor := processID{id.PID, id.Start + 1}
	if impostor.alive() {
		t.Error("the same pid with another start time counts as alive")
	}
	if err := impostor.kill(syscall.SIGKILL); err != os.ErrProcessDone {
		t.Errorf("kill of an impostor gives %v, want %v", err, os.ErrProcessDone)
	}
	if err := id.kill(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	_ = command.Wait()
	if id.alive() {
		t.Error("a killed process counts as alive")
	}
}
