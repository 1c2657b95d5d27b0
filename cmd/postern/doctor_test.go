package main

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// The messages and fixes of all checks begin in one column.
func TestDoctorIsAligned(t *testing.T) {
	d := &doctor{}
	d.ok("mail", "a")
	d.warn("clock of the server", "b", "a")
	var out strings.Builder
	if err := d.write(&out); err != nil {
		t.Fatal(err)
	}
	want := "OK    mail                 a\nWARN  clock of the server  a\n      fix                  b\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}

// An error of the whole configuration file has no empty path.
func TestDoctorOnAnUnreadableConfiguration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "postern.yaml")
	datatest.WriteFile(t, file, "server: {listen\n x")
	d := &doctor{doctorCommand: doctorCommand{Config: file}}
	if d.checkConfiguration() || len(d.list) != 1 || strings.HasPrefix(d.list[0].Message, ":") || d.list[0].Message == "" {
		t.Errorf("found %+v", d.list)
	}
}

// Each reason why a server does not reply has a short description and a fix, without the request.
func TestDescribeUnreachable(t *testing.T) {
	plain, encrypted := httptest.NewServer(http.NotFoundHandler()), httptest.NewTLSServer(http.NotFoundHandler())
	defer plain.Close()
	defer encrypted.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	request := func(address string) error {
		_, _, err := getJSON(t.Context(), http.DefaultClient, address)
		return err
	}
	failed := func(err error) error { return &url.Error{Op: "Get", URL: "https://localhost:8090", Err: err} }
	for _, test := range []struct {
		err          error
		problem, fix string
	}{
		{request(gone.URL), "nothing accepts connections there", "start the server"},
		{request(encrypted.URL), "its certificate is not trusted: x509: ", "--ca"},
		{request("https://" + plain.Listener.Addr().String()), "it speaks plain http there", "http://"},
		{failed(&net.DNSError{Name: "login.example.com", IsNotFound: true}), "the name login.example.com does not resolve to an address", "server.public_url"},
		{failed(context.DeadlineExceeded), "no reply arrived within 5s", "network"},
		{failed(errors.New("reset")), "the connection failed: reset", "network"},
	} {
		problem, fix := describeUnreachable(test.err)
		if !strings.HasPrefix(problem, test.problem) || !strings.Contains(fix, test.fix) || strings.Contains(problem, "Get ") {
			t.Errorf("%v: %q, %q", test.err, problem, fix)
		}
	}
}

// A database file or a folder that the server cannot write is a problem, also before they exist.
func TestDoctorOnAReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "postern.db")
	datatest.WriteFile(t, file, "")
	for _, test := range []struct{ database, readOnly, want string }{
		{file, "", ""},
		{file, dir, dir},
		{file, file, file},
		{filepath.Join(dir, "data", "database", "postern.db"), dir, dir},
		{filepath.Join(dir, "data", "database", "postern.db"), file, ""},
	} {
		if got := unwritable(test.database, func(path string) bool { return path != test.readOnly }); got != test.want {
			t.Errorf("%s, where %s is read-only: got %q, want %q", test.database, test.readOnly, got, test.want)
		}
	}
	if !isWritable(file) || isWritable(filepath.Join(dir, "missing")) {
		t.Error("the permissions of a file are not found")
	}
}

// A compatible schema of a later release is no problem: an operator may have returned to this release.
func TestDoctorOnLaterSchema(t *testing.T) {
	environ := testEnvironment(t.TempDir())
	w := newTestAppIn(t, environ)
	file := w.cfg.Database.DSN
	w.close()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, test := range []struct{ change, want string }{
		{"INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)", `OK    store +readable and writable, schema version 9999\n`},
		{"UPDATE store_state SET value = 9999 WHERE name = 'compatible_from'", `FAIL  store +store: the database has schema version 9999, which works with programs from version 9999 on`},
	} {
		if _, err := db.Exec(test.change); err != nil {
			t.Fatal(err)
		}
		if _, output := runProgram(t, environ, "doctor"); !regexp.MustCompile(test.want).MatchString(output) {
			t.Errorf("after %s: %s", test.change, output)
		}
	}
}

// A resource that an earlier release stored and this one would refuse is a warning that names it and the member.
func TestDoctorOnOutdatedResources(t *testing.T) {
	environ := testEnvironment(t.TempDir())
	w := newTestAppIn(t, environ)
	file := w.cfg.Database.DSN
	w.close()
	if _, output := runProgram(t, environ, "doctor"); !regexp.MustCompile(`(?m)^OK    rules +the rules of this release accept all resources$`).MatchString(output) {
		t.Errorf("on a new store: %s", output)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE applications SET customizations = '{"theme":{"colors":{"primary":"red;}body{display:none"}}}' WHERE name = 'Console'`); err != nil {
		t.Fatal(err)
	}
	_, output := runProgram(t, environ, "doctor")
	if !regexp.MustCompile(`(?m)^WARN  rules +the application Console \S+ would be refused today: customizations.theme.colors.primary: expected a CSS color`).MatchString(output) {
		t.Errorf("with an unsafe theme: %s", output)
	}
}
