package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

const (
	// batchSize is the number of users in one transaction. Sign-ins wait for it.
	batchSize = 1000

	// maxMembers is the number of members that a group may have, and of assignees of a role.
	maxMembers = 10_000
)

// Import writes the content of a source to a directory.
type Import struct {
	Product   string
	Source    Source
	Directory *directory.Directory
	Call      directory.Call // with DryRun for a dry run
	UserType  string
	Unit      string // the handle of the users' organization unit; "" for the default one
	// Seal returns an authenticator app with its sealed key.
	Seal func(key totp.Key, userID string) schemas.TOTP
	// Adopt accepts existing resources with the IDs of the export whose origin is not recorded, as
	// earlier releases imported them.
	Adopt bool
	// MayAdminister lets users join groups and get roles with administrative permissions.
	MayAdminister bool
	// Mapped is called with each user who is, or would be, imported; nil for none.
	Mapped func(foreignID, id string) error
	// Progress is called with the number of users that were read; nil for none.
	Progress func(users int)
}

// Result is what an import did, or would do.
type Result struct {
	Resources map[string]int // created ones, by their plural
	Existing  int            // resources that existed
	Users     int            // created
	Skipped   int            // users who were imported before
	Refused   int            // users who cannot be imported
	With      map[string]int // created users by what they have: password, totp, passkey, identity
	Joined    []*Joined      // existing groups and roles with new members
	Flows     map[string][]byte
}

// Joined is a group or a role that existed before the import and gets members.
type Joined struct {
	Plural, Name string // "roles", "admin"
	Permissions  []string
	Users        int
	administers  bool
}

// Run imports everything that can be imported, and reports the rest.
func (in Import) Run(ctx context.Context, r *Report) (*Result, error) {
	content, err := in.Source.Resources(r)
	if err != nil {
		return nil, err
	}
	result := &Result{Resources: map[string]int{}, With: map[string]int{}, Flows: content.Flows}
	w := &userWriter{Import: in, listed: map[string]bool{}, report: r, result: result, origin: in.Product + "/" + content.Name, members: map[string]int{}, providers: map[string]schemas.IdentityProvider{}, seen: map[uint64]bool{}, seed: maphash.MakeSeed(), recorded: map[uint64]bool{}}
	for _, resource := range content.List {
		w.listed[resource.Plural+" "+resource.Key] = true
	}
	if err := in.createResources(ctx, content.List, w); err != nil {
		return nil, err
	}
	if w.users, err = in.Directory.NewUserImport(ctx, in.Call, in.UserType, in.Unit, in.Product); err != nil {
		return nil, err
	}
	w.users.MayAdminister = in.MayAdminister
	names, open := w.users.Attributes()
	w.known = func(name string) bool { return open || slices.Contains(names, name) }
	if err := w.writeAll(ctx); err != nil {
		return nil, err
	}
	if in.Call.DryRun {
		return result, nil
	}
	return result, in.Directory.RecordImport(ctx, in.Call, map[string]string{
		"source": in.Product, "users": strconv.Itoa(result.Users), "skipped": strconv.Itoa(result.Skipped), "refused": strconv.Itoa(result.Refused),
	})
}

// createResources creates the resources that are missing, in one transaction, which may run more than once.
func (in Import) createResources(ctx context.Context, list []Resource, w *userWriter) error {
	err := in.Directory.Transact(ctx, in.Call, func(call directory.Call) error {
		w.begin()
		target := declare.NewDirectory(in.Directory, call)
		for _, resource := range list {
			if err := w.createResource(ctx, call, target, resource); err != nil {
				return err
			}
		}
		return in.findProviders(ctx, call, w)
	})
	for _, f := range w.found {
		w.report.add(f.subject, f.place, f.problem, f.fix)
	}
	return err
}

// begin forgets what an earlier attempt has found.
func (w *userWriter) begin() {
	w.found, w.ids, w.accepted, w.joined = nil, map[string]string{}, map[string]bool{}, map[string]*Joined{}
	w.result.Resources, w.result.Existing = map[string]int{}, 0
}

// foundNote is a note about a record.
type foundNote struct {
	subject, place string
	note
}

