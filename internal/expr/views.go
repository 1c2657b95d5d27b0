package expr

import (
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/postern-id/postern/schemas"
)

// Attributes is a map with values of any type, which CEL cannot derive from a Go map.
type Attributes struct{ traits.Mapper }

// ViewAttributes returns attributes as a value of expressions.
func ViewAttributes(attributes map[string]any) *Attributes {
	return &Attributes{types.NewStringInterfaceMap(types.DefaultTypeAdapter, attributes)}
}

// Type returns the type for the type check.
func (*Attributes) Type() ref.Type { return cel.MapType(cel.StringType, cel.DynType) }

// Permissions is a list of permissions. A permission is in the list if one of them covers it: a
// condition about one permission also holds for users with a permission above it.
type Permissions struct {
	traits.Lister
	held []string
}

// ViewPermissions returns permissions as a value of expressions.
func ViewPermissions(held []string) *Permissions {
	return &Permissions{types.NewStringList(types.DefaultTypeAdapter, held), held}
}

// Type returns the type for the type check.
func (*Permissions) Type() ref.Type { return cel.ListType(cel.StringType) }

// Contains implements the operator in.
func (p *Permissions) Contains(wanted ref.Val) ref.Val {
	permission, ok := wanted.(types.String)
	covers := func(held string) bool { return schemas.CoversPermission(held, string(permission)) }
	return types.Bool(ok && slices.ContainsFunc(p.held, covers))
}
