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
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/folder"
	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/schemas"
)

// Setup configures Run.
type Setup struct {
	BaseURL string // without a slash at the end
	// RedirectURIs are additional redirect URIs of the console.
	RedirectURIs []string
	Samples      bool
	// Dir is a folder with additional seed files, *.yaml; "" for none.
	Dir string
	// Token is a bearer token with the permission "system"; "" for none.
	Token string
	// Admin signs in if there is no token. If the server has no administrator, Run creates
	// it.
	Admin Admin
	// Passwords is the server's password policy. The zero value is the default.
	Passwords password.Policy
	// Secrets are the sources of the secrets of seed files.
	Secrets declare.Secrets
	// Wait limits the wait until the server is ready.
	Wait time.Duration
	HTTP *http.Client
	// Report receives a line for each change.
	Report func(format string, args ...any)
}

//go:embed samples/*.yaml
var sampleFiles embed.FS

// Run seeds a server over HTTP as Seed seeds a store, then applies the additional seed
// files in the order of their names. Existing resources stay. It can run again, also after
// an interruption.
//
// An open server (SKIP_SECURITY: see docs/operating.md) closes when it gets an administrator. That
// is the last step of the base, so that a run after an interruption finds the server still open.
func Run(ctx context.Context, setup Setup) error {
	files, err := setup.files()
	if err != nil {
		return err
	}
	r := &remoteServer{setup}
	if err := r.waitReady(ctx); err != nil {
		return err
	}
	s := newSeeder(r, setup.Report)
	if err := s.begin(ctx, r); err != nil {
		return err
	}
	for _, resources := range files {
		if err := s.ensure(ctx, resources, setup.Secrets); err != nil {
			return err
		}
	}
	if s.changes == 0 {
		s.report("nothing to do: everything exists")
	}
	return nil
}

// consoleRedirectURIs returns the address of the console and the additional redirect URIs, each
// once: a caller can list the address of the console too.
func (setup Setup) consoleRedirectURIs() (uris []string) {
	for _, uri := range append([]string{consoleURL(setup.BaseURL)}, setup.RedirectURIs...) {
		if !slices.Contains(uris, uri) {
			uris = append(uris, uri)
		}
	}
	return uris
}

// files returns the resources of each seed file. It reads all files, so that faults are reported
// before anything is changed.
func (setup Setup) files() (list [][]declare.Resource, err error) {
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
	further, err := readFiles(folder.FS(setup.Dir), ".", setup.Dir)
	if err == nil && len(further) == 0 {
		err = fmt.Errorf("there are no seed files (*.yaml) in %s", setup.Dir)
	}
	return append(list, further...), err
}

// readFiles reads the seed files of a folder in the order of their names. Shown is the
// folder's name in faults.
func readFiles(in fs.FS, folder, shown string) (list [][]declare.Resource, err error) {
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
		resources, err := declare.ReadSeed(filepath.Join(shown, entry.Name()), text)
		if err != nil {
			faults = append(faults, err)
		}
		list = append(list, resources)
	}
	return list, errors.Join(faults...)
}

// begin seeds the base and leaves the remote with an administrator's token.
func (s *seeder) begin(ctx context.Context, r *remoteServer) error {
	open, err := false, error(nil)
	if r.Token == "" {
		open, err = r.open(ctx)
	}
	switch {
	case err != nil:
	case open:
		err = r.Admin.checkChosen(r.Passwords)
	case r.Token == "":
		err = r.signInAdmin(ctx)
	}
	if err != nil {
		return err
	}
	if err := s.ensureBase(ctx, r.consoleRedirectURIs()); err != nil || !open {
		return err
	}
	return s.close(ctx, r)
}

// close creates the first administrator, which closes the server. An existing user of that
// name must have the password: an attacker could have taken the name.
func (s *seeder) close(ctx context.Context, r *remoteServer) error {
	a := r.Admin
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
	if _, err := r.signIn(ctx); err != nil {
		return fmt.Errorf("%w; if another user has the username %q, set ADMIN_USERNAME to another name", err, a.username())
	}
	if err := s.addAdministrator(ctx, id); err != nil {
		return err
	}
	return r.signInAdmin(ctx)
}

func (r *remoteServer) signInAdmin(ctx context.Context) (err error) {
	if r.Admin.Password == "" {
		return errors.New("no credentials were given: pass --token or set ADMIN_TOKEN, use --config if the store is on this machine, or set ADMIN_USERNAME and ADMIN_PASSWORD")
	}
	r.Token, err = r.signIn(ctx)
	return err
}

// open reports whether the API accepts requests without a token.
func (r *remoteServer) open(ctx context.Context) (bool, error) {
	_, err := r.send(ctx, http.MethodGet, "/organization-units?limit=1", "", nil, nil)
	if schemas.HasClass(err, schemas.Unauthenticated) {
		return false, nil
	}
	return err == nil, err
}

// readinessInterval is the interval between readiness checks.
const readinessInterval = 200 * time.Millisecond

func (r *remoteServer) waitReady(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, r.Wait)
	defer stop()
	var last error
	for {
		_, err := r.send(ctx, http.MethodGet, "/health/readiness", "", nil, nil)
		if err == nil || isUntrustedCertificate(err) {
			return err
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			if last == nil {
				last = context.Cause(ctx)
			}
			return fmt.Errorf("the server at %s is not ready after %s: %w", r.BaseURL, r.Wait, last)
		case <-time.After(readinessInterval):
		}
	}
}
