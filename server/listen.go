package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits of a connection, so that slow clients do not occupy connections.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
	// stopTimeout is how long requests in flight can take to finish when the server stops.
	// Supervisors commonly kill a process 30 seconds after SIGTERM.
	stopTimeout = 20 * time.Second
)

// Serve serves requests on the listener until ctx is done, with TLS if config is not nil. Then it
// accepts no new connections, lets the requests in flight finish, and returns nil. Requests that
// take longer than 20 seconds are aborted, which is an error. The listener is closed in any case.
func Serve(ctx context.Context, l net.Listener, h http.Handler, config *tls.Config, log *slog.Logger) error {
	srv := &http.Server{
		Handler:           h,
		TLSConfig:         config,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          stdlog.New(connectionLog{log}, "", 0),
	}
	served := make(chan error, 1)
	go func() { served <- serve(srv, l) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	return stop(ctx, srv, log)
}

// connectionLog receives the reports of net/http. Most are about clients that do not finish a
// handshake. A connection that cannot be accepted is more serious: the process may have no file
// descriptors left.
type connectionLog struct{ log *slog.Logger }

// Write logs one report.
func (c connectionLog) Write(report []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.HasPrefix(report, []byte("http: Accept error")) {
		level = slog.LevelWarn
	}
	c.log.Log(context.Background(), level, string(bytes.TrimSpace(report)))
	return len(report), nil
}

func serve(srv *http.Server, l net.Listener) error {
	if srv.TLSConfig != nil {
		return srv.ServeTLS(l, "", "")
	}
	return srv.Serve(l)
}

// stop lets requests in flight finish. They have contexts of their own, which the end of ctx does
// not cancel.
func stop(ctx context.Context, srv *http.Server, log *slog.Logger) error {
	log.InfoContext(ctx, "stopping: requests in flight may finish", slog.Duration("within", stopTimeout))
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := srv.Shutdown(bounded); err != nil {
		return errors.Join(fmt.Errorf("requests were still in flight after %s: %w", stopTimeout, err), srv.Close())
	}
	return nil
}
