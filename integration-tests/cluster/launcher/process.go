package launcher

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// processID names a process for good. A pid alone is used again by the kernel;
// with the start time it cannot be mistaken.
type processID struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"startTime"` // field 22 of /proc/PID/stat, clock ticks since boot
}

func identify(pid int) (processID, error) {
	_, start, err := readStat(pid)
	return processID{pid, start}, err
}

// alive says whether the very process still runs; a zombie does not.
func (p processID) alive() bool {
	state, start, err := readStat(p.PID)
	return err == nil && start == p.Start && state != "Z" && state != "X"
}

// kill sends the signal to the process, never to one that got its pid later.
func (p processID) kill(signal syscall.Signal) error {
	if p.PID <= 1 || !p.alive() {
		return os.ErrProcessDone
	}
	return syscall.Kill(p.PID, signal)
}

func readStat(pid int) (state string, start uint64, err error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, err
	}
	// The second field is the name in brackets and may itself contain blanks and
	// brackets: count from the last closing one.
	rest := string(content[strings.LastIndexByte(string(content), ')')+1:])
	fields := strings.Fields(rest)
	if len(fields) < 20 {
		return "", 0, fmt.Errorf("/proc/%d/stat is too short", pid)
	}
	start, err = strconv.ParseUint(fields[19], 10, 64)
	return fields[0], start, err
}

// spawner starts children that the kernel kills when this process ends, even by
// kill -9 (PR_SET_PDEATHSIG). The kernel ties that to the *thread* that forked,
// and Go ends threads at will: hence one thread that forks and never ends.
type spawner struct{ requests chan func() }

func newSpawner() *spawner {
	s := &spawner{requests: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for request := range s.requests {
			request()
		}
	}()
	return s
}

func (s *spawner) start(command *exec.Cmd) error {
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	done := make(chan error)
	s.requests <- func() { done <- command.Start() }
	return <-done
}
