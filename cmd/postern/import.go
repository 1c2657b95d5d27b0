package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/importer"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

type importCommand struct {
	Config        string `type:"path" help:"The configuration file of the local server."`
	DryRun        bool   `help:"Print what would be imported and what cannot be, and change nothing. A real import does the same first."`
	Type          string `default:"Person" placeholder:"NAME" help:"The user type of the users."`
	Unit          string `placeholder:"HANDLE" help:"The organization unit of the users. Default: the default one."`
	Adopt         bool   `help:"Accept existing groups, roles, applications and providers that have the IDs of the export and no recorded origin, because a release that did not record it imported them."`
	MayAdminister bool   `name:"administrators" help:"Let users become administrators, if they are members of groups or have roles that give administrative permissions here."`
	Name          string `placeholder:"TEXT" help:"The tenant or project of the export, if you import several of one product. The same name must be used each time."`
	FormerHost    string `placeholder:"HOST" help:"The host of the other product, for passkeys of an export that does not name their relying party."`
	HashConfig    string `type:"path" placeholder:"PATH" help:"The file with Firebase's password hash parameters (hash_config)."`
	Flows         string `type:"path" placeholder:"PATH" help:"The folder to write the translated flows to. They are not stored."`
	IDs           string `name:"ids" type:"path" placeholder:"PATH" help:"A file to write, with the ID of each user in the other product (former) and here (id), as CSV."`
	Report        string `type:"path" placeholder:"PATH" help:"A file to write, with each place of each finding, as CSV."`
	Product       string `arg:"" enum:"thunderid,keycloak,auth0,firebase,cognito,csv,jsonl" help:"The product: thunderid, keycloak, auth0, firebase or cognito; or csv or jsonl for a file of users."`
	Dir           string `arg:"" type:"path" help:"The folder with the export, or its only file."`
}

// Run imports the export of another product.
func (c importCommand) Run(ctx context.Context, p program) error {
	h, err := p.openLocal(ctx, c.Config)
	if err != nil {
		return err
	}
	defer h.close()
	source, err := importer.Open(c.Product, c.Dir, importer.Options{Name: c.Name, RPID: h.cfg.Passkey.RelyingPartyID, FormerHost: c.FormerHost, HashConfig: c.HashConfig})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "dry run of the import from %s\n", c.Product)
	planned, foreseen, err := c.run(ctx, p, h, source, true)
	if err != nil {
		return err
	}
	foreseen.Write(p.stdout)
	if c.DryRun || planned.IsEmpty() {
		return errors.Join(c.writeFlows(p, h, planned), emptiness(planned))
	}
	fmt.Fprintf(p.stdout, "\nimport from %s\n", c.Product)
	done, found, err := c.run(ctx, p, h, source, false)
	if err != nil {
		return fmt.Errorf("the import has stopped; what is stored is complete, and another run continues: %w", err)
	}
	if !reflect.DeepEqual(found.Findings(), foreseen.Findings()) { // something has changed meanwhile
		found.Write(p.stdout)
	}
	return errors.Join(c.writeFlows(p, h, done), emptiness(done))
}

// emptiness returns the error of an import that imports nothing; nil for another one.
func emptiness(r *importer.Result) error {
	switch {
	case !r.IsEmpty():
		return nil
	case r.Refused > 0:
		return fmt.Errorf("nothing was imported: %s of the export cannot be imported; the report above has the reasons", countOf(r.Refused, "users"))
	}
	return errors.New("nothing was imported: the export has no users, and nothing else that can be imported; check that it is the whole export of the product")
}

// run runs the import, or a dry run, and prints its counts. The files of details are those of the last
// run of the command.
func (c importCommand) run(ctx context.Context, p program, h *app, source importer.Source, dry bool) (*importer.Result, *importer.Report, error) {
	last := dry == c.DryRun
	details, closeDetails, err := openOutput(c.Report, last)
	if err != nil {
		return nil, nil, err
	}
	ids, closeIDs, err := openOutput(c.IDs, last)
	if err != nil {
		return nil, nil, errors.Join(err, closeDetails())
	}
	label := "importing"
	if dry {
		label = "reading the export"
	}
	progress := p.startProgress(label)
	defer progress.stop()
	call := directory.SystemCall()
	call.DryRun = dry
	report, mapping := importer.NewReport(details), csv.NewWriter(ids)
	_ = mapping.Write([]string{"former", "id"}) // mapping.Error returns the error
	begun := time.Now()
	result, err := importer.Import{
		Product: c.Product, Source: source, Directory: h.directory, Call: call, UserType: c.Type, Unit: c.Unit, Adopt: c.Adopt, MayAdminister: c.MayAdminister,
		Seal:     func(key totp.Key, userID string) schemas.TOTP { return nodes.SealTOTP(h.ciphers.factors, key, userID) },
		Mapped:   func(foreign, id string) error { return mapping.Write([]string{foreign, id}) },
		Progress: func(users int) { progress.rows.Store(int64(users)) },
	}.Run(ctx, report)
	progress.stop()
	mapping.Flush()
	if err = errors.Join(err, mapping.Error(), report.Close(), closeIDs(), closeDetails()); err != nil {
		return nil, nil, err
	}
	printImport(p.stdout, result, dry, time.Since(begun))
	return result, report, nil
}

