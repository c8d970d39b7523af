package launcher

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Ports are taken below 32768: above it the kernel hands out ports to outgoing
// connections, and a port that was free a moment ago may be gone.
const lowestPort, highestPort = 20000, 32767

// portPool hands out ports that no other cluster of this user takes. A probe
// alone is not enough: two clusters that start together would both find a port
// free. So each port is also a lock file, held as long as the pool lives; the
// kernel drops the lock with the process, whatever ends it.
type portPool struct {
	folder string
	locks  []*os.File
}

func newPortPool() (*portPool, error) {
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("esi-cluster-ports-%d", os.Getuid()))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	return &portPool{folder: folder}, nil
}

// take returns a free port on loopback.
func (p *portPool) take() (int, error) {
	for range 2000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		lock, err := os.OpenFile(filepath.Join(p.folder, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return 0, err
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && isFree(port) {
			p.locks = append(p.locks, lock)
			return port, nil
		}
		lock.Close()
	}
	return 0, fmt.Errorf("no free port between %d and %d", lowestPort, highestPort)
}

// isFree asks by binding all addresses too: a server on 0.0.0.0 would answer
// in our place on some kernels.
func isFree(port int) bool {
	for _, host := range []string{"127.0.0.1", ""} {
		listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return false
		}
		listener.Close()
	}
	return true
}
