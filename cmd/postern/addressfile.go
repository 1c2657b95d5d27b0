package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	recorded, err = readAddress(cfg)
	for _, variable := range recorded {
		name, value, _ := strings.Cut(variable, "=")
		if set := lookupEnv(cfg.Environ, name); set != "" && set != value {
			return nil, err
		}
	}
	return recorded, err
}

// readAddress returns the variables in the file; none if there is no file that this user can read.
func readAddress(cfg *config.Config) (recorded []string, err error) {
	if cfg.Database.Driver != "sqlite" {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(cfg.DataDir, addressFile))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	for _, variable := range strings.Fields(string(text)) {
		if name, _, _ := strings.Cut(variable, "="); slices.Contains(recordedVariables, name) {
			recorded = append(recorded, variable)
		}
	}
	return recorded, err
}

// checkOnlyServer returns an error if another server uses the same SQLite database: an instance is in the store,
// and the recorded server answers at another address. Commands would use the server that started last, and
// each server would admit all attempts that the limits allow.
func (h *app) checkOnlyServer(ctx context.Context, listen net.Addr) error {
	recorded, err := readAddress(h.cfg)
	if len(recorded) == 0 || err != nil {
		return err
	}
	other, err := config.Load("", recorded)
	if err != nil || other.Server.Listen == listen.String() {
		return nil // this server replaces what cannot be read
	}
	instances, err := h.store.OtherInstances(ctx, h.store, time.Now())
	if err != nil || len(instances) == 0 {
		return err
	}
	if err := newProbe(other.Server.Listen, !other.Server.HTTPOnly).get(ctx, "/health/liveness"); err != nil {
		return nil // it was killed
	}
	return fmt.Errorf("the server at %s uses the database %s: stop it first, or set data_dir to another folder; several instances need PostgreSQL",
		other.Server.PublicURL, absolute(h.cfg.Database.DSN))
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
