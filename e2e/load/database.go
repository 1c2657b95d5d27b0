package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lib/pq"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
)

// database is the database of a server under load.
type database struct {
	config store.Config // of the store, without the proxy
	env    []string     // of the server
	proxy  *proxy       // nil for SQLite, and with options.direct
	pid    int          // of PostgreSQL's first process; 0 for SQLite, and for a server of others
	close  []func() error
}

// openDatabase prepares an empty database.
func openDatabase(driver, dir string, o options, trace func(string)) (*database, error) {
	if driver == "sqlite" {
		c := store.Config{Driver: driver, DSN: filepath.Join(dir, "postern.db")}
		return &database{config: c, env: []string{"POSTERN_DATABASE_DRIVER=sqlite", "POSTERN_DATABASE_DSN=" + c.DSN}}, nil
	}
	dsn, stop, err := storetest.StartPostgres("fsync=on", "full_page_writes=on")
	if err != nil {
		return nil, err
	}
	d := &database{close: []func() error{stop}}
	return d, d.openPostgres(dsn, o, trace)
}

func (d *database) openPostgres(on string, o options, trace func(string)) error {
	dsn, drop, err := storetest.CreateSchema(on)
	if err != nil {
		return err
	}
	d.close = append(d.close, drop)
	if os.Getenv(storetest.DSNVariable) == "" {
		if d.pid, err = postmaster(dsn); err != nil {
			return err
		}
	}
	d.config = store.Config{Driver: "postgres", DSN: dsn}
	d.env = []string{"POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN=" + dsn}
	if o.direct {
		return nil
	}
	c, err := pq.NewConfig(dsn)
	if err != nil {
		return err
	}
	if d.proxy, err = startProxy(dialer(c), o.latency, trace); err != nil {
		return err
	}
	d.close = append(d.close, d.proxy.l.Close)
	through, err := proxied(dsn, d.proxy.port())
	d.env[1] = "POSTERN_DATABASE_DSN=" + through
	return err
}

// dialer connects to the server of a configuration, over its socket or over TCP.
func dialer(c pq.Config) func() (net.Conn, error) {
	if strings.HasPrefix(c.Host, "/") {
		return func() (net.Conn, error) {
			return net.Dial("unix", filepath.Join(c.Host, fmt.Sprintf(".s.PGSQL.%d", c.Port)))
		}
	}
	return func() (net.Conn, error) { return net.Dial("tcp", net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))) }
}

// proxied returns a connection string that leads to the proxy.
func proxied(dsn string, port int) (string, error) {
	if strings.Contains(dsn, "://") {
		return "", errors.New(storetest.DSNVariable + " is a URL; expected key=value pairs, such as host=/run/postgresql user=postgres sslmode=disable")
	}
	return fmt.Sprintf("%s host=127.0.0.1 port=%d sslmode=disable", dsn, port), nil
}

// postmaster returns the process id of a local PostgreSQL server.
func postmaster(dsn string) (pid int, err error) {
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var file string
	if err := db.QueryRow("SELECT pg_read_file('postmaster.pid')").Scan(&file); err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(file, "\n")
	return strconv.Atoi(first)
}

// traffic returns what the server has sent to the database.
func (d *database) traffic() counts {
	if d.proxy == nil {
		return counts{}
	}
	return d.proxy.traffic.read()
}

// shut releases the database in the reverse order.
func (d *database) shut() (failed error) {
	for i := len(d.close) - 1; i >= 0; i-- {
		failed = errors.Join(failed, d.close[i]())
	}
	return failed
}
