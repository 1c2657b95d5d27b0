package lsp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// The limits of what the server reads, in bytes. The library would allocate memory for any length that a
// header names. A message contains a document as JSON, in which a character can take six bytes.
const (
	maxMessage    = 8 << 20
	maxSkipped    = 256 << 20
	maxHeaderLine = 4 << 10
	maxHeader     = 16 // lines
)

// framing reads and writes messages with a header that contains their length (LSP 3.17, base protocol).
// It implements channel.Channel.
type framing struct {
	in     *bufio.Reader
	out    io.Writer
	closed func() error
	mu     sync.Mutex
}

func newFraming(in io.Reader, out io.Writer, closed func() error) *framing {
	return &framing{in: bufio.NewReaderSize(in, maxHeaderLine), out: out, closed: closed}
}

// Recv implements channel.Channel. It skips a message that is too long, such as that of a document that an
// editor opens: the client then gets an error for the next request about the document.
func (f *framing) Recv() ([]byte, error) {
	for {
		length, err := f.readHeader()
		if err != nil {
			return nil, err
		}
		if length > maxMessage {
			if _, err := io.CopyN(io.Discard, f.in, length); err != nil {
				return nil, err
			}
			continue
		}
		message := make([]byte, length)
		_, err = io.ReadFull(f.in, message)
		return message, err
	}
}

// readHeader reads the header of a message, and returns the length of the message.
func (f *framing) readHeader() (length int64, err error) {
	length = -1
	for range maxHeader {
		line, err := f.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return 0, fmt.Errorf("a line of the header is longer than %d bytes", maxHeaderLine)
		}
		if err != nil {
			return 0, err
		}
		text := strings.TrimSpace(string(line))
		if text == "" {
			if length < 0 {
				return 0, errors.New("the header has no Content-Length; expected the length of the message in bytes")
			}
			return length, nil
		}
		name, value, _ := strings.Cut(text, ":")
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		if length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil || length < 0 || length > maxSkipped {
			return 0, fmt.Errorf("the header Content-Length is %.40q; expected the length of the message in bytes, at most %d", value, maxSkipped)
		}
	}
	return 0, fmt.Errorf("the header has more than %d lines", maxHeader)
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
