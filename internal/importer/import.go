package importer

import (
	"context"
	"hash/maphash"
	"slices"
	"strconv"

	"github.com/postern-id/postern/internal/directory"
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
	if w.names = names; in.columns() != nil {
		w.names = append(slices.Clone(names), in.columns()...)
	}
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

// columns returns the names that records of the source can have besides those of attributes.
func (in Import) columns() []string {
	if table, is := in.Source.(interface{ Columns() []string }); is {
		return table.Columns()
	}
	return nil
}

// IsEmpty reports whether nothing was imported, now or before.
func (r *Result) IsEmpty() bool { return r.Users+r.Skipped+r.Existing+len(r.Resources) == 0 }