// openOutput creates a file that only its owner can read; without a path, or if it is not wanted, it
// returns a writer that discards.
func openOutput(path string, wanted bool) (io.Writer, func() error, error) {
	if path == "" || !wanted {
		return io.Discard, func() error { return nil }, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}

// printImport prints the counts of an import.
func printImport(w io.Writer, r *importer.Result, dry bool, took time.Duration) {
	verb := "imported"
	if dry {
		verb = "can be imported:"
	}
	var with []string
	for _, name := range slices.Sorted(maps.Keys(r.With)) {
		with = append(with, fmt.Sprintf("%d with %s", r.With[name], name))
	}
	text := fmt.Sprintf("  %s %s", verb, countOf(r.Users, "users"))
	if len(with) > 0 {
		text += " (" + strings.Join(with, ", ") + ")"
	}
	fmt.Fprintf(w, "%s; %d exist already, %d cannot be imported\n", text, r.Skipped, r.Refused)
	for _, plural := range slices.Sorted(maps.Keys(r.Resources)) {
		fmt.Fprintf(w, "  %s %s\n", verb, countOf(r.Resources[plural], plural))
	}
	if r.Existing > 0 {
		fmt.Fprintf(w, "  already stored: %s\n", countOf(r.Existing, "other resources"))
	}
	for _, j := range r.Joined {
		fmt.Fprintf(w, "  new members of the existing %s %q: %s, who get %s\n", strings.TrimSuffix(j.Plural, "s"), j.Name, countOf(j.Users, "users"), permissionsOr(j.Permissions))
	}
	if n := r.Users + r.Skipped + r.Refused; !dry && took > time.Second {
		fmt.Fprintf(w, "  %.0f users a second\n", float64(n)/took.Seconds())
	}
}

func permissionsOr(permissions []string) string {
	if len(permissions) == 0 {
		return "no permissions"
	}
	return "the permissions " + strings.Join(permissions, " ")
}

// countOf returns a number with a noun, such as "1 identity provider" for 1 and "identityProviders".
func countOf(n int, plural string) string {
	words := strings.ToLower(capital.ReplaceAllString(plural, " $0"))
	if n == 1 {
		words = strings.TrimSuffix(words, "s")
	}
	return fmt.Sprintf("%d %s", n, words)
}

var capital = regexp.MustCompile("[A-Z]")

// draft is the ending of a flow file that does not compile, which `postern flow check` does not read.
const draft = ".draft"

// writeFlows writes the translated flows. One that does not compile gets another ending.
func (c importCommand) writeFlows(p program, h *app, r *importer.Result) error {
	if len(r.Flows) == 0 {
		if c.Flows != "" {
			fmt.Fprintln(p.stdout, "\nthe export has no flow that can be translated: --flows wrote nothing")
		}
		return nil
	}
	names := slices.Sorted(maps.Keys(r.Flows))
	if c.Flows == "" {
		fmt.Fprintf(p.stdout, "\n%d flows can be translated (%s): pass a folder with --flows to get the files\n", len(names), strings.Join(names, ", "))
		return nil
	}
	if err := os.MkdirAll(c.Flows, 0o700); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout)
	for _, name := range names {
		path := filepath.Join(c.Flows, name)
		_, graph, problems := engine.Check(r.Flows[name], true, h.kinds)
		if graph == nil {
			path += draft
		}
		if err := os.WriteFile(path, r.Flows[name], 0o600); err != nil {
			return err
		}
		if graph == nil {
			fmt.Fprintf(p.stdout, "wrote %s, which does not compile yet: %s\n", path, problems[0])
			continue
		}
		fmt.Fprintf(p.stdout, "wrote %s: compare it with the original, then store it with `postern flow push`\n", path)
	}
	return nil
}
