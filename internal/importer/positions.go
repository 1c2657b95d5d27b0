package importer

import (
	"bytes"
	"fmt"
	"io"
)

// positions reads a file, and knows where its records begin, as editors show it: lines and columns count from 1.
type positions struct {
	in     io.Reader
	tracks bool    // whether positions are asked for
	read   int64   // bytes
	starts []int64 // of the lines that were read after the last position
	line   int     // of the last position
	start  int64   // of that line
}

// track makes positions available. It must be called before the file is read.
func (p *positions) track() *positions {
	p.tracks, p.line = true, 1
	return p
}

// Read implements io.Reader.
func (p *positions) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	if p.tracks {
		for rest, at := b[:n], p.read; ; {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				break
			}
			rest, at = rest[i+1:], at+int64(i)+1
			p.starts = append(p.starts, at)
		}
	}
	p.read += int64(n)
	return n, err
}

// at returns the line and the column of an offset; "" without track. Offsets must increase.
func (p *positions) at(offset int64) string {
	if p == nil || !p.tracks {
		return ""
	}
	for len(p.starts) > 0 && p.starts[0] <= offset {
		p.line, p.start, p.starts = p.line+1, p.starts[0], p.starts[1:]
	}
	return fmt.Sprintf("%d:%d", p.line, offset-p.start+1)
}
