package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if err := os.WriteFile(file, []byte("server: {listen\n x"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &doctor{doctorCommand: doctorCommand{Config: file}}
	if d.checkConfiguration() || len(d.list) != 1 || strings.HasPrefix(d.list[0].Message, ":") || d.list[0].Message == "" {
		t.Errorf("found %+v", d.list)
	}
}
