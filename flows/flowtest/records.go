package flowtest

import (
	"slices"

	"github.com/postern-id/postern/schemas"
)

// records are the stored values, of many types, oldest first.
type records []any

// find returns a copy of the first value of a type that meets a condition, nil if there is
// none.
func find[T any](r records, is func(T) bool) *T {
	for _, record := range r {
		if value, ok := record.(T); ok && is(value) {
			return &value
		}
	}
	return nil
}

// require is find with an error if there is none.
func require[T any](r records, is func(T) bool, code, what, id string) (*T, error) {
	if value := find(r, is); value != nil {
		return value, nil
	}
	return nil, schemas.Errorf(schemas.NotFound, code, "there is no %s %.64q", what, id)
}

// all returns the values of a type that meet all conditions.
func all[T any](r records, conditions ...func(T) bool) (list []T) {
	for _, record := range r {
		value, ok := record.(T)
		if ok && !slices.ContainsFunc(conditions, func(is func(T) bool) bool { return !is(value) }) {
			list = append(list, value)
		}
	}
	return list
}

// edit changes the first value of a type that meets a condition, and reports whether there
// is one.
func edit[T any](r *records, is func(T) bool, change func(*T)) bool {
	for i, record := range *r {
		if value, ok := record.(T); ok && is(value) {
			change(&value)
			(*r)[i] = value
			return true
		}
	}
	return false
}

// put replaces the first value that meets a condition, or adds one.
func put[T any](r *records, value T, is func(T) bool) {
	if !edit(r, is, func(old *T) { *old = value }) {
		*r = append(*r, value)
	}
}

// remove removes the values of a type that meet a condition.
func remove[T any](r *records, is func(T) bool) {
	*r = slices.DeleteFunc(*r, func(record any) bool {
		value, ok := record.(T)
		return ok && is(value)
	})
}

func noAuthRequest(id string) error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeAuthRequest,
		"there is no authorization request %.64q that could be answered: it is unknown, has expired or has been answered", id)
}
