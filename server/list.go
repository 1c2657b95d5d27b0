package server

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/postern-id/postern/internal/directory"
)

// listing is the body of a list reply. Start counts from 1.
type listing struct {
	total, start int
	plural       string
	items        []any
	links        []link
}

// link is a reference to another part of a list: a path with a query, relative to the URL of the
// request (RFC 3986 §5).
type link struct {
	Href string `json:"href"`
	Rel  string `json:"rel"` // RFC 8288: self, first, previous, next
}

// MarshalJSON writes the list under the plural name of its items.
func (l listing) MarshalJSON() ([]byte, error) {
	items, err := encodeJSON(l.items)
	if err != nil {
		return nil, err
	}
	links, err := encodeJSON(l.links)
	return fmt.Appendf(nil, `{"totalResults":%d,"startIndex":%d,"count":%d,%q:%s,"links":%s}`,
		l.total, l.start, len(l.items), l.plural, items, links), err
}

// pageOf returns the requested page of a short list.
func (s *server) pageOf(r *http.Request, plural string, items []any) (listing, error) {
	q, err := partQuery(r)
	if err != nil {
		return listing{}, err
	}
	from := min(q.Offset, len(items))
	to := min(from+q.Limit, len(items))
	return listing{
		total: len(items), start: q.Offset + 1, plural: plural, items: items[from:to],
		links: s.links(r.URL.Path, q, to-from, "", to < len(items)),
	}, nil
}

// writeList writes the page of a list that q selects. It reads one item more than the page has, to
// determine whether another page follows. With the total instead, a list that changes could end too
// early or never.
func (s *server) writeList(w http.ResponseWriter, path, plural string, q directory.Query, read func(directory.Query) (*directory.Page, error)) error {
	oneMore := q
	oneMore.Limit++
	page, err := read(oneMore)
	if err != nil {
		return err
	}
	more := len(page.Items) > q.Limit
	page.Items = page.Items[:min(len(page.Items), q.Limit)]
	values, last := make([]any, len(page.Items)), ""
	for i, item := range page.Items {
		values[i], last = item.Value, item.ID
	}
	return writeJSON(w, http.StatusOK, listing{
		total: page.Total, start: q.Offset + 1, plural: plural, items: values,
		links: s.links(path, q, len(values), last, more),
	})
}

// links returns the links of a page with count items. next contains the last id of the page, so
// that the store need not count from the start: each page of a long list costs the same. last is ""
// for lists that are always short. A list by a prefix ends at maxOffset.
func (s *server) links(path string, q directory.Query, count int, last string, more bool) []link {
	to := func(rel string, offset int, after string) link {
		return link{s.base + path + "?" + pageQuery(q, offset, after), rel}
	}
	list := []link{to("self", q.Offset, q.After), to("first", 0, "")}
	if previous := max(0, q.Offset-q.Limit); q.Offset > 0 && previous <= maxOffset {
		list = append(list, to("previous", previous, ""))
	}
	if q.Prefix {
		last = ""
	}
	if more && (last != "" || q.Offset+count <= maxOffset) {
		list = append(list, to("next", q.Offset+count, last))
	}
	return list
}

func pageQuery(q directory.Query, offset int, after string) string {
	values := url.Values{"limit": {strconv.Itoa(q.Limit)}, "offset": {strconv.Itoa(offset)}}
	if after != "" {
		values.Set("after", after)
	}
	if q.Filter != "" {
		c := condition{q.Filter, equals, q.Value}
		if q.Prefix {
			c.operator = startsWith
		}
		values.Set("filter", c.text())
	}
	return values.Encode()
}
