package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeFile(t *testing.T, mode os.FileMode, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("x"), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
	return file
}

// TestAudit21KeyAndDatabaseAreApart holds the default layout to its purpose: no folder
// that has the database in it, other than the data folder itself, has the key too.
func TestAudit21KeyAndDatabaseAreApart(t *testing.T) {
	c := mustLoad(t, "", []string{"POSTERN_DATA_DIR=" + t.TempDir()})
	database, key := filepath.Dir(c.Database.DSN), filepath.Dir(c.Keys.File)
	if database == key || strings.HasPrefix(key, database+string(filepath.Separator)) || len(c.Warnings) > 0 {
		t.Errorf("the database is in %s and the key in %s, warnings %q", database, key, c.Warnings)
	}
}

// TestFormerLayout finds files where earlier versions kept them.
func TestFormerLayout(t *testing.T) {
	dir := t.TempDir()
	environ := []string{"POSTERN_DATA_DIR=" + dir}
	load := func(environ ...string) *Config {
		c := mustLoad(t, "", environ)
		return c
	}
	database, key := writeFile(t, 0o600, dir, "postern.db"), writeFile(t, 0o600, dir, "key-encryption.key")
	c := load(environ...)
	if c.Database.DSN != database || c.Keys.File != key || len(c.Warnings) != 2 {
		t.Errorf("the files are %s and %s, warnings %q", c.Database.DSN, c.Keys.File, c.Warnings)
	}
	for i, want := range []string{"&& mv " + database + "* " + filepath.Join(dir, "database") + "/", "&& mv " + key + "* " + filepath.Join(dir, "keys") + "/"} {
		if !strings.Contains(c.Warnings[i], want) {
			t.Errorf("the warning is %q, expected the command %q", c.Warnings[i], want)
		}
	}
	if c := load(append(environ, "POSTERN_KEY_ENCRYPTION_KEY=x")...); c.Keys.File != "" || len(c.Warnings) != 1 {
		t.Errorf("with the key in the environment the file is %q, warnings %q", c.Keys.File, c.Warnings)
	}
	if c := load(append(environ, "POSTERN_DATABASE_DSN=/x.db", "POSTERN_KEYS_FILE=/x.key")...); c.Database.DSN != "/x.db" || c.Keys.File != "/x.key" || len(c.Warnings) != 0 {
		t.Errorf("configured, the files are %s and %s, warnings %q", c.Database.DSN, c.Keys.File, c.Warnings)
	}
	moved := writeFile(t, 0o600, dir, "database", "postern.db")
	if c := load(environ...); c.Database.DSN != moved || !strings.Contains(c.Warnings[0], database+" is ignored") {
		t.Errorf("the database is %s, warnings %q; expected the new one, and to hear of the other", c.Database.DSN, c.Warnings)
	}
}

// TestAudit21SecretFilesOfOthers asks for the modes of each file with secrets that a
// configuration names.
func TestAudit21SecretFilesOfOthers(t *testing.T) {
	const plain = "log: {level: info}"
	tests := []struct {
		name  string
		text  string                          // of the configuration file
		files func(file func() string) string // returns further configuration
		want  map[os.FileMode]string          // what comes of a mode: "", warning or error
	}{
		{name: "tls.key_file", files: func(file func() string) string {
			return "tls: {cert_file: /nowhere, key_file: " + file() + "}"
		}, want: map[os.FileMode]string{0o600: "", 0o400: "", 0o640: "warning", 0o440: "warning", 0o644: "error", 0o604: "error", 0o660: "error"}},
		{name: "http.targets.crm.secret_file", files: func(file func() string) string {
			return "http: {targets: {crm: {url: https://crm.example.com, secret_file: " + file() + "}}}"
		}, want: map[os.FileMode]string{0o600: "", 0o640: "warning", 0o644: "error"}},
		{name: "http.targets.crm.authorization_file", files: func(file func() string) string {
			return "http: {targets: {crm: {url: https://crm.example.com, authorization_file: " + file() + "}}}"
		}, want: map[os.FileMode]string{0o600: "", 0o640: "warning", 0o644: "error"}},
		{name: "keys.file", files: func(file func() string) string { return "keys: {file: " + file() + "}" },
			want: map[os.FileMode]string{0o600: "", 0o644: "error"}},
		{name: "database.dsn", files: func(file func() string) string { return "database: {dsn: " + file() + "}" },
			want: map[os.FileMode]string{0o600: "", 0o640: "warning", 0o644: "warning"}},
	}
	for _, tt := range tests {
		for mode, want := range tt.want {
			dir := t.TempDir()
			text := tt.files(func() string { return writeFile(t, mode, dir, "secret") })
			warnings, err := checkedFiles(t, dir, 0o600, text)
			wantError(t, tt.name, mode, want, warnings, err)
		}
	}
	for text, want := range map[string]string{
		plain: "",
		"mail: {host: m.example.com, from: a@example.com, username: a, password: b}":                        "warning",
		"database: {driver: postgres, dsn: 'postgres://a:b@db.example.com/p?sslmode=verify-full'}":          "warning",
		"database: {driver: postgres, dsn: 'host=db password=b sslmode=verify-full'}":                       "warning",
		"database: {driver: postgres, dsn: 'host=db sslmode=verify-full'}":                                  "",
		"http: {targets: {crm: {url: https://crm.example.com, authorization: Bearer b}}}":                   "warning",
		"http: {targets: {crm: {url: https://crm.example.com, authorization_file: /nowhere/in/the/world}}}": "",
	} {
		warnings, err := checkedFiles(t, t.TempDir(), 0o644, text)
		wantError(t, "the configuration file", 0o644, want, warnings, err)
	}
	dir := t.TempDir()
	writeFile(t, 0o644, dir, "tls", "key.pem")
	warnings, err := checkedFiles(t, dir, 0o600, plain)
	wantError(t, "data_dir", 0o644, "error", warnings, err)
}

