package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/mail"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// checkDisk checks the free space for the files that the server writes.
func (d *doctor) checkDisk() {
	const check, fix = "disk", "free space, or move data_dir; while the disk is full, the server answers 503"
	dir := d.cfg.DataDir
	if d.cfg.Database.Driver == "sqlite" {
		dir = filepath.Dir(d.cfg.Database.DSN)
	}
	dir = existingFolder(dir)
	free, known := freeSpace(dir)
	switch mib := free >> 20; {
	case !known:
	case mib < 100:
		d.fail(check, fix, "%d MiB are free at %s", mib, dir)
	case mib < 1024:
		d.warn(check, fix, "%d MiB are free at %s", mib, dir)
	default:
		d.ok(check, "%d MiB are free at %s", mib, dir)
	}
}

// existingFolder returns the folder, or the one above it in which it would be created.
func existingFolder(dir string) string {
	for !isExisting(dir) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
	}
	return dir
}

// unwritable returns the database file or the folder that may not be written, "" if there is none.
func unwritable(file string, isWritable func(string) bool) string {
	if folder := existingFolder(filepath.Dir(file)); !isWritable(folder) {
		return folder
	}
	if isExisting(file) && !isWritable(file) {
		return file
	}
	return ""
}

func isExisting(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// checkStore inspects the database, and opens the store if that does not migrate it.
func (d *doctor) checkStore(ctx context.Context) {
	const check = "store"
	c := d.cfg.Database
	if path := unwritable(c.DSN, isWritable); c.Driver == "sqlite" && path != "" {
		d.fail(check, "let the user that runs the server write the file and its folder (chown, chmod), or mount the disk for writing", "this user cannot write %s", absolute(path))
		return
	}
	if _, err := os.Stat(c.DSN); c.Driver == "sqlite" && errors.Is(err, fs.ErrNotExist) {
		d.warn(check, "start `postern serve` once, or pass the server's configuration with --config", "there is no store at %s yet", absolute(c.DSN))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*checkTimeout)
	defer cancel()
	found, err := store.Inspect(ctx, store.Config{Driver: c.Driver, DSN: c.DSN})
	if err != nil {
		fix := "check database.dsn, its sslmode, and that the database runs and accepts the user and the password"
		if c.Driver == "sqlite" {
			fix = "check that database.dsn names a database of Postern, and check its disk; if the file is damaged, stop the server, move the file to another folder, and run `postern restore` with a backup"
		}
		d.fail(check, fix, "%v", causeOfOutage(err))
		return
	}
	if c.Driver == "postgres" {
		d.checkClock("clock of the database", found.Clock)
	}
	switch {
	case found.Unusable != nil:
		d.fail(check, "use the version of Postern that the message names", "%v", found.Unusable)
		return
	case found.Version == 0:
		d.warn(check, "start the server, which creates the tables and the first administrator", "the database is empty")
		return
	case found.Version < found.Known:
		d.warn(check, "make a backup, and start the server, which migrates it", "it has schema version %d, and this program needs %d", found.Version, found.Known)
		return
	}
	const writable = "check the free space of the disk, and that the database is not read-only"
	h, err := openAppFor(ctx, d.cfg, newLog(io.Discard, d.cfg.Log), false)
	if err != nil && strings.HasPrefix(err.Error(), "store: ") { // not a problem of the key, which must not be replaced then
		d.fail(check, writable, "%v", err)
		return
	}
	if err != nil {
		fix := "restore the key-encryption key from its backup, and check the files that the configuration names"
		if errors.Is(err, fs.ErrPermission) {
			fix = "let only the user that runs the server read the file: chown, chmod 600"
		}
		d.fail("keys", fix, "%v", err)
		return
	}
	d.app = h
	d.ok("keys", "the key-encryption key opens the keys in the store")
	if err := h.store.Ping(ctx); err != nil {
		d.fail(check, writable, "%v", err)
		return
	}
	d.ok(check, "readable and writable, schema version %d", found.Version)
}

// causeOfOutage returns what the driver reports, without the advice to try again, which is for clients.
func causeOfOutage(err error) error {
	if schemas.HasCode(err, schemas.CodeStoreUnavailable) {
		return cmp.Or(schemas.AsError(err).Err, err)
	}
	return err
}

// checkStoredPasskeys looks for passkeys that the sign-in pages cannot use.
func (d *doctor) checkStoredPasskeys(ctx context.Context) {
	const check = "stored passkeys"
	id := d.cfg.Passkey.RelyingPartyID
	others, err := d.app.store.OtherRelyingParties(ctx, id)
	if err != nil {
		d.warn(check, "run `postern doctor` again when the database answers", "they cannot be counted: %v", err)
		return
	}
	for _, p := range others {
		d.warn(check, otherRelyingPartyFix, "%d passkeys of %d users belong to the relying party %s, and passkey.relying_party_id is %s: sign-in pages cannot use them", p.Passkeys, p.Users, p.ID, id)
	}
	if len(others) == 0 {
		d.ok(check, "all belong to the relying party %s", id)
	}
}

// checkSigningKeys checks that a key signs, and that the keys are replaced in time.
func (d *doctor) checkSigningKeys() {
	const check = "signing keys"
	signing := map[string]time.Time{}
	for _, k := range d.app.tokens.SigningKeys() {
		if k.Status == schemas.KeySigning {
			signing[k.Algorithm] = k.SignsSince
		}
	}
	if len(signing) == 0 {
		d.warn(check, "start the server, which creates them", "there are none")
	}
	limit := d.cfg.Token.KeyAge + 2*d.cfg.Token.KeyPublish
	for algorithm, since := range signing {
		if time.Since(since) > limit {
			d.warn(check, "start the server, which replaces them, or run `postern keys rotate`", "the key for %s signs since %s, longer than token.key_age", algorithm, formatTime(since))
		}
	}
	if !d.hasProblems(check) {
		d.ok(check, "%d keys sign", len(signing))
	}
}

// queueWarning is how old a message in the queue may be without a warning.
const queueWarning = 30 * time.Minute

// checkQueue checks that outgoing messages leave.
func (d *doctor) checkQueue(ctx context.Context) {
	const check = "deliveries"
	queued, err := d.app.store.QueuedDeliveries(ctx)
	if err != nil {
		d.fail(check, "check the database", "%v", err)
		return
	}
	waiting := 0
	for _, q := range queued {
		waiting += q.Count
		if time.Since(q.Oldest) > queueWarning {
			d.warn(check, "check that a server runs, the mail server, and the services of flows; the server's log has the reason of each failure",
				"%d messages of the kind %s are queued, the oldest since %s; %d failed at least once", q.Count, q.Kind, formatTime(q.Oldest), q.Tried)
		}
	}
	if !d.hasProblems(check) {
		d.ok(check, "%d messages wait", waiting)
	}
}

// checkAuditLog checks that the audit log may be extended, and contains what servers and its file have seen.
func (d *doctor) checkAuditLog(ctx context.Context) {
	const check = "audit log"
	err := d.app.rememberForwarded()
	if err == nil {
		err = d.app.chain.Check(ctx)
	}
	switch broken, is := errors.AsType[*store.ChainBroken](err); {
	case is:
		d.fail(check, "compare the log with its copies, then run `postern audit reanchor`", "it was changed at seal %d: %s; nothing is sealed", broken.Fault.Seq, broken.Fault.Problem)
	case err != nil:
		d.fail(check, "check the database, and that audit.file can be read", "%v", err)
	default:
		d.ok(check, "its last seal has the code of the key; `postern audit verify` checks all")
	}
}

// checkFlows checks that the stored flows can run.
func (d *doctor) checkFlows(ctx context.Context) {
	const check = "flows"
	err := d.app.directory.BrokenFlows(ctx, directory.SystemCall(), func(b directory.BrokenFlow) {
		d.fail(check, "correct the flow, or what it refers to, such as a service in http.targets", "%s cannot run: %s: %s", b.Flow.Handle, b.Findings[0].Path, b.Findings[0].Message)
	})
	if err != nil {
		d.fail(check, "check the database", "%v", err)
	}
	if !d.hasProblems(check) {
		d.ok(check, "all stored flows can run")
	}
}

// checkHostname compares server.public_url with the address at which the store was used before: that of the console.
func (d *doctor) checkHostname(ctx context.Context) {
	const check = "public hostname"
	console, err := d.app.store.ApplicationByClientID(ctx, "CONSOLE")
	if schemas.HasClass(err, schemas.NotFound) {
		return
	}
	if err != nil {
		d.fail(check, "check the database", "%v", err)
		return
	}
	at := d.cfg.Server.PublicURL + "/console"
	if client := console.OAuth(); client != nil && !hasLocalURL(d.cfg) && !slices.Contains(client.RedirectURIs, at) {
		d.warn(check, "read docs/hostname.md first; if the address is right, start the server: it lets the console sign in there",
			"server.public_url is %s, but this store was used at other addresses, with the console at %s: all tokens and sign-ins in browsers end, clients need the new issuer, "+
				"identity providers the new callback URL, and passkeys work only with their relying party id", d.cfg.Server.PublicURL, strings.Join(client.RedirectURIs, ", "))
		return
	}
	d.ok(check, "the store is used at %s", d.cfg.Server.PublicURL)
}

// checkAdmissions lists user types that no application admits, applications that admit no user type, and
// credentials that users can enroll although nothing asks for them.
func (d *doctor) checkAdmissions(ctx context.Context) {
	const check = "user types"
	found, err := d.app.directory.Admissions(ctx, directory.SystemCall())
	if err != nil {
		d.fail(check, "check the database", "%v", err)
		return
	}
	for _, t := range found.Types {
		d.warn(check, "add the type to allowedUserTypes of the applications that its users need", "no application admits users of the type %q: they cannot sign in", t)
	}
	for _, a := range found.Applications {
		d.warn(check, "correct its allowedUserTypes; an application without them admits types with global identifiers only", "the application %q admits no user type, so no user can sign in", a.Name)
	}
	for _, t := range slices.Sorted(maps.Keys(found.Unused)) {
		d.warn(check, "let a flow of these applications ask for it, such as the built-in flow sign-in",
			"users of the type %q can enroll %s on the account page, but no flow of an application that admits them asks for it", t, strings.Join(found.Unused[t], ", "))
	}
	if !d.hasProblems(check) {
		d.ok(check, "each is admitted by an application, and what its users can enroll is asked for")
	}
}

// The limits of checkRules: how many resources of a noun it checks, and how many it lists.
const (
	maxRechecked = 10_000
	maxOutdated  = 20
)

// checkRules lists the resources that were stored under less strict rules than those of this release.
func (d *doctor) checkRules(ctx context.Context) {
	const check, fix = "rules", "correct the resource; until then a change of it can be refused, and pages leave out unsafe values"
	found := 0
	cut, err := d.app.directory.Recheck(ctx, maxRechecked, func(o directory.Outdated) {
		if found++; found > maxOutdated {
			return
		}
		more := ""
		if n := len(o.Problems) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more problems)", n)
		}
		d.warn(check, fix, "the %s %s would be refused today: %s%s", schemas.DisplayName(o.Noun.Name), strings.TrimSpace(o.Name+" "+o.ID), o.Problems[0], more)
	})
	if err != nil {
		d.fail(check, "check the database", "%v", err)
		return
	}
	if found > maxOutdated {
		d.warn(check, fix, "%d more resources would be refused today", found-maxOutdated)
	}
	checked := "all resources"
	for _, noun := range cut {
		checked += fmt.Sprintf(", of the %s the first %d", schemas.DisplayName(noun.Plural), maxRechecked)
	}
	if found == 0 {
		d.ok(check, "the rules of this release accept %s", checked)
	}
}

