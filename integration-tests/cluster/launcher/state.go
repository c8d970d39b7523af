package launcher

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// State is what `status` prints. The supervisor also keeps it in state.json, so
// that a cluster whose supervisor was killed can be looked at and cleared away.
type State struct {
	Dir        string           `json:"dir"`
	Running    bool             `json:"running"`
	Supervisor processID        `json:"supervisor"`
	Server     string           `json:"server"`
	CAFile     string           `json:"caFile"`
	Kubeconfig string           `json:"kubeconfig"`
	AuditLog   string           `json:"auditLog,omitempty"`
	Logs       string           `json:"logs"`
	Ports      Ports            `json:"ports"`
	Components []ComponentState `json:"components"`
}

// ComponentState is one program of the cluster.
type ComponentState struct {
	Name string `json:"name"`
	processID
	State string    `json:"state"`
	Exit  string    `json:"exit,omitempty"`
	Since time.Time `json:"since"`
	Log   string    `json:"log"`
}

func (s *supervisor) stateLocked() State {
	state := State{
		Dir: string(s.dir), Running: true, Supervisor: s.self, Server: s.ports.Server(),
		CAFile: s.dir.Path("pki", "ca.crt"), Kubeconfig: s.dir.Kubeconfig(),
		Logs: s.dir.Path("logs"), Ports: s.ports, Components: []ComponentState{},
	}
	if s.options.Audit {
		state.AuditLog = s.dir.Path("audit.log")
	}
	for _, c := range s.children {
		state.Components = append(state.Components, ComponentState{Name: c.name, processID: c.id,
			State: c.state, Exit: c.exit, Since: c.since, Log: s.dir.log(c.name)})
	}
	return state
}

func (s *supervisor) save() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.saveLocked()
}

func (s *supervisor) saveLocked() {
	content, err := json.MarshalIndent(s.stateLocked(), "", "  ")
	if err == nil {
		err = writeFile(s.dir.Path("state.json"), content)
	}
	if err != nil && !os.IsNotExist(err) { // the folder is gone: the cluster ends anyway
		fmt.Fprintln(os.Stderr, "state.json:", err)
	}
}

// lastState is the state on disk, corrected by what still runs.
func (d Dir) lastState() (State, error) {
	var state State
	if err := readJSON(d.Path("state.json"), &state); err != nil {
		return state, err
	}
	state.Running = state.Supervisor.alive()
	for i := range state.Components {
		c := &state.Components[i]
		if (c.State == stateRunning || c.State == statePaused) && !c.alive() {
			c.State, c.Exit = stateCrashed, "ended with the supervisor"
		}
	}
	return state, nil
}

func printJSON(value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Println(string(content))
	return err
}

func reprintJSON(content []byte) error {
	var state State
	if err := json.Unmarshal(content, &state); err != nil {
		return err
	}
	return printJSON(state)
}
