package store

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// maxOwners is how many resources one query asks for what belongs to them:
// fewer than either database takes parameters.
const maxOwners = 1000

// eachOwned gives scan every row that belongs to one of the owners, by their ids. In
// q (?) stands for their list.
func eachOwned[T any](ctx context.Context, r Reader, owners map[string]*T, scan func(scanner) error, q string) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(owners)), maxOwners) {
		if err := rows(ctx, r, scan, strings.Replace(q, "(?)", "("+placeholders(len(ids))+")", 1), toArgs(ids)...); err != nil {
			return err
		}
	}
	return nil
}

// byIDs finds the resources of a page by their ids.
func byIDs[T any](found []T, id func(*T) string) map[string]*T {
	byID := make(map[string]*T, len(found))
	for i := range found {
		byID[id(&found[i])] = &found[i]
	}
	return byID
}