// checkBuiltinFlows lists the built-in flows that were modified, which a new release does not renew.
func (d *doctor) checkBuiltinFlows(ctx context.Context) {
	const check = "built-in flows"
	modified := 0
	for _, handle := range bootstrap.FlowHandles() {
		shipped, err := compileBuiltin(handle)
		if err != nil {
			d.fail(check, "report this", "%v", err)
			continue
		}
		item, err := d.app.directory.Flows.Find(ctx, directory.SystemCall(), string(shipped.Flow().FlowType)+"/"+handle)
		if err != nil {
			d.fail(check, "check the database", "%v", err)
			return
		}
		if item == nil {
			continue // it was deleted
		}
		stored := item.Value.(*schemas.Flow)
		changes, known := compareWithStored(stored, shipped)
		if known && len(changes) == 0 {
			continue
		}
		modified++
		d.list = append(d.list, diagnosis{check, statusOK,
			fmt.Sprintf("%s differs from the flow of this release, which does not replace modified flows", handle),
			fmt.Sprintf("compare them: postern flow diff %s@%d %[1]s@builtin; to use that of this release: postern flow reset %[1]s", handle, stored.ActiveVersion)})
	}
	if modified == 0 {
		d.ok(check, "all are those of this release")
	}
}

// checkSuspects lists passkeys that others may have added in ways that earlier releases left open.
func (d *doctor) checkSuspects(ctx context.Context) {
	const check = "passkeys of earlier releases"
	found, err := d.app.store.Suspects(ctx)
	if err != nil {
		d.fail(check, "check the database", "%v", err)
		return
	}
	for _, key := range found {
		why := "a limited passkey of the user was used outside of a flow, where the limit was ignored"
		if key.Removed {
			why = "it was added after the administrator had removed another passkey, for which a password was enough"
		}
		d.warn(check, fmt.Sprintf("ask the user; if the passkey is not known: postern admin remove-passkey %s %s", key.UserID, key.ID),
			"the passkey %s of the user %s, added at %s: %s", key.ID, key.UserID, key.CreatedAt.UTC().Format(time.RFC3339), why)
	}
	if len(found) == 0 {
		d.ok(check, "none was added in a way that earlier releases left open, as far as the audit log shows")
	}
}

