package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/folder"
	"github.com/postern-id/postern/schemas"
)

// nounKind describes a kind of resource to the commands that all kinds share.
type nounKind struct {
	declare.Noun
	by      []string          // the filters that find one, besides its id
	names   []string          // paths of the name in messages
	set     string            // the member that --set is about; "" for the resource itself
	flags   map[string]string // the flags that set members, by the member
	columns []column          // in lists
	details []column          // only of a single resource
	parts   []part            // what is deleted with one
	with    []string          // the same, without numbers
}

// part is a list below a resource.
type part struct{ path, total, one, many string }

// kindFlags are the flags for the members of a kind.
type kindFlags interface {
	kind() nounKind
	// members returns the members that the flags set.
	members(p program) (map[string]any, error)
}

// nounCommands are the commands of a kind. The variables of their texts are those of the group.
type nounCommands[F kindFlags] struct {
	List   nounListCommand[F]   `cmd:"" help:"List ${many}."`
	Show   nounShowCommand[F]   `cmd:"" help:"Show ${one}."`
	Create nounCreateCommand[F] `cmd:"" help:"Create ${one} from flags or from a file."`
	Update nounUpdateCommand[F] `cmd:"" help:"Change members of ${one}, or replace it by a file."`
	Delete nounDeleteCommand[F] `cmd:"" help:"Delete ${one}."`
}

// oneResource is the resource of a command.
type oneResource[F kindFlags] struct {
	Name string `arg:"" help:"The ${noun}: ${by}."`
	apiServer
}

// find connects to the server and finds the resource.
func (c oneResource[F]) find(ctx context.Context, p program) (*bootstrap.Client, nounKind, resource, error) {
	var flags F
	kind := flags.kind()
	client, err := c.connect(ctx, p)
	if err != nil {
		return nil, kind, nil, err
	}
	r, err := kind.find(ctx, client, c.Name)
	return client, kind, r, err
}

func (k nounKind) find(ctx context.Context, client *bootstrap.Client, name string) (resource, error) {
	return find(ctx, client, schemas.DisplayName(k.Name), "/"+k.Folder, k.Plural, name, k.by...)
}

// path returns the path of a resource in the API.
func (k nounKind) path(r resource) string { return "/" + k.Folder + "/" + r.text("id") }

// nameOf returns the name of a resource in messages.
func (k nounKind) nameOf(r resource) string {
	for _, path := range append(k.names, "id") {
		if text := r.text(path); text != "" {
			return printable(text)
		}
	}
	return ""
}

// count returns the length of a list below a resource; ok is false if the caller may not read it.
func (k nounKind) count(ctx context.Context, client *bootstrap.Client, r resource, part part) (n int, ok bool, err error) {
	var reply map[string]json.RawMessage
	err = client.Send(ctx, http.MethodGet, k.path(r)+"/"+part.path+"?limit=1", nil, &reply)
	if schemas.HasClass(err, schemas.Forbidden) {
		return 0, false, nil
	}
	text, ok := reply[cmp.Or(part.total, "totalResults")]
	if err != nil || !ok {
		return 0, false, err
	}
	return n, true, json.Unmarshal(text, &n)
}

// belongings describes what is deleted with a resource.
func (k nounKind) belongings(ctx context.Context, client *bootstrap.Client, r resource) ([]string, error) {
	list := slices.Clone(k.with)
	for _, part := range k.parts {
		n, _, err := k.count(ctx, client, r, part)
		switch {
		case err != nil:
			return nil, err
		case n == 1:
			list = append(list, "1 "+part.one)
		case n > 1:
			list = append(list, fmt.Sprint(n, " ", part.many))
		}
	}
	return list, nil
}

type nounListCommand[F kindFlags] struct {
	Prefix string `placeholder:"TEXT" help:"Only ${many} whose ${key} starts with this."`
	Limit  int    `default:"100" help:"The maximum number of ${many} to list."`
	output
	apiServer
}

