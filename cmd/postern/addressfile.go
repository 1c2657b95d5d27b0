package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/config"
)

// addressFile is the file in the data folder with the address of the server that started last, as variables
// of the environment. It is not in the store: a writer of the database must not direct the tokens of commands
// elsewhere.
const addressFile = "server.env"

// recordAddress records where this server is reached. A server with PostgreSQL may have no data folder; its
// configuration contains the address.
func recordAddress(cfg *config.Config, listen net.Addr) error {
	if cfg.Database.Driver != "sqlite" {
		return nil
	}
	s, path := cfg.Server, filepath.Join(cfg.DataDir, addressFile)
	text := fmt.Sprintf("POSTERN_SERVER_PUBLIC_URL=%s\nPOSTERN_SERVER_HTTP_ONLY=%t\nPOSTERN_SERVER_HOSTNAME=%s\nPOSTERN_SERVER_PORT=%d\nPOSTERN_SERVER_LISTEN=%s\n",
		s.PublicURL, s.HTTPOnly, s.Hostname, s.Port, listen)
	err := os.WriteFile(path+".new", []byte(text), 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the database is elsewhere
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	return err
}

// recordedAddress returns the recorded variables; none if there are none, or if the environment sets one of them
// to another value, because it then describes another server.
func recordedAddress(cfg *config.Config) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(cfg.DataDir, addressFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	recorded := strings.Fields(string(text))
	for _, variable := range recorded {
		name, value, _ := strings.Cut(variable, "=")
		if set := lookupEnv(cfg.Environ, name); set != "" && set != value {
			return nil, err
		}
	}
	return recorded, err
}

// loadLocal loads the configuration of a server on this machine. Without a configuration file, the recorded
// address applies: `make run` and --listen set it for the server only. further are variables of the command.
func loadLocal(file string, environ []string, further ...string) (*config.Config, error) {
	cfg, err := config.Load(file, environ)
	if err != nil {
		return nil, err
	}
	var recorded []string
	if file == "" {
		if recorded, err = recordedAddress(cfg); err != nil {
			return nil, err
		}
	}
	if len(recorded)+len(further) == 0 {
		return cfg, nil
	}
	return config.Load(file, slices.Concat(environ, recorded, further))
}
