// Package porttest finds ports for servers that tests start.
package porttest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// given contains the ports that were returned.
var given sync.Map

// Free returns a loopback port on which nothing listens, another one at each call. It is below the
// ports that systems give to outgoing connections, so that none takes it before the server listens,
// or while the server restarts.
func Free() (int, error) {
	const low, high, tries = 20000, 30000, 1000
	for range tries {
		port := low + rand.IntN(high-low)
		if _, known := given.LoadOrStore(port, true); known {
			continue
		}
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("porttest: found no free port between %d and %d in %d tries", low, high, tries)
}
