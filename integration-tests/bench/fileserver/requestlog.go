package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// requestLog writes one line for each request when it was answered (of a streaming list: when its last
// byte was written), in the words of an API server's audit log.
type requestLog struct {
	mu   sync.Mutex
	file *os.File
	out  *bufio.Writer
}

type requestLine struct {
	Agent    string  `json:"agent"`
	Verb     string  `json:"verb"`
	Group    string  `json:"group"`
	Resource string  `json:"resource"`
	Sub      string  `json:"sub"`
	NS       string  `json:"namespace"`
	Name     string  `json:"name"`
	Code     int     `json:"code"`
	At       float64 `json:"at"`
	Done     float64 `json:"done"`
	Bytes    int     `json:"bytes"`
	DryRun   bool    `json:"dry_run"`
	URI      string  `json:"uri"`
}

func openLog(path string) (*requestLog, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &requestLog{file: file, out: bufio.NewWriter(file)}, nil
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

func (l *requestLog) note(r *http.Request, where target, verb string, at time.Time, code, bytes int) {
	line := requestLine{Agent: r.UserAgent(), Verb: verb, NS: where.ns, Name: where.name, Sub: where.sub, Code: code,
		At: seconds(at), Done: seconds(time.Now()), Bytes: bytes, URI: r.URL.RequestURI(),
		DryRun: strings.Contains(r.URL.RawQuery, "dryRun=")}
	if where.of != nil {
		line.Group, line.Resource = where.of.group, where.of.plural
	}
	l.write(line)
}

// played: a player's write has no request; it is a line of its own.
func (l *requestLog) played(of *kind, verb, sub, ns, name string) {
	at := seconds(time.Now())
	l.write(requestLine{Agent: "player", Verb: verb, Group: of.group, Resource: of.plural, Sub: sub, NS: ns, Name: name,
		Code: 201, At: at, Done: at})
}

func (l *requestLog) write(line requestLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	json.NewEncoder(l.out).Encode(line)
	l.out.Flush()
}
