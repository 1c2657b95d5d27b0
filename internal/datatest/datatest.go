// Package datatest reads and writes the files and the JSON of tests. A failure ends the test.
package datatest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// ReadFile returns the content of a file.
func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// WriteFile writes a file that only its owner can read, in a folder that it creates if it is missing.
func WriteFile[T string | []byte](t testing.TB, path string, content T) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Marshal returns a value as JSON.
func Marshal(t testing.TB, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Unmarshal decodes JSON into the value to which into points.
func Unmarshal(t testing.TB, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// Glob returns the files that match the patterns. Each pattern must match a file.
func Glob(t testing.TB, patterns ...string) []string {
	t.Helper()
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no file matches %s (%v)", pattern, err)
		}
		files = append(files, found...)
	}
	return files
}
