package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"
)

// supervisor is the service manager that started this process, such as systemd. The protocol is that
// of sd_notify(3) and sd_watchdog_enabled(3): each datagram to the socket contains assignments.
type supervisor struct {
	socket   string        // NOTIFY_SOCKET; "" without a supervisor
	watchdog time.Duration // the process is killed if it sends no WATCHDOG=1 for that long; 0: never
	log      *slog.Logger
}

// newSupervisor reads the variables that a service manager sets.
func newSupervisor(environ []string, log *slog.Logger) supervisor {
	s := supervisor{socket: lookupEnv(environ, "NOTIFY_SOCKET"), log: log}
	pid := lookupEnv(environ, "WATCHDOG_PID")
	period, err := strconv.ParseInt(lookupEnv(environ, "WATCHDOG_USEC"), 10, 64)
	if s.socket != "" && err == nil && period > 0 && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		s.watchdog = time.Duration(period) * time.Microsecond
	}
	return s
}

// notify sends a state. A failure must not stop the server, so it is only logged.
func (s supervisor) notify(state string) {
	if s.socket == "" {
		return
	}
	connection, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.socket, Net: "unixgram"}) // Go replaces the @ of an abstract name
	if err == nil {
		defer connection.Close()
		_, err = connection.Write([]byte(state))
	}
	if err != nil {
		s.log.Warn("the service manager cannot be notified", "variable", "NOTIFY_SOCKET", "state", state, "error", err)
	}
}

// notifyWatchdog reports twice per period that the server answers requests, until ctx is done. It
// sends a real request: a process whose server is blocked must not count as alive.
func (s supervisor) notifyWatchdog(ctx context.Context, server probe) {
	if s.watchdog == 0 {
		return
	}
	ticks := time.NewTicker(s.watchdog / 2)
	defer ticks.Stop()
	for {
		switch err := server.get(ctx, "/health/liveness"); {
		case err == nil:
			s.notify("WATCHDOG=1")
		case ctx.Err() == nil:
			s.log.Warn("the server does not answer its own request; the service manager restarts it if this continues", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}
