package server

import "testing"

func TestPrefersYAML(t *testing.T) {
	for accept, want := range map[string]bool{
		"":                                   false,
		"*/*":                                false,
		"application/json":                   false,
		"application/yaml":                   true,
		"Application/YAML":                   true,
		"application/yaml; q=0":              false,
		"application/yaml, application/json": false, // both alike: the usual one
		"application/json;q=0.5,application/yaml":            true,
		"application/yaml;q=0.5,application/json":            false,
		"application/yaml, */*;q=0.8":                        true,
		"application/yaml;q=0.5, */*":                        false,
		"text/html, application/yaml;q=0.1":                  true,
		"application/yaml;q=x":                               true,
		"application/yaml;v=1;q=0.2, application/json;q=0.3": false,
		"application/yamlx, text/yaml":                       false,
	} {
		if got := prefersYAML([]string{accept}); got != want {
			t.Errorf("%q: %t", accept, got)
		}
	}
}
