package launcher

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// progress tells whoever runs `up` how far things are, by a pipe, and writes the
// same into the supervisor's log. When nobody reads the pipe any more before the
// cluster is ready, nobody wants the cluster.
type progress struct {
	mutex sync.Mutex
	out   *os.File // nil once the last line was said
	begin time.Time
	gone  func(error)
}

// progressVariable tells the supervisor that descriptor 3 is the pipe.
const progressVariable = "ESI_CLUSTER_PROGRESS"

func newProgress(gone func(error)) *progress {
	p := &progress{begin: time.Now(), gone: gone}
	if os.Getenv(progressVariable) != "" {
		os.Unsetenv(progressVariable)
		syscall.CloseOnExec(3) // a child that keeps the pipe open keeps `up` waiting
		p.out = os.NewFile(3, "progress")
	}
	return p
}

func (p *progress) say(format string, values ...any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	line := fmt.Sprintf(format, values...)
	fmt.Fprintf(os.Stderr, "%s %s\n", time.Now().Format("15:04:05.000"), line)
	if p.out == nil {
		return
	}
	if _, err := fmt.Fprintf(p.out, "%5.1fs  %s\n", time.Since(p.begin).Seconds(), line); err != nil {
		p.gone(errors.New("`up` was interrupted"))
	}
}

// The last line says how it went: `up` returns after it.
const (
	lastLineReady  = "ready"
	lastLineFailed = "failed: "
)

func (p *progress) close(last string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.out != nil {
		fmt.Fprintln(p.out, last)
		p.out.Close()
		p.out = nil
	}
}
