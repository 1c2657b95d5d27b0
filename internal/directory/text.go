package directory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// checkText refuses the character NUL wherever it stands in a document: not
// every database keeps it, and none finds what has it.
func checkText(w *work, d *schemas.Document) error {
	if !bytes.Contains(d.JSON(), []byte(`\u0000`)) {
		return nil
	}
	var v any
	if err := json.Unmarshal(d.JSON(), &v); err != nil {
		return fmt.Errorf("reading a document again: %w", err)
	}
	w.checkValue("", v)
	return nil
}

func (w *work) checkValue(path string, v any) {
	switch v := v.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			w.invalid(path, "the character NUL cannot be kept; take it out")
		}
	case []any:
		for i, item := range v {
			w.checkValue(fmt.Sprintf("%s[%d]", path, i), item)
		}
	case map[string]any:
		for name, value := range v {
			at := schemas.MemberPath(path, name)
			if strings.ContainsRune(name, 0) {
				w.invalid(at, "the character NUL cannot be kept; take it out of the name")
			}
			w.checkValue(at, value)
		}
	}
}
