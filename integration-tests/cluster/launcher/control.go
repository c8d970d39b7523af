package launcher

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// The commands talk to the supervisor over a socket in the cluster's folder.
//
// A socket's path has at most 107 characters, a folder's may be longer: so the
// folder is opened and the socket named by way of /proc/self/fd.
func (d Dir) socket() (path string, release func(), err error) {
	folder, err := os.Open(string(d))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/supervisor.sock", folder.Fd()), func() { folder.Close() }, nil
}

func (s *supervisor) serveControl() (io.Closer, error) {
	path, release, err := s.dir.socket()
	if err != nil {
		return nil, err
	}
	defer release()
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	// Its path leads through a descriptor that is closed by then.
	listener.(*net.UnixListener).SetUnlinkOnClose(false)

	routes := http.NewServeMux()
	routes.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		s.mutex.Lock()
		state := s.stateLocked()
		s.mutex.Unlock()
		_ = json.NewEncoder(w).Encode(state)
	})
	routes.HandleFunc("POST /down", func(w http.ResponseWriter, _ *http.Request) {
		s.cancel(errors.New("`down` was called"))
	})
	routes.HandleFunc("POST /stop", func(w http.ResponseWriter, r *http.Request) {
		answer(w, s.signal(r.FormValue("component"), r.FormValue("signal")))
	})
	routes.HandleFunc("POST /start", func(w http.ResponseWriter, r *http.Request) {
		if extender := r.FormValue("extender"); extender != "" {
			answer(w, s.startSecondScheduler(r.Context(), extender))
			return
		}
		if name := r.FormValue("component"); name == flinkOperatorName && !s.has(name) {
			answer(w, s.addFlink(r.Context()))
			return
		}
		answer(w, s.again(r.Context(), r.FormValue("component")))
	})
	go func() { _ = http.Serve(listener, routes) }()
	return listener, nil
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
	}
}

// startSecondScheduler starts it for an extender whose address was not known
// when the cluster was made, or has changed.
func (s *supervisor) startSecondScheduler(ctx context.Context, extenderURL string) error {
	if err := s.dir.writeSecondScheduler(extenderURL); err != nil {
		return err
	}
	return s.launchReady(ctx, scheduler(s.dir, "second-scheduler", s.ports.SecondScheduler, s.options))
}

var errNoSupervisor = errors.New("no cluster runs there")

// call asks the supervisor of the folder; errNoSupervisor if there is none.
func (d Dir) call(method, path string, form url.Values) ([]byte, error) {
	socket, release, err := d.socket()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d, errNoSupervisor)
	}
	defer release()
	client := &http.Client{Timeout: patience + 30*time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}}}
	request, err := http.NewRequest(method, "http://supervisor"+path+"?"+form.Encode(), nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if _, isDial := errors.AsType[*net.OpError](err); isDial {
		return nil, fmt.Errorf("%s: %w", d, errNoSupervisor)
	} else if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(strings.TrimSpace(string(body)))
	}
	return body, err
}
