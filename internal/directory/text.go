package directory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// checkName refuses a name that users could confuse with another one. A stored resource
// keeps such a name, unless it is a self-registered client.
func checkName(w *writeContext, was, name string) {
	if name == "" || w.keeps(name == was && w.registration == "") {
		return
	}
	w.addFault("name", schemas.CheckDisplayName(name))
}

// checkText refuses the character NUL anywhere in a document: PostgreSQL cannot store it.
// It is a problem of the shape, so no rule reports it again.
func checkText(w *writeContext, d *schemas.Document) {
	var v any
	if bytes.Contains(d.JSON(), []byte(`\u0000`)) && !w.fail(json.Unmarshal(d.JSON(), &v)) {
		w.shape = append(w.shape, findNULs("", v)...)
	}
}

// findNULs returns the problems of texts with NUL in the value at the path.
func findNULs(path string, v any) (found []schemas.Problem) {
	switch v := v.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			found = append(found, schemas.Problem{Path: path, Message: "the character NUL cannot be stored; remove it"})
		}
	case []any:
		for i, item := range v {
			found = append(found, findNULs(fmt.Sprintf("%s[%d]", path, i), item)...)
		}
	case map[string]any:
		for name, value := range v {
			at := schemas.MemberPath(path, name)
			if strings.ContainsRune(name, 0) {
				found = append(found, schemas.Problem{Path: at, Message: "the character NUL cannot be stored; remove it from the name"})
			}
			found = append(found, findNULs(at, value)...)
		}
	}
	return found
}
