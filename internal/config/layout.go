package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/folder"
)

// The layout of the data folder. The database and its key are in different folders, so that a copy
// of the database folder does not reveal sealed data.
const (
	databaseFolder, databaseName = "database", "postern.db"
	keysFolder, keyName          = "keys", "key-encryption.key"
)

// completeLayout places the database and the key-encryption key in the data folder,
// unless they are configured.
func (c *Config) completeLayout() {
	if c.Database.Driver == "sqlite" {
		c.Database.DSN = strings.TrimPrefix(c.Database.DSN, "file:")
		if c.Database.DSN == "" {
			c.Database.DSN = c.dataFile(databaseFolder, databaseName)
		}
	}
	if slices.ContainsFunc(c.Environ, func(entry string) bool { return strings.HasPrefix(entry, keyVariable+"=") && entry != keyVariable+"=" }) {
		c.Keys.File = "" // the environment holds the key
		return
	}
	if c.Keys.File == "" {
		c.Keys.File = c.dataFile(keysFolder, keyName)
	}
}

// dataFile returns where a file of the data folder is. Earlier versions kept all files in
// the data folder itself; one that is still there is used, with a warning.
func (c *Config) dataFile(folder, name string) string {
	path, former := filepath.Join(c.DataDir, folder, name), filepath.Join(c.DataDir, name)
	switch {
	case !exists(former):
	case exists(path):
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s is ignored, because there is %s: remove the outdated one", former, path))
	default:
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s is at the location of earlier versions: the database and its key belong in different folders. "+
			"Stop the server, then move it: mkdir -p -m 700 %s && mv %s* %[2]s/", former, filepath.Dir(path), former))
		return former
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// CheckSecretFiles checks the modes of all files in the configuration that contain secrets. The
// error lists files with only secrets that any user of the machine can read or change. The warnings
// are about files that a group can read, which is how some systems pass secrets to a service, or that the
// group of a volume can change, and about files with secrets and other content. A missing file is not reported here, but where it is
// opened.
func (c *Config) CheckSecretFiles() (warnings []string, err error) {
	var faults []error
	for _, file := range c.secretFiles() {
		info, err := os.Stat(file.path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		mode := info.Mode().Perm()
		complaint := fmt.Sprintf("%s: %s holds secrets and has mode %04o, expected a file that only its owner can read: chmod 600 %[2]s", file.key, file.path, mode)
		switch {
		case mode&0o027 != 0 && !file.mixed && !folder.IsOfVolumeGroup(file.path, info):
			faults = append(faults, errors.New(complaint))
		case mode&0o077 != 0 && !c.isCredential(file.path):
			warnings = append(warnings, complaint)
		}
	}
	return warnings, errors.Join(faults...)
}

// isCredential reports whether systemd passed a file to this service (systemd.exec(5), LoadCredential).
// An access list makes such a file readable for the service, so its mode shows a group that can read.
func (c *Config) isCredential(path string) bool {
	for _, entry := range c.Environ {
		if folder, ok := strings.CutPrefix(entry, "CREDENTIALS_DIRECTORY="); ok && folder != "" {
			return filepath.Dir(path) == filepath.Clean(folder)
		}
	}
	return false
}

// secretFile is a file with secrets.
type secretFile struct {
	key, path string // the configuration key that names it, and where it is
	mixed     bool   // whether it also contains other settings
}

func (c *Config) secretFiles() []secretFile {
	files := []secretFile{{key: "keys.file", path: c.Keys.File}, {key: "tls.key_file", path: c.TLS.KeyFile}}
	if c.TLS.KeyFile == "" && !c.Server.HTTPOnly {
		files = append(files, secretFile{key: "data_dir", path: filepath.Join(c.DataDir, "tls", "key.pem")})
	}
	if c.Database.Driver == "sqlite" {
		files = append(files, secretFile{key: "database.dsn", path: c.Database.DSN, mixed: true})
	}
	for _, name := range slices.Sorted(maps.Keys(c.HTTP.Targets)) {
		t, key := c.HTTP.Targets[name], "http.targets."+name
		files = append(files, secretFile{key: key + ".secret_file", path: t.SecretFile}, secretFile{key: key + ".authorization_file", path: t.AuthorizationFile})
	}
	return append(files, secretFile{key: "the configuration file", path: c.SecretsFrom, mixed: true})
}

// holdsSecrets reports whether a configuration file contains a secret.
func holdsSecrets(values map[string]any) bool {
	dsn, _ := values["database.dsn"].(string)
	found := values["mail.password"] != nil || values["telemetry.traces.authorization"] != nil || hasPassword(dsn)
	targets, _ := values["http.targets"].(map[string]Target)
	for _, t := range targets {
		found = found || t.Secret != "" || t.Authorization != ""
	}
	return found
}

// hasPassword reports whether a connection string contains a password, or may do so because it is
// not a valid URL.
func hasPassword(dsn string) bool {
	if !strings.Contains(dsn, "://") || strings.Contains(dsn, "password") {
		return strings.Contains(dsn, "password")
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return true
	}
	_, set := u.User.Password()
	return set
}
