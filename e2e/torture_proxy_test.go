package e2e_test

import (
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// disturbance is what a faultyProxy does to connections.
type disturbance int32

const (
	undisturbed disturbance = iota
	cutting                 // closes connections after a message that it forwarded or dropped
	truncating              // forwards a part of a message and closes the connection
	delaying                // forwards each message late
	trickling               // forwards a few bytes at a time
)

// faultyProxy forwards TCP connections on loopback and disturbs them.
type faultyProxy struct {
	listener net.Listener
	dial     func() (net.Conn, error)
	mode     atomic.Int32
	affected atomic.Int64 // number of disturbed messages
	open     sync.Map     // of net.Conn
}

// newFaultyProxy starts a proxy to what dial connects to. It ends with the test.
func newFaultyProxy(t *testing.T, dial func() (net.Conn, error)) *faultyProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	x := &faultyProxy{listener: l, dial: dial}
	t.Cleanup(func() {
		l.Close()
		x.closeAll()
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go x.serve(c)
		}
	}()
	return x
}

func (x *faultyProxy) port() int { return x.listener.Addr().(*net.TCPAddr).Port }

// closeAll closes the open connections.
func (x *faultyProxy) closeAll() {
	x.open.Range(func(c, _ any) bool {
		c.(net.Conn).Close()
		return true
	})
}

func (x *faultyProxy) serve(client net.Conn) {
	defer client.Close()
	server, err := x.dial()
	if err != nil {
		return
	}
	defer server.Close()
	for _, c := range []net.Conn{client, server} {
		x.open.Store(c, true)
		defer x.open.Delete(c)
	}
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		go func() {
			x.forward(way[0], way[1])
			ended <- struct{}{}
		}()
	}
	<-ended
}

// forward copies until an end of the connection is closed, or a disturbance ends it.
func (x *faultyProxy) forward(from, to net.Conn) {
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !x.pass(to, buffer[:n]) || err != nil {
			return
		}
	}
}

// pass forwards a message in the current mode and reports whether the connection continues.
func (x *faultyProxy) pass(to net.Conn, message []byte) bool {
	mode := disturbance(x.mode.Load())
	if mode != undisturbed {
		x.affected.Add(1)
	}
	switch mode {
	case cutting:
		switch rand.IntN(8) {
		case 0: // the message arrives, its reply does not
			_, _ = to.Write(message)
			return false
		case 1:
			return false
		}
	case truncating:
		if rand.IntN(6) == 0 {
			_, _ = to.Write(message[:rand.IntN(len(message))])
			return false
		}
	case delaying:
		time.Sleep(rand.N(150 * time.Millisecond))
	case trickling:
		for len(message) > 400 {
			if _, err := to.Write(message[:100]); err != nil {
				return false
			}
			message = message[100:]
			time.Sleep(2 * time.Millisecond)
		}
	}
	_, err := to.Write(message)
	return err == nil
}

// disturb disturbs a number of messages.
func (x *faultyProxy) disturb(t *testing.T, mode disturbance, messages int64) {
	t.Helper()
	until := x.affected.Load() + messages
	x.mode.Store(int32(mode))
	eventually(t, "connections are disturbed", func() bool { return x.affected.Load() >= until })
	x.mode.Store(int32(undisturbed))
}
