package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/postern-id/postern/bootstrap"
)

// apiServer is the server of a command that uses the API.
type apiServer struct {
	Server      string `aliases:"url" placeholder:"URL" help:"The URL of the server. Default: ADMIN_SERVER_URL in the environment, or the server on this machine."`
	serverFlags `embed:""`
}

func (c apiServer) connect(ctx context.Context, p program) (*bootstrap.Client, error) {
	setup, err := c.newSetup(ctx, p, "--server", cmp.Or(c.Server, p.getenv("ADMIN_SERVER_URL")))
	if err != nil {
		return nil, err
	}
	return bootstrap.Connect(ctx, setup)
}

// resource is a resource of the API.
type resource map[string]any

// text returns the text of a member, or of a member of a member: "attributes.username". It is "" if
// the member is missing.
func (r resource) text(path string) string {
	name, rest, nested := strings.Cut(path, ".")
	if nested {
		below, _ := r[name].(map[string]any)
		return resource(below).text(rest)
	}
	switch v := r[name].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		text, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(text)
	}
}

// column is a column of a table of resources.
type column struct{ title, path string }

// output are the flags for the format of a result.
type output struct {
	JSON bool `name:"json" help:"Print JSON, as the API returns it."`
}

// list prints resources as a table.
func (o output) list(w io.Writer, list []resource, columns ...column) error {
	if o.JSON {
		if list == nil {
			list = []resource{}
		}
		return writeJSON(w, list)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, c := range columns {
		fmt.Fprint(table, separator(i), c.title)
	}
	fmt.Fprintln(table)
	for _, r := range list {
		for i, c := range columns {
			fmt.Fprint(table, separator(i), printable(r.text(c.path)))
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

func separator(i int) string {
	if i == 0 {
		return ""
	}
	return "\t"
}

// show prints the members of one resource. A member that is a []string gets a line for each text.
func (o output) show(w io.Writer, r resource, columns ...column) error {
	if o.JSON {
		return writeJSON(w, r)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range columns {
		lines, listed := r[c.path].([]string)
		if text := r.text(c.path); !listed && text != "" {
			lines = []string{text}
		}
		title := c.title + ":"
		for _, line := range lines {
			fmt.Fprintf(table, "%s\t%s\n", title, printable(line))
			title = ""
		}
	}
	return table.Flush()
}

// printable replaces characters that could control a terminal: users choose some of the values.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '\uFFFD'
		}
		return r
	}, text)
}

func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// listPages reads the pages of a list up to a number of resources.
func listPages(ctx context.Context, client *bootstrap.Client, path, plural string, query url.Values, limit int) (list []resource, err error) {
	query.Set("limit", fmt.Sprint(min(limit, 100)))
	next := path + "?" + query.Encode()
	for next != "" && len(list) < limit {
		var text json.RawMessage
		if err := client.Send(ctx, http.MethodGet, next, nil, &text); err != nil {
			return nil, err
		}
		var page map[string]json.RawMessage
		if err := json.Unmarshal(text, &page); err != nil {
			return nil, err
		}
		var items []resource
		var links []struct{ Href, Rel string }
		if page[plural] != nil {
			if err := json.Unmarshal(page[plural], &items); err != nil {
				return nil, err
			}
		}
		if page["links"] != nil {
			if err := json.Unmarshal(page["links"], &links); err != nil {
				return nil, err
			}
		}
		list, next = append(list, items...), ""
		for _, l := range links {
			if l.Rel == "next" && strings.HasPrefix(l.Href, "/") && len(items) > 0 {
				next = l.Href
			}
		}
	}
	return list[:min(limit, len(list))], nil
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// find finds one resource by its id, or by one of the members that identify it.
func find(ctx context.Context, client *bootstrap.Client, noun, path, plural, name string, members ...string) (resource, error) {
	if uuid.MatchString(name) {
		var r resource
		err := client.Send(ctx, http.MethodGet, path+"/"+name, nil, &r)
		return r, err
	}
	for _, member := range members {
		filter := fmt.Sprintf("%s eq %s", member, jsonString(name))
		found, err := listPages(ctx, client, path, plural, url.Values{"filter": {filter}}, 2)
		switch {
		case err != nil:
			return nil, err
		case len(found) > 1:
			return nil, fmt.Errorf("two %ss have the %s %q: use the id", noun, member, name)
		case len(found) == 1:
			var r resource
			err := client.Send(ctx, http.MethodGet, path+"/"+found[0].text("id"), nil, &r)
			return r, err
		}
	}
	return nil, fmt.Errorf("there is no %s with the id, or the %s, %q", noun, strings.Join(members, " or "), name)
}

// jsonString returns a text as a JSON string.
func jsonString(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(quoted)
}
