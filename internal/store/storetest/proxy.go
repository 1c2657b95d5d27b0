package storetest

import (
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lib/pq"
)

// Network is a network between a store and a PostgreSQL server that can lose all packets. Its methods are for one
// goroutine.
type Network struct {
	listener net.Listener
	dial     func() (net.Conn, error)

	mu      sync.Mutex
	dropped *sync.Cond
	open    map[net.Conn]*bool // whether its packets are dropped
	drops   bool               // those of new connections
}

// PostgresOverNetwork is Postgres over a network of its own.
func PostgresOverNetwork(t testing.TB) (dsn string, n *Network) {
	t.Helper()
	direct := Postgres(t)
	c := reply(pq.NewConfig(direct)).get(t)
	network, address := "tcp", net.JoinHostPort(c.Host, fmt.Sprint(c.Port))
	if strings.HasPrefix(c.Host, "/") {
		network, address = "unix", fmt.Sprintf("%s/.s.PGSQL.%d", c.Host, c.Port)
	}
	n = &Network{listener: reply(net.Listen("tcp", "127.0.0.1:0")).get(t), open: map[net.Conn]*bool{},
		dial: func() (net.Conn, error) { return net.Dial(network, address) }}
	n.dropped = sync.NewCond(&n.mu)
	go n.accept()
	t.Cleanup(n.close)
	return addressOfDSN.ReplaceAllString(direct, "") + " host=127.0.0.1 port=" + n.Port(), n
}

// Port returns the port of the network on this machine.
func (n *Network) Port() string { return strconv.Itoa(n.listener.Addr().(*net.TCPAddr).Port) }

var addressOfDSN = regexp.MustCompile(`(^| )(host|port)=\S+`)

// Drop loses all packets from now on. Connections stay open, and new ones are accepted.
func (n *Network) Drop() { n.set(true, true) }

// DropOpen loses the packets of the connections that are open now.
func (n *Network) DropOpen() { n.set(true, false) }

// Restore delivers the packets again, also those that were held back.
func (n *Network) Restore() { n.set(false, false) }

func (n *Network) set(open, further bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, drops := range n.open {
		*drops = open
	}
	n.drops = further
	n.dropped.Broadcast()
}

func (n *Network) accept() {
	for {
		client, err := n.listener.Accept()
		if err != nil {
			return
		}
		go n.connect(client)
	}
}

func (n *Network) connect(client net.Conn) {
	server, err := n.dial()
	if err != nil {
		client.Close()
		return
	}
	n.mu.Lock()
	drops := n.drops
	n.open[client], n.open[server] = &drops, &drops
	n.mu.Unlock()
	go n.forward(client, server, &drops)
	n.forward(server, client, &drops)
}

// forward copies until an end is closed.
func (n *Network) forward(from, to net.Conn, drops *bool) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 16<<10)
	for {
		size, err := from.Read(buffer)
		n.mu.Lock()
		for *drops {
			n.dropped.Wait()
		}
		n.mu.Unlock()
		if _, failed := to.Write(buffer[:size]); failed != nil || err != nil {
			return
		}
	}
}

func (n *Network) close() {
	n.listener.Close()
	n.Restore()
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.open {
		c.Close()
	}
}