// Run lists resources.
func (c nounListCommand[F]) Run(ctx context.Context, p program) error {
	var flags F
	kind := flags.kind()
	client, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	query := url.Values{}
	if c.Prefix != "" {
		query.Set("filter", kind.Filter+" sw "+jsonString(c.Prefix))
	}
	list, err := listPages(ctx, client, "/"+kind.Folder, kind.Plural, query, c.Limit)
	if err != nil {
		return err
	}
	return c.list(p.stdout, list, kind.columns...)
}

type nounShowCommand[F kindFlags] struct {
	output
	oneResource[F]
}

// Run shows a resource.
func (c nounShowCommand[F]) Run(ctx context.Context, p program) error {
	client, kind, r, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(p.stdout, r)
	}
	columns := slices.Concat(kind.columns, kind.details)
	for _, part := range kind.parts {
		n, ok, err := kind.count(ctx, client, r, part)
		if err != nil {
			return err
		}
		if ok {
			columns, r[part.many] = append(columns, column{strings.ToUpper(part.many), part.many}), n
		}
	}
	return c.show(p.stdout, r, columns...)
}

// nounMembers are the members of a new or changed resource: from flags, or from a file.
type nounMembers[F kindFlags] struct {
	Flags   F                 `embed:""`
	Set     map[string]string `mapsep:"none" placeholder:"NAME=TEXT" help:"Set ${member} to a text."`
	SetJSON map[string]string `name:"set-json" mapsep:"none" placeholder:"NAME=JSON" help:"Set ${member} to a JSON value; null removes it."`
	File    string            `placeholder:"FILE" help:"A file with the whole ${noun} as YAML or JSON, as postern export and show --json write it; - for standard input. Secrets are {env: NAME} or {file: PATH}."`
	output
}

// read returns the members of the flags, or the resource of the file.
func (c nounMembers[F]) read(p program) (members map[string]any, file *declare.Resource, err error) {
	kind := c.Flags.kind()
	if members, err = c.Flags.members(p); err != nil {
		return nil, nil, err
	}
	set, err := setMembers(c.Set, c.SetJSON)
	if err != nil {
		return nil, nil, err
	}
	if err := kind.checkSet(set); err != nil {
		return nil, nil, err
	}
	if kind.set != "" && len(set) > 0 {
		set = map[string]any{kind.set: set}
	}
	maps.Copy(members, set)
	if c.File == "" {
		return members, nil, nil
	}
	if len(members) > 0 {
		return nil, nil, errors.New("expected either --file or flags that set members")
	}
	text, err := p.readNamed(c.File)
	if err != nil {
		return nil, nil, err
	}
	r, err := declare.ReadResource(kind.Noun, c.File, text)
	return nil, &r, err
}

// checkSet refuses members that the server would ignore.
func (k nounKind) checkSet(members map[string]any) error {
	if k.set != "" {
		return nil // they are attributes, whose names the user type decides about
	}
	for name, what := range schemas.ReadOnlyMembers(k.Name) {
		if _, has := members[name]; has {
			return fmt.Errorf("--set %s: only the server sets this member, and ignores it in requests: %s", name, what)
		}
	}
	return nil
}

// inFlags returns the error of a request in terms of the flags that have set its members.
func (k nounKind) inFlags(err error) error {
	var e *schemas.Error
	if !errors.As(err, &e) || len(e.Errors) == 0 {
		return err
	}
	said := *e
	said.Errors = slices.Clone(e.Errors)
	for i := range said.Errors {
		problem := &said.Errors[i]
		problem.Line, problem.Column = 0, 0 // of a text that the user has not written
		member := problem.Path
		problem.Path = k.flagOf(member)
		problem.Message = strings.Replace(problem.Message, fmt.Sprintf("required member %q is missing", member), "it is required", 1)
	}
	if before, ok := strings.CutSuffix(e.Description.DefaultValue, e.Errors[0].String()); ok {
		said.Description.DefaultValue = before + said.Errors[0].String()
	}
	return &said
}

