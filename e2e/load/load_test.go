package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// message is a message of the PostgreSQL protocol; kind 0 is the first of a connection.
func message(kind byte, body string) []byte {
	var b []byte
	if kind != 0 {
		b = append(b, kind)
	}
	return append(binary.BigEndian.AppendUint32(b, uint32(len(body)+4)), body...)
}

// The proxy forwards all bytes, and counts round trips, statements and preparations.
func TestProxyCounts(t *testing.T) {
	sent := slices.Concat(message(0, "\x00\x03\x00\x00user\x00x\x00\x00"),
		message('P', "s1\x00SELECT 1\x00\x00\x00"), message('S', ""),
		message('B', "\x00s1\x00\x00\x00"), message('E', "\x00\x00\x00\x00\x00"), message('S', ""),
		message('B', "\x00s1\x00\x00\x00"), message('E', "\x00\x00\x00\x00\x00"), message('S', ""),
		message('Q', "BEGIN\x00"))
	var traced []string
	near, far := net.Pipe()
	p, err := startProxy(func() (net.Conn, error) { return near, nil }, time.Millisecond, func(q string) { traced = append(traced, q) })
	if err != nil {
		t.Fatal(err)
	}
	defer p.l.Close()
	client, err := net.Dial("tcp", p.l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Write(sent); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(far, got); err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("forwarded %q, %v", got, err)
	}
	if c := p.traffic.read(); c != (counts{trips: 4, statements: 3, parses: 1}) {
		t.Errorf("counted %+v", c)
	}
	if want := []string{"SELECT 1", "SELECT 1", "BEGIN"}; !slices.Equal(traced, want) {
		t.Errorf("traced %q, want %q", traced, want)
	}
	if _, err := far.Write([]byte("answer")); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 6)
	if _, err := io.ReadFull(client, answer); err != nil || string(answer) != "answer" {
		t.Errorf("answered %q, %v", answer, err)
	}
}

func TestProxyRejectsWrongLengths(t *testing.T) {
	for _, bytes := range []string{"Q\x00\x00\x00\x03", "Q\xff\xff\xff\xff"} {
		if _, err := new(proxy).next(bufio.NewReader(strings.NewReader(bytes)), false); err == nil {
			t.Errorf("%q was accepted", bytes)
		}
	}
}

func TestResult(t *testing.T) {
	r := result{elapsed: 2 * time.Second, server: 100 * time.Millisecond, target: 0.5, scenario: "a<b", driver: "sqlite"}
	begin := time.Now()
	for i := range 100 {
		r.add(func(time.Time) time.Duration { return time.Duration(i+1) * time.Millisecond }, begin, nil)
	}
	r.add(time.Since, begin, errors.New("rejected"))
	if r.rate() != 50 || r.failures != 1 || r.failure == nil {
		t.Errorf("%v per second, %d failures (%v)", r.rate(), r.failures, r.failure)
	}
	if r.percentile(50) != 51*time.Millisecond || r.percentile(99) != 100*time.Millisecond || r.percentile(100) != 100*time.Millisecond {
		t.Errorf("percentiles %v %v %v", r.percentile(50), r.percentile(99), r.percentile(100))
	}
	if got := r.each(101); got != 1 {
		t.Errorf("each of 101 units costs %v", got)
	}
	if empty := (result{}); empty.percentile(99) != 0 || empty.each(1) != 0 {
		t.Error("no units have a cost")
	}
	var table strings.Builder
	printHead(&table)
	printRow(&table, r)
	if lines := strings.Split(table.String(), "\n"); len(strings.Fields(lines[1])) < 10 || !strings.Contains(lines[2], "rejected") {
		t.Errorf("printed\n%s", table.String())
	}
	var starts strings.Builder
	printStarts(&starts, "sqlite", []time.Duration{40 * time.Millisecond, 50 * time.Millisecond, 70 * time.Millisecond})
	if got := starts.String(); !strings.Contains(got, "40 ms at best, 50 at the median, 70 at most; 2 of them") {
		t.Errorf("printed %s", got)
	}
	if drawn := chart([]result{r, r}); strings.Count(drawn, "<rect") != 3 || !strings.Contains(drawn, "a&lt;b") || !strings.Contains(drawn, "<line") {
		t.Errorf("drew\n%s", drawn)
	}
}

func TestFlags(t *testing.T) {
	o, err := parse([]string{"-users", "10,1000", "-databases", "sqlite", "-scenarios", "flow start,jwks"})
	if err != nil || !slices.Equal(o.users, []int{10, 1000}) || !slices.Equal(o.scenarios, []string{"flow start", "jwks"}) {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range [][]string{{"-users", "many"}, {"-databases", "oracle"}, {"-scenarios", "nothing"}, {"-callers", "0"}, {"-starts", "-1"}, {"-duration", "1h"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q were accepted", args)
		}
	}
}
