package store

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
)

// A PostgreSQL server that stops answering
//
// A server whose processes are stopped, or that is behind a network that drops packets, closes no connection, so a
// reply would be awaited for ever: the driver ends a statement by asking the server to cancel it. A statement may
// also take hours on a server that works, such as one that builds an index. So the wait for a reply is not bounded
// by a time but by these conditions, which each connection checks while it waits:
//
//   - The context of the statement has ended, and the server has not canceled the statement in the meantime.
//   - The server does not answer on another connection either. Then it counts as silent: all waiting statements
//     fail, and new connections are refused at once, until it answers again.
//   - The kernel has given the connection up, because packets were not acknowledged (silentNetwork).
//
// To connect, and to ask for a cancellation, takes at most connectTimeout.

const (
	// connectTimeout bounds connecting, with the handshake, unless the connection string has a connect_timeout.
	connectTimeout = 10 * time.Second
	// nextHostTimeout is the same if there are several hosts: then the next one is tried, within the time that a
	// request has.
	nextHostTimeout = 2 * time.Second
	// askTimeout is how long a server may take to answer the question whether it answers.
	askTimeout = 5 * time.Second
	// waitTick is how often a waiting connection checks whether to go on.
	waitTick = time.Second
	// silentTicks is after how many ticks it first asks whether the server answers. Each further time it waits
	// twice as long.
	silentTicks = 2
	// answerPause is the pause between two questions to a silent server.
	answerPause = 500 * time.Millisecond
	// patience is how long a server must be silent until a migration or a command that writes all resources is
	// given up: its work would be lost, and on a busy machine a server may answer late.
	patience = 2 * time.Minute
	// silentNetwork is how long the kernel waits for packets to be acknowledged.
	silentNetwork = 15 * time.Second
)

// errSilent is why a statement fails, or a connection is refused, if the server is silent. It is an error of the
// network, as the driver and isOutage recognize it.
func errSilent(op string) error {
	return &net.OpError{Op: op, Net: "tcp", Err: errors.New("the database server does not answer")}
}

// silence observes whether a server answers.
type silence struct {
	ask func() error // asks the server over a connection of its own; nil: it has answered

	silent  atomic.Bool
	patient atomic.Bool // during migrations, and for commands
	ended   context.Context
	close   context.CancelFunc

	mu     sync.Mutex
	asking *question // nil: none
}

// question is a question to the server that several connections wait for.
type question struct {
	done     chan struct{}
	answered bool // once it is done
}

// newSilence returns an observer of the server of a configuration.
func newSilence(of pq.Config) (*silence, error) {
	connects, err := connectorTo(of, questionDialer{})
	if err != nil {
		return nil, err
	}
	s := &silence{ask: func() error { return ask(connects, askTimeout*time.Duration(1+len(of.Multi))) }}
	s.ended, s.close = context.WithCancel(context.Background())
	s.patient.Store(true)
	return s, nil
}

// connectorTo returns a connector with the timeout and a dialer.
func connectorTo(c pq.Config, dialer pq.Dialer) (driver.Connector, error) {
	if len(c.Multi) > 0 {
		c.ConnectTimeout = cmp.Or(c.ConnectTimeout, nextHostTimeout)
	}
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, connectTimeout)
	connects, err := pq.NewConnectorConfig(c)
	if err != nil {
		return nil, errUnreadableDSN()
	}
	connects.Dialer(dialer)
	return connects, nil
}

// ask returns nil if a server answers in any way, such as that it accepts no further connection. Of several, each
// has askTimeout.
func ask(connects driver.Connector, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	conn, err := connects.Connect(ctx)
	if err == nil {
		err = conn.(driver.Pinger).Ping(ctx)
		_ = conn.Close()
	}
	if e := (*pq.Error)(nil); errors.As(err, &e) {
		return nil
	}
	return err
}

// answers asks whether the server answers. It also returns true when ctx ends before that is known.
func (s *silence) answers(ctx context.Context) bool {
	if s.silent.Load() {
		return false
	}
	s.mu.Lock()
	q := s.asking
	if q == nil {
		q = &question{done: make(chan struct{})}
		s.asking = q
		go s.put(q)
	}
	s.mu.Unlock()
	select {
	case <-q.done:
		return q.answered
	case <-ctx.Done():
		return true
	}
}