// note notes a finding about a resource, which is reported after the transaction.
func (w *userWriter) note(resource Resource, problem, fix string) {
	w.noteOn(resource, note{problem: problem, fix: fix})
}

func (w *userWriter) noteOn(resource Resource, n note) {
	place := resource.Place
	if n.value != "" {
		place += ": " + n.value
	}
	w.found = append(w.found, foundNote{strings.Replace(resource.Plural, "identityProviders", "identity providers", 1), place, n})
}

// findProviders finds the identity providers, by their handles.
func (in Import) findProviders(ctx context.Context, call directory.Call, w *userWriter) error {
	page, err := in.Directory.IdentityProviders.List(ctx, call, directory.Query{Limit: 1000})
	if err != nil {
		return err
	}
	for _, item := range page.Items {
		if p, ok := item.Value.(*schemas.IdentityProvider); ok {
			w.providers[p.Handle] = *p
		}
	}
	return nil
}

// createResource creates a resource unless it exists.
func (w *userWriter) createResource(ctx context.Context, call directory.Call, target *declare.Directory, resource Resource) error {
	if schemas.IsBuiltinID(resource.ForeignID) {
		w.note(resource, "its ID is one that every Postern has, and is replaced", "check the export: the product does not generate such IDs")
	}
	w.dropForeign(&resource)
	ensured, err := w.ensure(ctx, target, resource)
	if faults, ok := errors.AsType[declare.Faults](err); ok && w.dropFaulty(&resource, faults) {
		ensured, err = w.ensure(ctx, target, resource)
	}
	if err == nil && w.renameApplication(&resource, ensured) {
		ensured, err = w.ensure(ctx, target, resource)
	}
	if faults, ok := errors.AsType[declare.Faults](err); ok {
		for _, fault := range faults {
			w.note(resource, "it is not imported: "+strings.TrimPrefix(fault.Path+": ", ": ")+fault.WithoutValue().Message, "change it in the product, or create it by hand")
		}
		return nil
	}
	if err != nil {
		return err
	}
	if !ensured.Created {
		return w.acceptExisting(ctx, call, resource, ensured.ID)
	}
	w.result.Resources[resource.Plural]++
	for _, n := range resource.notes {
		w.noteOn(resource, n)
	}
	w.accept(resource, ensured.ID)
	return w.Directory.SetImportOrigin(ctx, call, resource.Plural, ensured.ID, w.origin)
}

// ensure creates a resource, or finds the one with its ID or name.
func (w *userWriter) ensure(ctx context.Context, target *declare.Directory, resource Resource) (ensured declare.Ensured, err error) {
	noun, _ := declare.NounOf(resource.Plural)
	text, err := json.Marshal(resource.Content)
	if err != nil {
		return ensured, err
	}
	document, err := declare.Read(text)
	if err != nil {
		return ensured, err
	}
	from := declare.Secrets{Getenv: func(string) string { return resource.Secret }}
	err = declare.Ensure(ctx, target, []declare.Resource{{Noun: noun, Document: document, File: resource.Place}}, from, func(e declare.Ensured) { ensured = e })
	return ensured, err
}

// optionalPart matches the parts without which a resource is still safe and useful. One that is wrong does not keep
// the rest back.
var optionalPart = regexp.MustCompile(`^(description|url|logoUrl|tosUri|policyUri|scopes\[\d+\]|inboundAuthConfig\[0\]\.config\.((redirectUris|postLogoutRedirectUris)\[\d+\]|backchannelLogoutUri))$`)

// dropFaulty removes the parts of a resource that are wrong, if all of them are optional. The content of the source
// stays as it is, because the transaction may run again.
func (w *userWriter) dropFaulty(resource *Resource, faults declare.Faults) bool {
	if slices.ContainsFunc(faults, func(f declare.Fault) bool { return !optionalPart.MatchString(f.Path) }) {
		return false
	}
	text, err := json.Marshal(resource.Content)
	var content map[string]any
	if err != nil || json.Unmarshal(text, &content) != nil {
		return false
	}
	resource.Content, _ = withoutParts(content, "", func(path string, part any) bool {
		i := slices.IndexFunc(faults, func(f declare.Fault) bool { return f.Path == path })
		if i < 0 {
			return false
		}
		member, _, _ := strings.Cut(path[strings.LastIndex(path, ".")+1:], "[")
		w.noteOn(*resource, note{textOf(part), fmt.Sprintf("the value of %s is left out: %s", member, faults[i].WithoutValue().Message), "correct it in the product, or later"})
		return true
	}).(map[string]any)
	return true
}