// The kubelet lets the group of a volume read and change its files, and only this process is in that group.
func TestFilesOfAVolume(t *testing.T) {
	for _, test := range []struct {
		folder, file os.FileMode
		want         string
	}{
		{os.ModeSetgid | 0o770, 0o660, "warning"},
		{os.ModeSetgid | 0o770, 0o664, "error"},
		{os.ModeSetgid | 0o775, 0o660, "error"},
		{0o770, 0o660, "error"},
	} {
		key := writeFile(t, 0o600, t.TempDir(), "key")
		for path, mode := range map[string]os.FileMode{filepath.Dir(key): test.folder, key: test.file} {
			if err := errors.Join(os.Chown(path, -1, os.Getegid()), os.Chmod(path, mode)); err != nil {
				t.Fatal(err)
			}
		}
		c := mustLoad(t, "", []string{"POSTERN_DATA_DIR=" + t.TempDir(), "POSTERN_KEYS_FILE=" + key})
		warnings, err := c.CheckSecretFiles()
		wantError(t, "keys.file", test.file, test.want, warnings, err)
	}
}

// systemd opens a credential for its service with an access list, which changes the mode.
func TestCredentialsOfSystemd(t *testing.T) {
	dir := t.TempDir()
	for mode, want := range map[os.FileMode]string{0o440: "", 0o444: "error"} {
		key := writeFile(t, mode, t.TempDir(), "key")
		c := mustLoad(t, "", []string{"POSTERN_DATA_DIR=" + dir, "POSTERN_KEYS_FILE=" + key, "CREDENTIALS_DIRECTORY=" + filepath.Dir(key)})
		warnings, err := c.CheckSecretFiles()
		wantError(t, "keys.file", mode, want, warnings, err)
	}
	key := writeFile(t, 0o440, dir, "key")
	c := mustLoad(t, "", []string{"POSTERN_DATA_DIR=" + dir, "POSTERN_KEYS_FILE=" + key, "CREDENTIALS_DIRECTORY=" + t.TempDir()})
	warnings, err := c.CheckSecretFiles()
	wantError(t, "keys.file", 0o440, "warning", warnings, err)
}

// checkedFiles loads a configuration file of a mode and checks its secret files.
func checkedFiles(t *testing.T, dir string, mode os.FileMode, text string) ([]string, error) {
	t.Helper()
	path := writeFile(t, mode, t.TempDir(), "postern.yaml")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, path, []string{"POSTERN_DATA_DIR=" + dir})
	return c.CheckSecretFiles()
}

func wantError(t *testing.T, name string, mode os.FileMode, want string, warnings []string, err error) {
	t.Helper()
	got, text := "", strings.Join(warnings, "\n")
	switch {
	case err != nil:
		got, text = "error", err.Error()
	case len(warnings) > 0:
		got = "warning"
	}
	if got != want || want != "" && (!strings.HasPrefix(text, name+": ") || !strings.Contains(text, "chmod 600 ")) {
		t.Errorf("%s with mode %04o: %q %s, expected %q", name, mode, got, text, want)
	}
}

func TestHasPassword(t *testing.T) {
	for dsn, want := range map[string]bool{
		"postgres://postern@db.example.org/postern?sslmode=verify-full":         false,
		"postgres://postern:secret@db.example.org/postern?sslmode=verify-full":  true,
		"postgres://db.example.org/postern?password=secret&sslmode=verify-full": true,
		"postgres://postern:p%zz@db.example.org/postern":                        true, // not a URL
		"host=db.example.org user=postern sslmode=verify-full":                  false,
		"host=db.example.org user=postern password='a b'":                       true,
	} {
		if got := hasPassword(dsn); got != want {
			t.Errorf("hasPassword(%q) is %t", dsn, got)
		}
	}
}
