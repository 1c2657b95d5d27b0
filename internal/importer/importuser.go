package importer

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// userWriter writes the users of an import.
type userWriter struct {
	Import
	report    *Report
	result    *Result
	users     *directory.UserImport
	known     func(attribute string) bool
	names     []string                            // of attributes, and of columns of the source
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
