package launcher

import (
	"net"
	"strconv"
	"testing"
)

func TestPortsDifferAndLieBelowTheEphemeralRange(t *testing.T) {
	first, err := newPortPool()
	if err != nil {
		t.Fatal(err)
	}
	second, err := newPortPool()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, pool := range []*portPool{first, second, first, second} {
		for range 20 {
			port, err := pool.take()
			if err != nil {
				t.Fatal(err)
			}
			if port < lowestPort || port > highestPort {
				t.Errorf("port %d is outside %d..%d", port, lowestPort, highestPort)
			}
			if seen[port] {
				t.Errorf("port %d was handed out twice", port)
			}
			seen[port] = true
		}
	}
}

func TestAPortInUseIsNotFree(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, text, _ := net.SplitHostPort(listener.Addr().String())
	port, _ := strconv.Atoi(text)
	if isFree(port) {
		t.Errorf("port %d is listened on, but counts as free", port)
	}
}