// put asks the server. If it does not answer, it asks again until it does.
func (s *silence) put(q *question) {
	q.answered = s.ask() == nil
	if !q.answered && s.silent.CompareAndSwap(false, true) {
		go s.awaitAnswer()
	}
	s.mu.Lock()
	s.asking = nil
	s.mu.Unlock()
	close(q.done)
}

func (s *silence) awaitAnswer() {
	for s.ask() != nil {
		select {
		case <-s.ended.Done():
			return
		case <-time.After(answerPause):
		}
	}
	s.silent.Store(false)
}

// questionDialer opens connections that end after askTimeout, whatever the driver sets.
type questionDialer struct{ pq.Dialer }

// DialContext implements pq.DialerContext.
func (questionDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	deadline := time.Now().Add(askTimeout)
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	conn, err := dialServer(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return boundedConn{conn}, conn.SetDeadline(deadline)
}

// boundedConn keeps the deadline that it has.
type boundedConn struct{ net.Conn }

// SetDeadline implements net.Conn.
func (boundedConn) SetDeadline(time.Time) error { return nil }

// observingDialer opens connections that give up a silent server.
type observingDialer struct {
	pq.Dialer
	of *silence
}

// dialedKey is the key of the context of Connect whose value receives the opened connection. Connections that ask
// for a cancellation have none: they end with their deadline.
type dialedKey struct{}

// DialContext implements pq.DialerContext.
func (d observingDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := dialServer(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w := &waitingConn{Conn: conn, of: d.of}
	if to, ok := ctx.Value(dialedKey{}).(**waitingConn); ok {
		*to = w
	}
	return w, nil
}

// dialServer opens a connection that the kernel gives up after silentNetwork.
func dialServer(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: connectTimeout, Control: limitUnacknowledged,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silentNetwork / 3, Interval: silentNetwork / 3, Count: 2}}
	return d.DialContext(ctx, network, address)
}

// waitingConn is a connection to a server that may become silent. It is for one goroutine at a time.
type waitingConn struct {
	net.Conn
	of    *silence
	until time.Time       // the deadline that the driver has set; zero for none
	ctx   context.Context // of the statement; nil for none
}

// SetDeadline implements net.Conn.
func (c *waitingConn) SetDeadline(t time.Time) error {
	c.until = t
	return c.Conn.SetDeadline(t)
}

// Read implements net.Conn.
func (c *waitingConn) Read(b []byte) (n int, err error) {
	err = c.await("read", c.Conn.SetReadDeadline, func() error {
		n, err = c.Conn.Read(b)
		return err
	})
	return n, err
}

// Write implements net.Conn.
func (c *waitingConn) Write(b []byte) (n int, err error) {
	err = c.await("write", c.Conn.SetWriteDeadline, func() error {
		written, err := c.Conn.Write(b[n:])
		n += written
		return err
	})
	return n, err
}

// await repeats do until it is done or there is a reason to give up.
func (c *waitingConn) await(op string, setDeadline func(time.Time) error, do func() error) error {
	wait := wait{waitingConn: c, next: silentTicks}
	for {
		if err := setDeadline(c.nextTick()); err != nil {
			return err
		}
		err := do()
		if !errors.Is(err, os.ErrDeadlineExceeded) || !c.until.IsZero() && !time.Now().Before(c.until) {
			return err
		}
		if wait.isVain() {
			return errSilent(op)
		}
	}
}

// nextTick returns when to check next whether to go on.
func (c *waitingConn) nextTick() time.Time {
	at := time.Now().Add(waitTick)
	if !c.until.IsZero() && c.until.Before(at) {
		return c.until
	}
	return at
}

// wait is a wait for the server.
type wait struct {
	*waitingConn
	ticks, next int // next is the tick of the next question
	ended       int // the ticks since the context ended
	since       time.Time
}

// isVain reports, once a tick, whether the wait is to be given up.
func (w *wait) isVain() bool {
	w.ticks++
	ctx := w.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		w.ended++
		return w.ended > 1 // time for the server to cancel the statement
	}
	if w.ticks < w.next && !w.of.silent.Load() {
		return false
	}
	w.next = 2 * w.ticks
	if w.of.answers(ctx) {
		w.since = time.Time{}
		return false
	}
	if w.since.IsZero() {
		w.since = time.Now()
	}
	return !w.of.patient.Load() || time.Since(w.since) > patience
}
