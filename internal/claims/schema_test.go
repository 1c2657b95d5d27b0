package claims_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/internal/datatest"
)

var update = flag.Bool("update", false, "rewrite the schema of applications and docs/claims.md")

// The schemas of applications and resource servers and the tables of docs/claims.md follow from the sources, targets and
// scopes.
func TestSchemaAndPageFollow(t *testing.T) {
	const page = "../../docs/claims.md"
	var definition bytes.Buffer
	if err := json.Indent(&definition, []byte(claims.Definition()), "    ", "  "); err != nil {
		t.Fatalf("%v: %s", err, claims.Definition())
	}
	for _, schema := range []string{"../../schemas/application.schema.json", "../../schemas/resource-server.schema.json"} {
		text := string(datatest.ReadFile(t, schema))
		at := strings.LastIndex(text, "\n    \"claim\": ")
		follow(t, schema, text[:at]+"\n    \"claim\": "+definition.String()+"\n  }\n}\n")
	}

	text := string(datatest.ReadFile(t, page))
	for name, table := range claims.Tables() {
		begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
		before, rest, found := strings.Cut(text, begin)
		_, after, ends := strings.Cut(rest, end)
		if !found || !ends {
			t.Fatalf("%s has no table between %s and %s", page, begin, end)
		}
		text = before + begin + table + end + after
	}
	follow(t, page, text)
}

func follow(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		datatest.WriteFile(t, path, want)
	}
	if kept, err := os.ReadFile(path); err != nil || string(kept) != want {
		t.Errorf("%s is not what follows (%v); run go test ./internal/claims -update", path, err)
	}
}
