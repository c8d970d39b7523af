package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// A supervisor owns every process of one cluster. It starts them, says what
// became of them, and ends them all when it is told to, when the process that
// wanted the cluster is gone, or when the cluster's folder is. It restarts
// nothing: a test that kills a component wants it dead, and one that died by
// itself is a finding.
type supervisor struct {
	dir     Dir
	options Options
	ports   Ports
	pool    *portPool
	spawner *spawner
	self    processID

	mutex    sync.Mutex
	children []*child // in the order of their start

	cancel context.CancelCauseFunc
	report *progress
}

// child is one component's process; mutex of the supervisor guards it.
type child struct {
	component
	id      processID
	state   string // running, paused, stopped (on request), crashed
	exit    string // how it ended
	since   time.Time
	wanted  bool // false once it was told to stop
	process *exec.Cmd
	done    chan struct{} // closed when the process has ended
}

const (
	stateRunning = "running"
	statePaused  = "paused"
	stateStopped = "stopped"
	stateCrashed = "crashed"
)

// launch starts a component, or starts it again.
func (s *supervisor) launch(c component) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	old := s.find(c.name)
	if old != nil && (old.state == stateRunning || old.state == statePaused) {
		return fmt.Errorf("%s runs already (pid %d)", c.name, old.id.PID)
	}
	log, err := os.OpenFile(s.dir.log(c.name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	fmt.Fprintf(log, "--- %s %s\n", time.Now().Format(time.RFC3339Nano), c.name)

	binary := binaryOf(c, s.options)
	if binary == "" {
		if binary, err = os.Executable(); err != nil {
			return err
		}
	}
	command := exec.Command(binary, c.args...)
	command.Args[0] = c.program
	command.Env = append(os.Environ(), c.env...)
	command.Dir = s.dir.Path("run")
	command.Stdout, command.Stderr = log, log
	// A group of its own: what a terminal sends to the supervisor's is not for it.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.spawner.start(command); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	id, err := identify(command.Process.Pid)
	if err != nil {
		id = processID{PID: command.Process.Pid}
	}
	started := &child{component: c, id: id, state: stateRunning, since: time.Now(), wanted: true,
		process: command, done: make(chan struct{})}
	if old != nil {
		*old = *started
		started = old
	} else {
		s.children = append(s.children, started)
	}
	go s.reap(started, command, started.done)
	return nil
}

func (s *supervisor) reap(c *child, command *exec.Cmd, done chan struct{}) {
	err := command.Wait()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	c.exit, c.since = "exit status 0", time.Now()
	if err != nil {
		c.exit = err.Error()
	}
	c.state = stateStopped
	if c.wanted {
		c.state = stateCrashed
	}
	close(done)
	s.saveLocked()
}

// find needs the mutex.
func (s *supervisor) find(name string) *child {
	for _, c := range s.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// signal sends a signal to a component. KILL and TERM return when it has ended;
// one that does not end by TERM in 20 s is killed.
func (s *supervisor) signal(name, signalName string) error {
	signal, ok := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM,
		"STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT}[signalName]
	if !ok {
		return fmt.Errorf("signal %q: want KILL, TERM, STOP or CONT", signalName)
	}
	s.mutex.Lock()
	c := s.find(name)
	if c == nil {
		s.mutex.Unlock()
		return fmt.Errorf("this cluster has no %s", name)
	}
	if c.state != stateRunning && c.state != statePaused {
		s.mutex.Unlock()
		return fmt.Errorf("%s does not run (%s)", name, c.state)
	}
	switch signal {
	case syscall.SIGSTOP:
		c.state, c.since = statePaused, time.Now()
	case syscall.SIGCONT:
		c.state, c.since = stateRunning, time.Now()
	default:
		c.wanted = false
	}
	id, done := c.id, c.done
	err := id.kill(signal)
	s.saveLocked()
	s.mutex.Unlock()
	if err != nil || signal == syscall.SIGSTOP || signal == syscall.SIGCONT {
		return err
	}
	if signal == syscall.SIGTERM {
		_ = id.kill(syscall.SIGCONT) // a paused process would never see it
	}
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		_ = id.kill(syscall.SIGKILL)
		<-done
	}
	return nil
}

// again starts a component that was stopped, and waits until it serves.
func (s *supervisor) again(ctx context.Context, name string) error {
	s.mutex.Lock()
	c := s.find(name)
	if c == nil {
		s.mutex.Unlock()
		return fmt.Errorf("this cluster has no %s", name)
	}
	again := c.component
	s.mutex.Unlock()
	if name == "kwok" {
		// A new kwok leaves alone the nodes that the old one holds by their leases,
		// for the 40 s that those are good. (No API server, no matter: then kwok waits.)
		soon, cancel := context.WithTimeout(ctx, 5*time.Second)
		_ = s.dropNodeLeases(soon)
		cancel()
	}
	return s.launchReady(ctx, again)
}

// launchReady starts a component and waits until it serves, or is dead.
func (s *supervisor) launchReady(ctx context.Context, c component) error {
	if err := s.launch(c); err != nil {
		return err
	}
	s.save()
	return s.awaitReady(ctx, c)
}

// patience bounds a wait that has no other end: long, as a machine may have much else to do.
const patience = 5 * time.Minute

func (s *supervisor) awaitReady(ctx context.Context, c component) error {
	if c.ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("waited for %s", patience))
	defer cancel()
	ctx, died := context.WithCancelCause(ctx)
	defer died(nil)
	err := poll(ctx, 30*time.Millisecond, func() error {
		s.mutex.Lock()
		child := s.find(c.name)
		ended, exit := child.state == stateCrashed || child.state == stateStopped, child.exit
		s.mutex.Unlock()
		if ended {
			died(fmt.Errorf("%s has ended: %s; see %s", c.name, exit, s.dir.log(c.name)))
		}
		return c.ready()
	})
	if err != nil {
		return fmt.Errorf("%s does not get ready: %w", c.name, err)
	}
	return nil
}

// endAll ends every child, the last started first, and returns when none is left.
// Nothing of a cluster is kept, so there is no reason to be gentle.
func (s *supervisor) endAll() {
	s.mutex.Lock()
	children := append([]*child{}, s.children...)
	var waits []chan struct{}
	for i := len(children) - 1; i >= 0; i-- {
		c := children[i]
		c.wanted = false
		if c.state == stateRunning || c.state == statePaused {
			_ = c.id.kill(syscall.SIGKILL)
			waits = append(waits, c.done)
		}
	}
	s.mutex.Unlock()
	for _, done := range waits {
		<-done
	}
}

// watchOver returns when the cluster is to end: its folder or the process that
// wanted it is gone.
func (s *supervisor) watchOver(ctx context.Context) error {
	folder, err := os.Stat(string(s.dir))
	if err != nil {
		return err
	}
	parent := processID{s.options.ParentPID, s.options.ParentStart}
	ticker := time.NewTicker(300 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		if now, err := os.Stat(string(s.dir)); err != nil || !os.SameFile(folder, now) {
			return errors.New("the cluster's folder is gone")
		}
		if parent.PID != 0 && !parent.alive() {
			return fmt.Errorf("the process that wanted the cluster (pid %d) has ended", parent.PID)
		}
	}
}