// checkMail connects to the mail server and authenticates. It sends no mail.
func (d *doctor) checkMail(ctx context.Context) {
	const check = "mail"
	m := d.cfg.Mail
	if m.Host == "" {
		d.ok(check, "no mail server: codes, invitations and notices by mail are not available, unless the server runs with --try, which delivers them to /try/mail")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*checkTimeout)
	defer cancel()
	if err := mail.New(mail.Options{Host: m.Host, Port: m.Port, TLS: m.TLS, Username: m.Username, Password: m.Password, From: m.From}).Check(ctx); err != nil {
		d.fail(check, "check mail.host, mail.port, mail.tls, mail.username and mail.password, and that a firewall permits the connection", "%v", err)
		return
	}
	d.ok(check, "%s accepts the connection and the password", m.Host)
}

// checkProviders reports what accounts at identity providers can get without an administrator.
func (d *doctor) checkProviders(ctx context.Context) {
	const check = "identity providers"
	grants, err := d.app.directory.ProviderGrants(ctx, directory.SystemCall())
	if err != nil {
		d.fail(check, "check the database", "%v", err)
		return
	}
	for _, g := range grants {
		if len(g.Permissions) > 0 {
			d.warn(check, "remove permissions from its mapping unless you trust the provider with them", "accounts at %s can get the permissions %s through groups", g.Provider, strings.Join(g.Permissions, ", "))
		}
	}
	if !d.hasProblems(check) {
		d.ok(check, "accounts at providers get no permissions through groups")
	}
}
