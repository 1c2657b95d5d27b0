package bootstrap

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/schemas"
)

// Setup is what Run does to a server.
type Setup struct {
	BaseURL string // without a slash at the end
	// RedirectURIs are further ones of the console.
	RedirectURIs []string
	// Samples adds the samples.
	Samples bool
	// Dir is a folder with further seed files, *.yaml; "" for none.
	Dir string
	// Token is a bearer token with the permission "system"; "" for none.
	Token string
	// Admin signs in where there is no token. Where nobody may do anything yet, it
	// becomes the first administrator.
	Admin Admin
	// Passwords is the password policy of the server. The zero value is the default.
	Passwords password.Policy
	// Getenv gives the values of environment variables, in which secrets of seed
	// files are found.
	Getenv func(name string) string
	// Wait is how long the server may take to be ready.
	Wait time.Duration
	HTTP *http.Client
	// Report takes a line for each thing that is done.
	Report func(format string, args ...any)
}

//go:embed samples/*.yaml
var sampleFiles embed.FS

// seedFile is the resources of one seed file.
type seedFile struct {
	name      string
	resources []declare.Resource
}

// Run makes a server have over HTTP what Seed gives a store, then what the
// further seed files declare, in the order of their names. What is there stays.
// It may be run again, also after it was interrupted anywhere.
//
// A server that stands open (see SKIP_SECURITY in the README) closes when the
// administrator gets in: that comes last of what a store begins with, so that
// whoever was interrupted before it finds the server open still.
func Run(ctx context.Context, setup Setup) error {
	files, err := setup.files()
	if err != nil {
		return err
	}
	r := &remoteServer{base: setup.BaseURL, http: setup.HTTP, token: setup.Token}
	if err := r.waitReady(ctx, setup.Wait); err != nil {
		return err
	}
	s := newSeeder(r, setup.Report)
	if err := s.begin(ctx, r, setup); err != nil {
		return err
	}
	for _, f := range files {
		if err := s.ensure(ctx, f.resources, setup.Getenv); err != nil {
			return err
		}
	}
	if s.changes == 0 {
		s.report("nothing to do: everything is there")
	}
	return nil
}

// files reads the seed files, so that what is wrong with them is told before
// anything is done.
func (setup Setup) files() (list []seedFile, err error) {
	if setup.Samples {
		if list, err = readFiles(sampleFiles, "samples", ""); err != nil {
			return nil, err
		}
	}
	if setup.Dir == "" {
		return list, nil
	}
	if info, err := os.Stat(setup.Dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("there is no folder %s to read seed files from", setup.Dir)
	}
	further, err := readFiles(os.DirFS(setup.Dir), ".", setup.Dir)
	if err == nil && len(further) == 0 {
		err = fmt.Errorf("there are no seed files (*.yaml) in %s", setup.Dir)
	}
	return append(list, further...), err
}

// readFiles reads the seed files of a folder in the order of their names. Shown
// is the folder as faults name it.
func readFiles(in fs.FS, folder, shown string) (list []seedFile, err error) {
	names, err := fs.ReadDir(in, folder)
	if err != nil {
		return nil, err
	}
	var faults []error
	for _, entry := range names {
		if entry.IsDir() || filepath.Ext(entry.Name()) != ".yaml" || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		text, err := fs.ReadFile(in, filepath.ToSlash(filepath.Join(folder, entry.Name())))
		if err != nil {
			return nil, err
		}
		name := filepath.Join(shown, entry.Name())
		resources, err := declare.ReadSeed(name, text)
		if err != nil {
			faults = append(faults, err)
		}
		list = append(list, seedFile{name, resources})
	}
	return list, errors.Join(faults...)
}

// begin makes the server have what a store begins with, and leaves the remote
// with a token that may do everything.
func (s *seeder) begin(ctx context.Context, r *remoteServer, setup Setup) error {
	open := false
	if r.token == "" {
		var err error
		if open, err = r.open(ctx); err != nil {
			return err
		}
	}
	if r.token == "" && !open {
		if err := r.signInAdmin(ctx, setup.Admin); err != nil {
			return err
		}
	}
	if open {
		if err := setup.Admin.checkChosen(setup.Passwords); err != nil {
			return err
		}
	}
	if err := s.ensureBase(ctx, append([]string{consoleURL(setup.BaseURL)}, setup.RedirectURIs...)); err != nil || !open {
		return err
	}
	return s.close(ctx, r, setup.Admin)
}

// close makes the first administrator, with whom the server closes. A user of
// the name who was made before must have the password: somebody else could have
// taken the name, and is not to get in.
func (s *seeder) close(ctx context.Context, r *remoteServer, a Admin) error {
	var id string
	user, err := s.find(ctx, a)
	if err != nil {
		return err
	}
	if user != nil {
		id = user.ID
	} else if id, err = s.create(ctx, a); err != nil {
		return err
	}
	if _, err := r.signIn(ctx, a); err != nil {
		return fmt.Errorf("%w; if somebody else is called %q, choose another name for the administrator with ADMIN_USERNAME", err, a.username())
	}
	if err := s.addAdministrators(ctx, id); err != nil {
		return err
	}
	return r.signInAdmin(ctx, a)
}

// signInAdmin signs the administrator in.
func (r *remoteServer) signInAdmin(ctx context.Context, a Admin) (err error) {
	if a.Password == "" {
		return errors.New("the server wants to know who you are: give a token with --token, say --config if the store is here, or set ADMIN_USERNAME and ADMIN_PASSWORD")
	}
	r.token, err = r.signIn(ctx, a)
	return err
}

// open reports whether the server stands open.
func (r *remoteServer) open(ctx context.Context) (bool, error) {
	_, _, err := r.doRequest(ctx, http.MethodGet, "/organization-units?limit=1", "", nil)
	if schemas.HasClass(err, schemas.Unauthenticated) {
		return false, nil
	}
	return err == nil, err
}

// readinessInterval is how long it takes until a server that is not ready is asked again.
const readinessInterval = 200 * time.Millisecond

// waitReady waits until the server is ready.
func (r *remoteServer) waitReady(ctx context.Context, wait time.Duration) error {
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	var last error
	for {
		_, _, err := r.doRequest(ctx, http.MethodGet, "/health/readiness", "", nil)
		if err == nil || isUntrustedCertificate(err) {
			return untrustedCertificateError(err)
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			if last == nil {
				last = context.Cause(ctx)
			}
			return fmt.Errorf("the server at %s is not ready after %s: %w", r.base, wait, last)
		case <-time.After(readinessInterval):
		}
	}
}