// withoutParts returns a value without the parts that are wrong.
func withoutParts(value any, path string, isWrong func(path string, part any) bool) any {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range sortedKeys(v) {
			if at := schemas.MemberPath(path, name); isWrong(at, v[name]) {
				delete(v, name)
			} else {
				v[name] = withoutParts(v[name], at, isWrong)
			}
		}
	case []any:
		kept := []any{}
		for i, item := range v {
			if at := fmt.Sprintf("%s[%d]", path, i); !isWrong(at, item) {
				kept = append(kept, withoutParts(item, at, isWrong))
			}
		}
		return kept
	}
	return value
}

// renameApplication gives an application whose name another one has a name with its client ID: elsewhere names are
// not unique.
func (w *userWriter) renameApplication(resource *Resource, ensured declare.Ensured) bool {
	name, _ := resource.Content["name"].(string)
	if resource.Plural != "applications" || ensured.Created || ensured.ID == resource.Content["id"] {
		return false
	}
	resource.Content = maps.Clone(resource.Content)
	resource.Content["name"] = fmt.Sprintf("%.100s (%.90s)", name, resource.Key)
	w.note(*resource, "another application has the same name: the client ID is added to it", "choose another name")
	return true
}

// dropForeign removes the principals of a resource that this import has not accepted: the export could
// name the ID of any group.
func (w *userWriter) dropForeign(resource *Resource) {
	for _, member := range []string{"members", "assignments"} {
		principals, has := resource.Content[member].([]any)
		if !has {
			continue
		}
		resource.Content[member] = slices.DeleteFunc(slices.Clone(principals), func(p any) bool {
			id, _ := p.(map[string]any)["id"].(string)
			if !w.accepted[id] {
				w.note(*resource, "a group or an application in it was not imported, and is left out", "see the findings about groups and applications")
			}
			return !w.accepted[id]
		})
	}
}

// acceptExisting accepts an existing resource if this source has imported it before. Any other one
// with the same ID or name belongs to this server: its permissions are not for the imported users,
// whatever the export calls it.
func (w *userWriter) acceptExisting(ctx context.Context, call directory.Call, resource Resource, id string) error {
	if w.accepted[id] {
		w.note(resource, "another one of the export has the same ID, or the same name without an ID", "correct the export; its members are not imported")
		return nil
	}
	if id != resource.Content["id"] {
		w.note(resource, "another one has the same name", "rename one of them; users get neither its permissions nor its members")
		return nil
	}
	origin, err := w.Directory.ImportOrigin(ctx, call, resource.Plural, id)
	if err != nil {
		return err
	}
	switch {
	case origin == w.origin:
	case origin == "" && w.Adopt:
		if err := w.Directory.SetImportOrigin(ctx, call, resource.Plural, id, w.origin); err != nil {
			return err
		}
	default:
		w.note(resource, "one with the same ID exists, and it is not recorded that this source was imported as it",
			"if an earlier release imported it, pass --adopt; otherwise users get neither its permissions nor its members")
		return nil
	}
	w.result.Existing++
	w.accept(resource, id)
	if resource.Plural != "groups" && resource.Plural != "roles" {
		return nil
	}
	name, _ := resource.Content["name"].(string)
	joined := &Joined{Plural: resource.Plural, Name: name}
	joined.administers, joined.Permissions, err = w.Directory.Administers(ctx, call, resource.Plural, id)
	w.joined[id] = joined
	return err
}

func (w *userWriter) accept(resource Resource, id string) {
	w.ids[resource.Plural+" "+resource.Key], w.accepted[id] = id, true
}

