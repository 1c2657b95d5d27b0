package directory

import (
	"cmp"
	"context"
	"maps"
	"unicode"
	"unicode/utf8"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// maxReason is the greatest length of a reason, in characters.
const maxReason = 200

// FlowVersion is one version of a flow, without its definition.
type FlowVersion struct {
	store.FlowVersion
	// AuthorName is the display name of the user or application that stored the version, and
	// "bootstrap" for the program itself. It is "" for a deleted author, and for a caller that
	// may not read users or applications.
	AuthorName string
	// ClientName is the name of the application through which a user stored the version. It is "" for
	// the console, for a deleted application, and for a caller that may not read applications.
	ClientName string
}

// FlowVersions returns one page of the versions of a flow, newest first, without
// their definitions.
func (d *Directory) FlowVersions(ctx context.Context, c Call, id string, q Query) ([]FlowVersion, error) {
	r := d.reader(c)
	if _, err := store.Flows().Get(ctx, r, id); err != nil {
		return nil, err
	}
	stored, err := store.Flows().Versions(ctx, r, id, d.now(), q.page())
	if err != nil {
		return nil, err
	}
	names := map[schemas.Actor]authorNames{}
	list := make([]FlowVersion, len(stored))
	for i, v := range stored {
		found, known := names[v.Author]
		if !known {
			if found.author, err = d.authorName(ctx, c, v.Author); err != nil {
				return nil, err
			}
			if found.client, err = d.authorClient(ctx, c, v.Author); err != nil {
				return nil, err
			}
			names[v.Author] = found
		}
		list[i] = FlowVersion{v, found.author, found.client}
	}
	return list, nil
}

// authorNames are the names of an author and of the author's client.
type authorNames struct{ author, client string }

// authorClient returns FlowVersion.ClientName.
func (d *Directory) authorClient(ctx context.Context, c Call, author schemas.Actor) (string, error) {
	if author.Type != schemas.UserActor || author.Client == "" || author.Client == ConsoleID {
		return "", nil
	}
	return d.authorName(ctx, c, schemas.Actor{Type: schemas.ApplicationActor, ID: author.Client})
}

// authorName returns the name of an actor as the audit log records it.
func (d *Directory) authorName(ctx context.Context, c Call, author schemas.Actor) (name string, err error) {
	switch {
	case author.Type == schemas.SystemActor:
		return "bootstrap", nil
	case author.Type == schemas.UserActor && c.Permits(d.Users.Noun().Read):
		u, err := store.Users().Get(ctx, d.reader(c), author.ID)
		if err == nil {
			name = cmp.Or(u.DisplayName(), u.ID)
		}
		return name, ignoreNotFound(err)
	case author.Type == schemas.ApplicationActor && c.Permits(d.Applications.Noun().Read):
		a, err := store.Applications().Get(ctx, d.reader(c), author.ID)
		if err == nil {
			name = a.Name
		}
		return name, ignoreNotFound(err)
	}
	return "", nil
}

func ignoreNotFound(err error) error {
	if schemas.HasClass(err, schemas.NotFound) {
		return nil
	}
	return err
}

// checkReason checks the caller's reason for a change.
func checkReason(w *writeContext) {
	reason := w.call.Reason
	if n := utf8.RuneCountInString(reason); n > maxReason {
		w.addInvalid("reason", "expected at most %d characters, got %d; shorten the reason", maxReason, n)
	}
	for _, c := range reason {
		if c == utf8.RuneError || unicode.IsControl(c) {
			w.addInvalid("reason", "expected one line of text in UTF-8, got the character %+q", c)
			return
		}
	}
}

// recordAuthor records who stored the active version of a flow, and why, in the version and in the
// audit event.
func recordAuthor(w *writeContext, f *schemas.Flow) error {
	if w.call.Reason != "" {
		detail := maps.Clone(w.detail)
		if detail == nil {
			detail = map[string]string{}
		}
		detail["reason"] = w.call.Reason
		w.detail = detail
	}
	return store.Flows().SetAuthor(w.tx, f.ID, f.ActiveVersion, w.actor(), w.call.Reason)
}
