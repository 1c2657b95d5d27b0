package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/store"
)

// endFile is the name of a file in the data folder with the last end of the audit log that a server has
// seen, and the time. It is not in the store: a writer of the database must not be able to change it.
const endFile = "audit-end"

// rememberEnd reads the end that a server on this machine saw last. A new store has no log yet.
func (h *app) rememberEnd(ctx context.Context) error {
	end, found := readEnd(h.cfg)
	if !found {
		return nil
	}
	content, err := h.store.HasContent(ctx)
	if err == nil && content {
		h.chain.Remember(end)
	}
	return err
}

func readEnd(cfg *config.Config) (end store.KnownEnd, found bool) {
	text, err := os.ReadFile(filepath.Join(cfg.DataDir, endFile))
	if err != nil {
		return end, false
	}
	seal, at, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	parsed, err := parseChainEnd(endFile, seal)
	if err != nil || parsed == nil {
		return end, false
	}
	end.ChainEnd = *parsed
	end.At, err = time.Parse(time.RFC3339Nano, at)
	return end, err == nil
}

// recordEnd writes the end of the audit log to the data folder, for the owner of the folder. A server with PostgreSQL
// may have none.
func (h *app) recordEnd(end store.KnownEnd) error {
	f, err := os.CreateTemp(h.cfg.DataDir, endFile+".*") // mode 0600
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%v %s\n", end.ChainEnd, end.At.UTC().Format(time.RFC3339Nano))
	if err = errors.Join(err, f.Close()); err == nil {
		ownerOf(h.cfg.DataDir)(f.Name())
		err = os.Rename(f.Name(), filepath.Join(h.cfg.DataDir, endFile))
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// maxSinkLine bounds the last lines of a file that are searched for an event.
const maxSinkLine = 1 << 20

// lastForwarded returns the seal of the last event in a file of the audit log. found is false if there is
// none, such as in a file that was just rotated.
func lastForwarded(path string) (end store.KnownEnd, found bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return end, false, nil
	}
	if err != nil {
		return end, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return end, false, err
	}
	from := max(0, info.Size()-maxSinkLine)
	lines := bufio.NewReader(io.NewSectionReader(f, from, info.Size()-from))
	for {
		line, err := lines.ReadBytes('\n')
		var e store.SealedEvent
		if json.Unmarshal(bytes.TrimSpace(line), &e) == nil && e.Seq > 0 {
			hash, wrong := hex.DecodeString(e.Hash)
			end, found = store.KnownEnd{ChainEnd: store.ChainEnd{Seq: e.Seq, Hash: hash}, At: e.At}, wrong == nil
		}
		if err == io.EOF {
			return end, found, nil
		}
		if err != nil {
			return end, found, err
		}
	}
}

// rememberForwarded makes the last event in the file of the audit log one that the log must contain.
func (h *app) rememberForwarded() error {
	if h.cfg.Audit.File == "" {
		return nil
	}
	end, found, err := lastForwarded(h.cfg.Audit.File)
	if err == nil && found {
		h.chain.Remember(end)
	}
	return err
}
