package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
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

// recordedVariables are the variables in the file. Others there have no effect.
var recordedVariables = []string{"POSTERN_SERVER_PUBLIC_URL", "POSTERN_SERVER_HTTP_ONLY", "POSTERN_SERVER_HOSTNAME", "POSTERN_SERVER_PORT", "POSTERN_SERVER_LISTEN"}

// recordAddress records where this server is reached. A server with PostgreSQL may have no data folder; its
// configuration contains the address.
func recordAddress(cfg *config.Config, listen net.Addr) error {
	if cfg.Database.Driver != "sqlite" {
		return nil
	}
	s, path, text := cfg.Server, filepath.Join(cfg.DataDir, addressFile), ""
	for i, value := range []any{s.PublicURL, s.HTTPOnly, s.Hostname, s.Port, listen} {
		text += fmt.Sprintf("%s=%v\n", recordedVariables[i], value)
	}
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
// to another value, or another database, because it then describes another server.
func recordedAddress(cfg *config.Config) (recorded []string, err error) {
	if cfg.Database.Driver != "sqlite" {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(cfg.DataDir, addressFile))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	for _, variable := range strings.Fields(string(text)) {
		name, value, _ := strings.Cut(variable, "=")
		if set := lookupEnv(cfg.Environ, name); set != "" && set != value {
			return nil, err
		}
		if slices.Contains(recordedVariables, name) {
			recorded = append(recorded, variable)
		}
	}
	return recorded, err
}

// confirmAddress returns an error if only the data folder names a server on another machine: with a copied folder,
// or one of unknown origin, a command would send its credentials there. flag sets the address.
func confirmAddress(cfg *config.Config, environ []string, flag string) error {
	public, err := url.Parse(cfg.Server.PublicURL)
	if err != nil || isLoopback(public.Hostname()) {
		return err
	}
	set, err := config.Load("", environ)
	if err != nil || set.Server.PublicURL == cfg.Server.PublicURL {
		return err
	}
	return fmt.Errorf("only %s names the server %s, which is not on this machine, and the command sends credentials there: if it is the right server, "+
		"pass --config with its configuration file, or set POSTERN_SERVER_PUBLIC_URL=%[2]s; otherwise pass %s with the URL of another one",
		absolute(filepath.Join(cfg.DataDir, addressFile)), cfg.Server.PublicURL, flag)
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
