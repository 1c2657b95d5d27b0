package gate

import (
	"encoding/json"

	"github.com/postern-id/postern/internal/translations"
)

// languageModules returns the scripts with texts: one for each language, by its tag, and one with
// the names of all and the default.
func languageModules(c *translations.Catalog) map[string][]byte {
	names, modules := map[string]string{}, map[string][]byte{}
	for _, l := range c.Languages() {
		names[l.Tag] = l.Name
		modules[l.Tag+".js"] = module("default", l.Pages)
	}
	modules["languages.js"] = append(module("const languages =", names), module("const standard =", c.Default().Tag)...)
	return modules
}

// module returns a script that exports a value.
func module(export string, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it has strings and JSON only
	}
	return []byte("export " + export + " " + string(text) + ";\n")
}
