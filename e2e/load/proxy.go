package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// proxy forwards the connections of the server to PostgreSQL, counts what the server sends, and
// can delay it as a distant database would.
type proxy struct {
	l       net.Listener
	dial    func() (net.Conn, error)
	delay   time.Duration // of each message to the database
	traffic traffic
	trace   func(statement string) // is called with each statement; nil for none
}

// traffic counts messages of the PostgreSQL protocol (Message Formats in its documentation).
type traffic struct {
	trips      atomic.Int64 // messages that the server waits for: Sync, and a Query without parameters
	statements atomic.Int64 // executed: Execute and Query
	parses     atomic.Int64 // statements that were prepared
}

// counts are the values of a traffic.
type counts struct{ trips, statements, parses int64 }

func (t *traffic) read() counts {
	return counts{t.trips.Load(), t.statements.Load(), t.parses.Load()}
}

func (c counts) since(before counts) counts {
	return counts{c.trips - before.trips, c.statements - before.statements, c.parses - before.parses}
}

// startProxy listens on a free loopback port.
func startProxy(dial func() (net.Conn, error), delay time.Duration, trace func(string)) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{l: l, dial: dial, delay: delay, trace: trace}
	go p.accept()
	return p, nil
}

func (p *proxy) port() int { return p.l.Addr().(*net.TCPAddr).Port }

func (p *proxy) accept() {
	for {
		conn, err := p.l.Accept()
		if err != nil {
			return // closed
		}
		go p.forward(conn)
	}
}

// forward copies both directions until one ends.
func (p *proxy) forward(client net.Conn) {
	defer client.Close()
	server, err := p.dial()
	if err != nil {
		return
	}
	defer server.Close()
	var copying sync.WaitGroup
	copying.Go(func() {
		_, _ = io.Copy(client, server) // the end of a connection is no error here
		client.Close()
	})
	_ = p.send(server, bufio.NewReaderSize(client, 64<<10))
	server.Close()
	copying.Wait()
}

// send copies the messages of a client. Those that arrive together are delayed together.
func (p *proxy) send(server io.Writer, client *bufio.Reader) error {
	queue := make(chan delayed, 1024)
	var writing sync.WaitGroup
	writing.Go(func() {
		for d := range queue {
			time.Sleep(time.Until(d.due))
			_, _ = server.Write(d.bytes) // a connection that has ended also ends the reading side
		}
	})
	defer writing.Wait()
	defer close(queue)
	first, known := true, statements{}
	var batch []byte
	for {
		message, err := p.next(client, first)
		if err != nil {
			return err
		}
		if p.trace != nil && !first {
			if q := known.executed(message); q != "" {
				p.trace(q)
			}
		}
		batch, first = append(batch, message...), false
		if client.Buffered() == 0 {
			queue <- delayed{batch, time.Now().Add(p.delay)}
			batch = nil
		}
	}
}

// delayed are bytes that are sent at a time.
type delayed struct {
	bytes []byte
	due   time.Time
}

// maxMessage bounds a message in bytes.
const maxMessage = 64 << 20

// next reads one message. All but the first of a connection begin with their type.
func (p *proxy) next(r *bufio.Reader, first bool) ([]byte, error) {
	header := make([]byte, 5)
	if first {
		header = header[:4]
	}
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(header[len(header)-4:])
	if length < 4 || length > maxMessage {
		return nil, errors.New("the length of a message is wrong")
	}
	message := append(header, make([]byte, length-4)...)
	if _, err := io.ReadFull(r, message[len(header):]); err != nil {
		return nil, err
	}
	if !first {
		p.traffic.count(header[0])
	}
	return message, nil
}

func (t *traffic) count(kind byte) {
	switch kind {
	case 'S':
		t.trips.Add(1)
	case 'Q':
		t.trips.Add(1)
		t.statements.Add(1)
	case 'E':
		t.statements.Add(1)
	case 'P':
		t.parses.Add(1)
	}
}

// statements are the prepared statements of a connection by name.
type statements map[string]string

// executed returns the statement that a message executes; "" for none.
func (s statements) executed(message []byte) string {
	first, rest, _ := bytes.Cut(message[5:], []byte{0})
	second, _, _ := bytes.Cut(rest, []byte{0})
	switch message[0] {
	case 'P': // name and statement
		s[string(first)] = string(second)
	case 'B': // portal and name
		return s[string(second)]
	case 'Q':
		return string(first)
	}
	return ""
}
