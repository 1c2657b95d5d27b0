package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// folderOf returns a data folder with a database and a recorded address.
func folderOf(t *testing.T, recorded string) string {
	t.Helper()
	dir := t.TempDir()
	datatest.WriteFile(t, filepath.Join(dir, "database", "postern.db"), "")
	datatest.WriteFile(t, filepath.Join(dir, addressFile), recorded)
	return dir
}

// The recorded address is that of a server with SQLite, and sets nothing else.
func TestRecordedAddress(t *testing.T) {
	const recorded = "POSTERN_SERVER_PUBLIC_URL=http://localhost:9000\nPOSTERN_SERVER_HTTP_ONLY=true\nPOSTERN_SERVER_PORT=9000\n"
	for name, test := range map[string]struct {
		recorded string
		environ  []string
		url      string
		fails    bool
	}{
		"a server with SQLite":     {recorded: recorded, url: "http://localhost:9000"},
		"an older one with SQLite": {recorded: recorded, environ: []string{"POSTERN_DATABASE_DSN=postgres://localhost/postern?sslmode=disable", "POSTERN_DATABASE_DRIVER=postgres"}, url: "https://localhost:8090"},
		"another variable":         {recorded: recorded + "POSTERN_LOG_LEVEL=loud\n", url: "http://localhost:9000"},
		"an invalid address":       {recorded: "POSTERN_SERVER_PORT=none\n", fails: true},
	} {
		cfg, err := loadLocal("", append(test.environ, "POSTERN_DATA_DIR="+folderOf(t, test.recorded)))
		if (err != nil) != test.fails || err == nil && cfg.Server.PublicURL != test.url {
			t.Errorf("%s: %+v, %v", name, cfg, err)
		}
	}
}

// A command sends credentials to a server on another machine only if the caller has named it: a copy of a data folder
// names the server of the original.
func TestRecordedAddressOfAnotherMachine(t *testing.T) {
	const elsewhere = "https://id.example.com"
	dir := folderOf(t, "POSTERN_SERVER_PUBLIC_URL="+elsewhere+"\nPOSTERN_SERVER_HTTP_ONLY=false\n")
	for _, test := range []struct {
		environ []string
		address string
		want    string // the address of the configuration; "" for none
		fails   bool
	}{
		{fails: true},
		{environ: []string{"POSTERN_SERVER_PUBLIC_URL=" + elsewhere}, want: elsewhere},
		{environ: []string{"POSTERN_SERVER_PUBLIC_URL=https://other.example.com"}, want: "https://other.example.com"},
		{address: "https://other.example.com"},
	} {
		cfg, err := serverFlags{}.localConfig(append(test.environ, "POSTERN_DATA_DIR="+dir), "--server", test.address)
		if test.fails != (err != nil) || test.fails && !strings.Contains(err.Error(), elsewhere) {
			t.Errorf("%v %q: %v", test.environ, test.address, err)
		}
		if err == nil && (cfg == nil) != (test.want == "") || cfg != nil && err == nil && cfg.Server.PublicURL != test.want {
			t.Errorf("%v %q: got %+v", test.environ, test.address, cfg)
		}
	}
}