// userWriter writes the users of an import.
type userWriter struct {
	Import
	report    *Report
	result    *Result
	users     *directory.UserImport
	known     func(attribute string) bool
	origin    string                              // identifies the source, as resources record it
	listed    map[string]bool                     // the plurals and keys of the resources of the source
	ids       map[string]string                   // of resources, by plural and key
	accepted  map[string]bool                     // the IDs of resources that this source created, now or before
	joined    map[string]*Joined                  // by the ID of a group or role that existed
	found     []foundNote                         // about resources
	providers map[string]schemas.IdentityProvider // by handle
	members   map[string]int                      // by the id of the group or role
	seen      map[uint64]bool                     // hashes of ids and identifiers, for a dry run
	seed      maphash.Seed
	recorded  map[uint64]bool // hashes of the IDs of the users that were read
}

// batch is a part of the users, ready to be written.
type batch struct {
	users   []store.NewUser
	from    []*User
	refused int
}

// writeAll reads users and writes batches of them at the same time.
func (w *userWriter) writeAll(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan batch, 1)
	go func() {
		defer close(batches)
		if err := w.readAll(ctx, batches); err != nil {
			cancel(err)
		}
	}()
	for b := range batches {
		if ctx.Err() != nil {
			continue // until the reader has ended
		}
		if err := w.write(ctx, b); err != nil {
			cancel(err)
		}
	}
	return context.Cause(ctx)
}

