package lsp

import (
	"bufio"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"sync"
)

// maxMessage is the largest message that the server reads, in bytes. The library would allocate memory
// for any length that a header names.
const maxMessage = 64 << 20

// framing reads and writes messages with a header that contains their length (LSP 3.17, base protocol).
// It implements channel.Channel.
type framing struct {
	in     *textproto.Reader
	out    io.Writer
	closed func() error
	mu     sync.Mutex
}

func newFraming(in io.Reader, out io.Writer, closed func() error) *framing {
	return &framing{in: textproto.NewReader(bufio.NewReader(in)), out: out, closed: closed}
}

// Recv implements channel.Channel.
func (f *framing) Recv() ([]byte, error) {
	header, err := f.in.ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil || length < 0 || length > maxMessage {
		return nil, fmt.Errorf("the header Content-Length is %q; expected the length of the message in bytes, at most %d", header.Get("Content-Length"), maxMessage)
	}
	message := make([]byte, length)
	_, err = io.ReadFull(f.in.R, message)
	return message, err
}

// Send implements channel.Channel.
func (f *framing) Send(message []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := fmt.Fprintf(f.out, "Content-Length: %d\r\n\r\n", len(message)); err != nil {
		return err
	}
	_, err := f.out.Write(message)
	return err
}

// Close implements channel.Channel.
func (f *framing) Close() error { return f.closed() }
