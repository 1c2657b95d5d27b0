package store

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// maxOwners is the number of IDs in one query, below the parameter limit of both databases.
const maxOwners = 1000

// eachOwned calls scan with every row that belongs to one of the owners. In q, (?) is replaced
// by the list of their IDs.
func eachOwned[T any](ctx context.Context, r Reader, owners map[string]*T, scan func(scanner) error, q string) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(owners)), maxOwners) {
		if err := rows(ctx, r, scan, strings.Replace(q, "(?)", "("+placeholders(len(ids))+")", 1), toArgs(ids)...); err != nil {
			return err
		}
	}
	return nil
}

// byIDs indexes the resources of a page by ID.
func byIDs[T any](found []T, id func(*T) string) map[string]*T {
	byID := make(map[string]*T, len(found))
	for i := range found {
		byID[id(&found[i])] = &found[i]
	}
	return byID
}
