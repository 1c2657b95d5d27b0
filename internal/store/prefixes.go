package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Lists by a prefix
//
// A prefix is a range of an index, whose columns compare bytes on both databases, so no locale
// matters, and no character of the prefix is a wildcard as it would be for LIKE. The order is that
// of the index: a value that equals the prefix comes first, and a page costs the same however many
// values follow it.

// MaxPrefixCount limits what Count counts: a short prefix may match most rows of a table.
const MaxPrefixCount = 10_000

// prefixIndex is an index that finds the ids of resources by a prefix of a member.
type prefixIndex struct {
	table, column string
	id            string // the column with the id of the resource
	order         string // the order of the index, which starts with the column
}

// listPrefix returns a page of the resources whose member starts with the value.
func (of *Table[T]) listPrefix(ctx context.Context, r Reader, p Page) ([]T, error) {
	found, args, err := of.withPrefix(p)
	if err != nil || len(args) == 0 {
		return nil, err
	}
	index := of.prefixes[p.Member]
	ids, err := readAll(ctx, r, scanValue[string],
		"SELECT "+index.id+found+" ORDER BY "+index.order+" LIMIT ? OFFSET ?", append(args, p.Limit, p.Offset)...)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	list, err := of.where(ctx, r, of.name+".id IN ("+placeholders(len(ids))+")", toArgs(ids)...)
	slices.SortFunc(list, func(a, b T) int { return slices.Index(ids, of.id(&a)) - slices.Index(ids, of.id(&b)) })
	return list, err
}

func (of *Table[T]) countPrefix(ctx context.Context, r Reader, p Page) (int, error) {
	found, args, err := of.withPrefix(p)
	if err != nil || len(args) == 0 {
		return 0, err
	}
	return readValue[int](ctx, r, "SELECT COUNT(*) FROM (SELECT 1"+found+" LIMIT ?) found", append(args, MaxPrefixCount)...)
}

// withPrefix returns the rest of a query for the ids of the list that a page belongs to, and its
// parameters; none if the list is empty.
func (of *Table[T]) withPrefix(p Page) (rest string, args []any, err error) {
	index, known := of.prefixes[p.Member]
	if !known {
		return "", nil, fmt.Errorf("store: %ss cannot be found by a prefix of %q: expected one of %q", of.noun, p.Member, of.Prefixes())
	}
	prefix := of.keyOf(p)
	if prefix == "" || !isStorable(prefix) {
		return "", nil, nil
	}
	rest, args = " FROM "+index.table+" WHERE "+index.column+" >= ?", []any{prefix}
	if end := endOfPrefix(prefix); end != "" {
		rest, args = rest+" AND "+index.column+" < ?", append(args, end)
	}
	return rest, args, nil
}

// endOfPrefix returns the first text, in the order of bytes, after all texts that start with the
// prefix; "" if there is none. It is valid UTF-8, as PostgreSQL requires.
func endOfPrefix(prefix string) string {
	prefix = strings.TrimRight(prefix, string(utf8.MaxRune))
	last, size := utf8.DecodeLastRuneInString(prefix)
	if size == 0 {
		return ""
	}
	next := last + 1
	if !utf8.ValidRune(next) { // a surrogate
		next = 0xe000
	}
	return prefix[:len(prefix)-size] + string(next)
}