// readAll sends all users in batches. It ends when ctx does.
func (w *userWriter) readAll(ctx context.Context, to chan<- batch) error {
	var pending []*User
	send := func() error {
		b, err := w.prepare(ctx, pending)
		if err != nil {
			return err
		}
		pending = nil
		select {
		case to <- b:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	read := 0
	err := w.Source.Users(w.report, func(u *User) error {
		if read++; w.Progress != nil && read%batchSize == 0 {
			w.Progress(read)
		}
		if pending = append(pending, u); len(pending) < batchSize {
			return context.Cause(ctx)
		}
		return send()
	})
	if err != nil {
		return err
	}
	return send()
}

// prepare converts users to a batch.
func (w *userWriter) prepare(ctx context.Context, users []*User) (b batch, err error) {
	if err := w.replaceUsedIDs(ctx, users); err != nil {
		return b, err
	}
	for _, u := range users {
		next, ok := store.NewUser{}, w.isFirst(u)
		if ok {
			next, ok = w.convert(u)
		}
		if !ok {
			b.refused++
			continue
		}
		if err := w.hashPassword(ctx, u, &next); err != nil {
			return b, err
		}
		b.users, b.from = append(b.users, next), append(b.from, u)
	}
	return b, nil
}

// isFirst reports whether no user before has the ID. Without the IDs of the product it follows from the name.
func (w *userWriter) isFirst(u *User) bool {
	key := maphash.String(w.seed, "record "+u.ID)
	if w.recorded[key] {
		w.report.add("users", u.Place, "another user of the export has the same ID, or the same name without an ID", "correct the export")
		return false
	}
	w.recorded[key] = true
	return true
}

// hashPassword hashes a password that the export has in clear text, unless nothing is written.
func (w *userWriter) hashPassword(ctx context.Context, u *User, next *store.NewUser) (err error) {
	if u.PlainPassword == "" || next.PasswordHash != "" || !w.users.AcceptsPasswords() {
		return nil
	}
	w.report.add("passwords", u.Place, "the export has the password in clear text; it is hashed here", "delete the export after the import")
	if next.PasswordHash = "none in a dry run"; !w.Call.DryRun {
		next.PasswordHash, err = w.Directory.Hasher.Hash(ctx, u.PlainPassword)
	}
	w.users.Prepare(next) // the event names what the user has
	return err
}

// replaceUsedIDs gives new IDs to users whose ID belonged to a user who was deleted. The new ID follows
// from the former one, so that another import finds the user.
func (w *userWriter) replaceUsedIDs(ctx context.Context, users []*User) error {
	for left := users; len(left) > 0; {
		ids := make([]string, len(left))
		for i, u := range left {
			ids[i] = u.ID
		}
		used, err := w.users.DeletedUsers(ctx, ids)
		if err != nil {
			return err
		}
		left = slices.DeleteFunc(slices.Clone(left), func(u *User) bool { return !used[u.ID] })
		for _, u := range left {
			u.ID = uuid.NewSHA1(namespace, []byte("after "+u.ID)).String()
			w.report.add("users", u.Place, "the user was deleted here after an earlier import, and has a new ID (sub) now", "applications that identify the user by the former ID see another user")
		}
	}
	return nil
}

// write writes a batch. If it fails because of another write at the same time, it writes each half,
// so that one user does not keep the others back.
func (w *userWriter) write(ctx context.Context, b batch) error {
	w.result.Refused += b.refused
	b.refused = 0
	if len(b.users) == 0 {
		return nil
	}
	obstacles, err := w.users.Write(ctx, b.users)
	if n := len(b.users); schemas.HasClass(err, schemas.Conflict) || schemas.HasClass(err, schemas.Invalid) {
		if n == 1 {
			w.result.Refused++
			w.report.add("users", b.from[0].Place, "the user was refused: "+schemas.AsError(err).Description.DefaultValue, "create the user by hand")
			return nil
		}
		return errors.Join(w.write(ctx, batch{users: b.users[:n/2], from: b.from[:n/2]}), w.write(ctx, batch{users: b.users[n/2:], from: b.from[n/2:]}))
	}
	if err != nil {
		return err
	}
	for i, obstacle := range obstacles {
		if err := w.count(&b.users[i], b.from[i], obstacle); err != nil {
			return err
		}
	}
	return nil
}

// count counts a user as created, skipped or refused.
func (w *userWriter) count(u *store.NewUser, from *User, obstacle store.Obstacle) error {
	if w.Call.DryRun && obstacle.Noun == "" && len(obstacle.Taken) == 0 {
		obstacle = w.takenBefore(u)
	}
	switch {
	case obstacle.Noun == "user":
		w.result.Skipped++
	case obstacle.Noun != "":
		w.result.Refused++
		w.report.add("users", from.Place, "a resource ("+obstacle.Noun+") has the ID of the user", "delete that resource, and import again")
		return nil
	case len(obstacle.Taken) > 0:
		w.result.Refused++
		w.report.add("users", from.Place, "another user has the same "+strings.Join(obstacle.Taken, " and "), "merge the two users, or change the value of one of them, and import again; the first administrator of a store can have another name than admin (ADMIN_USERNAME)")
		return nil
	default:
		w.result.Users++
		w.countJoined(u)
		for name, has := range map[string]bool{"password": u.PasswordHash != "", "totp": u.TOTP != nil, "passkey": len(u.Passkeys) > 0, "identity": len(u.Identities) > 0} {
			if has {
				w.result.With[name]++
			}
		}
	}
	if w.Mapped == nil {
		return nil
	}
	return w.Mapped(from.ForeignID, u.ID)
}

// countJoined counts a user as a new member of the groups and roles that existed.
func (w *userWriter) countJoined(u *store.NewUser) {
	for _, id := range slices.Concat(u.Groups, u.Roles) {
		joined := w.joined[id]
		if joined == nil {
			continue
		}
		if joined.Users++; joined.Users == 1 {
			w.result.Joined = append(w.result.Joined, joined)
		}
	}
}

// takenBefore returns the obstacle of a user in a dry run, which stores no users: what users of
// earlier batches have. It keeps only hashes.
func (w *userWriter) takenBefore(u *store.NewUser) (o store.Obstacle) {
	claimed := []uint64{maphash.String(w.seed, "id "+u.ID)}
	if w.seen[claimed[0]] {
		o.Noun = "user"
	}
	for _, attribute := range schemas.IdentifyingAttributes() {
		key := schemas.IdentifierKey(u.Text(attribute))
		if key == "" {
			continue
		}
		hash := maphash.String(w.seed, key)
		if w.seen[hash] {
			o.Taken = append(o.Taken, attribute)
		}
		if u.Identifier(attribute) != "" {
			claimed = append(claimed, hash)
		}
	}
	if o.Noun == "" && len(o.Taken) == 0 {
		for _, hash := range claimed {
			w.seen[hash] = true
		}
	}
	return o
}
