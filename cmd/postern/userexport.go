package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

type userExportCommand struct {
	Config string `type:"path" help:"The configuration file of the local server."`
	Format string `enum:"csv,jsonl" default:"jsonl" help:"csv, with a header, or jsonl: a JSON object on each line. postern import reads both."`
	Hashes bool   `help:"Also write the password hashes. Keep the file as carefully as a backup."`
	Force  bool   `help:"Overwrite an existing file."`
	File   string `arg:"" help:"The file to write; - for standard output. Only its owner can read it."`
}

// exportedUser is a user as `postern import csv` and `postern import jsonl` read it.
type exportedUser struct {
	ID           string         `json:"id"`
	Type         string         `json:"type"`
	Status       string         `json:"status"`
	CreatedAt    time.Time      `json:"created_at"`
	PasswordHash string         `json:"password_hash,omitempty"`
	Groups       []string       `json:"groups,omitempty"`
	Roles        []string       `json:"roles,omitempty"`
	Attributes   map[string]any `json:"attributes"`
}

// Run writes the users of the store to a file.
func (c userExportCommand) Run(ctx context.Context, p program) error {
	h, err := p.openLocal(ctx, c.Config)
	if err != nil {
		return err
	}
	defer h.close()
	if err := c.record(ctx, h); err != nil {
		return err
	}
	progress := p.startProgress("writing the users")
	defer progress.stop()
	write, users := c.writeLines, 0
	if c.Format == "csv" {
		write = c.writeCSV
	}
	err = backupCommand{File: c.File, Force: c.Force}.create(p, func(w io.Writer) (err error) {
		users, err = write(ctx, h, w, progress)
		return err
	})
	progress.stop()
	if err != nil {
		return err
	}
	to := p.stdout
	if c.File == stdinPath {
		to = p.stderr
	}
	fmt.Fprintf(to, "exported %s\n", countOf(users, "users"))
	return nil
}

// record records that the users leave the store, before they do.
func (c userExportCommand) record(ctx context.Context, h *app) error {
	return h.store.Apply(ctx, []schemas.Change{schemas.RecordEvent{Event: schemas.Event{
		ID: schemas.NewID(), At: time.Now().UTC(), Action: "store.exported", Actor: schemas.Actor{Type: schemas.SystemActor},
		Detail: map[string]string{"hashes": strconv.FormatBool(c.Hashes)},
	}}})
}

// eachUser calls do with every user, oldest first.
func eachUser(ctx context.Context, h *app, do func(u *schemas.User) error) error {
	q := directory.Query{Limit: 1000}
	for {
		page, err := h.directory.Users.List(ctx, directory.SystemCall(), q)
		if err != nil || len(page.Items) == 0 {
			return err
		}
		for _, item := range page.Items {
			if u, ok := item.Value.(*schemas.User); ok {
				if err := do(u); err != nil {
					return err
				}
			}
			q.After = item.ID
		}
	}
}

// export returns a user with the names of the groups and roles that it is in itself.
func (c userExportCommand) export(ctx context.Context, h *app, u *schemas.User) (exportedUser, error) {
	out := exportedUser{ID: u.ID, Type: u.Type, Status: string(u.Status), CreatedAt: u.CreatedAt, Attributes: u.Attributes}
	if c.Hashes {
		password, err := h.store.Password(ctx, u.ID)
		if err != nil {
			return out, err
		}
		out.PasswordHash = password.Hash
	}
	groups, err := store.GroupsOf(ctx, h.store, u.ID)
	if err != nil {
		return out, err
	}
	roles, err := store.RolesOf(ctx, h.store, u.ID)
	out.Groups, out.Roles = ownNames(groups), ownNames(roles)
	return out, err
}

// ownNames returns the names of memberships that are not inherited.
func ownNames(list []schemas.Membership) (names []string) {
	for _, m := range list {
		if !m.Inherited {
			names = append(names, m.Name)
		}
	}
	return names
}

func (c userExportCommand) writeLines(ctx context.Context, h *app, w io.Writer, progress *progress) (users int, err error) {
	to := json.NewEncoder(w)
	to.SetEscapeHTML(false)
	err = eachUser(ctx, h, func(u *schemas.User) error {
		line, err := c.export(ctx, h, u)
		if err != nil {
			return err
		}
		users++
		progress.rows.Store(int64(users))
		return to.Encode(line)
	})
	return users, err
}

// writeCSV reads the users twice: the header has the attributes of all.
func (c userExportCommand) writeCSV(ctx context.Context, h *app, w io.Writer, progress *progress) (users int, err error) {
	attributes := map[string]bool{}
	err = eachUser(ctx, h, func(u *schemas.User) error {
		for name := range u.Attributes {
			attributes[name] = true
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	columns := []string{"id", "type", "status", "created_at", "groups", "roles"}
	if c.Hashes {
		columns = append(columns, "password_hash")
	}
	names := slices.Sorted(maps.Keys(attributes))
	to := csv.NewWriter(w)
	if err := to.Write(slices.Concat(columns, names)); err != nil {
		return 0, err
	}
	err = eachUser(ctx, h, func(u *schemas.User) error {
		line, err := c.export(ctx, h, u)
		if err != nil {
			return err
		}
		row := []string{line.ID, line.Type, line.Status, line.CreatedAt.UTC().Format(time.RFC3339Nano), strings.Join(line.Groups, ";"), strings.Join(line.Roles, ";")}
		if c.Hashes {
			row = append(row, line.PasswordHash)
		}
		for _, name := range names {
			row = append(row, cell(line.Attributes[name]))
		}
		users++
		progress.rows.Store(int64(users))
		return to.Write(row)
	})
	to.Flush()
	if err == nil {
		err = to.Error()
	}
	return users, err
}

// cell returns the text of an attribute in CSV. A text that a spreadsheet would run as a formula stays as it is: the
// file is for programs.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