// flagOf returns the flag that sets the member at a path.
func (k nounKind) flagOf(path string) string {
	if within, ok := strings.CutPrefix(path, k.set+"."); ok && k.set != "" {
		return "--set " + within
	}
	member, rest := path, ""
	if i := strings.IndexAny(path, ".["); i >= 0 {
		member, rest = path[:i], path[i:]
	}
	switch flag := k.flags[member]; {
	case path == "" || member == k.Filter && flag == "":
		return path // an argument
	case flag != "":
		return flag + rest
	}
	return "--set " + path
}

// setMembers returns the members that --set and --set-json set.
func setMembers(texts, values map[string]string) (map[string]any, error) {
	members := map[string]any{}
	for name, text := range texts {
		members[name] = text
	}
	for name, text := range values {
		if !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("--set-json %s: expected a JSON value, such as true or 12", name)
		}
		members[name] = json.RawMessage(text)
	}
	return members, nil
}

// readNamed reads a file, or standard input.
func (p program) readNamed(path string) ([]byte, error) {
	if path == stdinPath {
		return p.readStdin()
	}
	return folder.Read(path, folder.MaxFile)
}

// print prints a resource that was stored.
func (c nounMembers[F]) print(p program, r resource) error {
	kind := c.Flags.kind()
	return c.show(p.stdout, r, slices.Concat(kind.columns, kind.details)...)
}

type nounCreateCommand[F kindFlags] struct {
	Name string `arg:"" optional:"" help:"The ${key}. Required without --file."`
	nounMembers[F]
	apiServer
}

// Run creates a resource.
func (c nounCreateCommand[F]) Run(ctx context.Context, p program) error {
	members, file, err := c.read(p)
	if err != nil {
		return err
	}
	kind := c.Flags.kind()
	if (c.Name == "") == (file == nil) {
		return fmt.Errorf("expected either the %s of the %s, or --file with the whole one", kind.Filter, schemas.DisplayName(kind.Noun.Name))
	}
	client, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	if file != nil {
		return c.printEntry(p)(client.Create(ctx, *file))
	}
	members[kind.Filter] = c.Name
	var r resource
	if err := client.Send(ctx, http.MethodPost, "/"+kind.Folder, members, &r); err != nil {
		return kind.inFlags(err)
	}
	return c.print(p, r)
}

// printEntry returns a function that prints a resource that was stored from a file.
func (c nounMembers[F]) printEntry(p program) func(*declare.Entry, error) error {
	return func(e *declare.Entry, err error) error {
		if err != nil {
			return err
		}
		var r resource
		if err := json.Unmarshal(e.Document.JSON(), &r); err != nil {
			return err
		}
		return c.print(p, r)
	}
}

type nounUpdateCommand[F kindFlags] struct {
	oneResource[F]
	nounMembers[F]
}

// Run changes a resource.
func (c nounUpdateCommand[F]) Run(ctx context.Context, p program) error {
	members, file, err := c.read(p)
	if err != nil {
		return err
	}
	if file == nil && len(members) == 0 {
		return errors.New("expected flags that set members, or --file")
	}
	if id := members["id"]; id != nil && c.Flags.kind().set == "" {
		return errors.New("--set id: the id of a resource never changes; create another one")
	}
	client, kind, r, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	if file != nil {
		return c.printEntry(p)(client.Replace(ctx, *file, r.text("id")))
	}
	var changed resource
	if err := client.Send(ctx, http.MethodPatch, kind.path(r), members, &changed); err != nil {
		return kind.inFlags(err)
	}
	return c.print(p, changed)
}

type nounDeleteCommand[F kindFlags] struct {
	confirmation
	oneResource[F]
}

// Run deletes a resource.
func (c nounDeleteCommand[F]) Run(ctx context.Context, p program) error {
	client, kind, r, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	with, err := kind.belongings(ctx, client, r)
	if err != nil {
		return err
	}
	name := kind.nameOf(r)
	if ok, err := c.confirm(p, fmt.Sprintf("delete the %s %s", schemas.DisplayName(kind.Noun.Name), name), with); !ok {
		return err
	}
	if err := client.Send(ctx, http.MethodDelete, kind.path(r), nil, nil); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s: deleted\n", name)
	return err
}
