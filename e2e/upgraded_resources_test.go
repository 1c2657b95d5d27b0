package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/postern-id/postern/internal/datatest"
)

// values are what the API returns: the members of all resources in text, by place.
type values map[string]string

// lists are the resources with the member that names each in places.
var upgradeLists = []struct{ path, member, name string }{
	{"/organization-units", "organizationUnits", "handle"}, {"/user-types", "userTypes", "name"}, {"/users", "users", "attributes"},
	{"/resource-servers", "resourceServers", "handle"}, {"/identity-providers", "identityProviders", "handle"},
	{"/flows", "flows", "handle"}, {"/applications", "applications", "name"}, {"/groups", "groups", "name"}, {"/roles", "roles", "name"},
}

// upgradeParts are the lists that belong to a resource.
var upgradeParts = map[string][]string{
	"/users":  {"/passkeys", "/factors", "/identities", "/sessions", "/consents", "/access", "/profile"},
	"/flows":  {"/versions"},
	"/groups": {"/members"},
	"/roles":  {"/assignments"},
}

// snapshot reads all resources.
func (f *filledStore) snapshot() values {
	f.t.Helper()
	all := values{}
	for _, list := range upgradeLists {
		var page map[string]json.RawMessage
		var items []object
		f.get(f.t, list.path+"?limit=100", &page)
		datatest.Unmarshal(f.t, page[list.member], &items)
		for _, item := range items {
			path := fmt.Sprint(list.path, "/", item["id"])
			place := list.path + "/" + nameOf(item, list.name)
			for _, part := range append(upgradeParts[list.path], "") {
				var value any
				f.get(f.t, path+part, &value)
				all.add(place+part, value)
			}
		}
	}
	return all
}

// nameOf returns the value of a member that names a resource: of a user, the username or the address.
func nameOf(item object, member string) string {
	if attributes, ok := item[member].(object); ok {
		if attributes["username"] == nil {
			return fmt.Sprint(attributes["email"])
		}
		return fmt.Sprint(attributes["username"])
	}
	return fmt.Sprint(item[member])
}

// add adds the members of a value. An item of a list is known by its id, if it has one.
func (v values) add(place string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			v.add(place+" "+name, member)
		}
	case []any:
		for i, item := range value {
			key := fmt.Sprint(i)
			if item, ok := item.(object); ok && item["id"] != nil {
				key = fmt.Sprint(item["id"])
			}
			v.add(fmt.Sprintf("%s[%s]", place, key), item)
		}
	default:
		v[place] = fmt.Sprint(value)
	}
}

// difference is an expected difference between the previous release and this one: the places that the pattern
// matches, and the sentence of CHANGELOG.md about it.
type difference struct {
	Place     string `yaml:"place"`
	Changelog string `yaml:"changelog"`
}

func readDifferences(t *testing.T) (all []difference) {
	t.Helper()
	if err := yaml.Unmarshal(datatest.ReadFile(t, "testdata/upgrade/differences.yaml"), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestDifferencesAreInChangelog: operators read CHANGELOG.md before an upgrade.
func TestDifferencesAreInChangelog(t *testing.T) {
	log := strings.Join(strings.Fields(string(datatest.ReadFile(t, "../CHANGELOG.md"))), " ")
	for _, d := range readDifferences(t) {
		if d.Changelog == "" || !strings.Contains(log, d.Changelog) {
			t.Errorf("the difference at %s: CHANGELOG.md has no sentence %q", d.Place, d.Changelog)
		}
	}
}

// compare reports differences that are not expected, and expected ones that do not exist.
func (f *filledStore) compare(before, after values) {
	f.t.Helper()
	expected, found := readDifferences(f.t), map[int]bool{}
	places := maps.Clone(before)
	maps.Copy(places, after)
	for _, place := range slices.Sorted(maps.Keys(places)) {
		if before[place] == after[place] {
			continue
		}
		i := slices.IndexFunc(expected, func(d difference) bool { return regexp.MustCompile("^(?:" + d.Place + ")").MatchString(place) })
		if i < 0 {
			f.t.Errorf("%s: %q, before the upgrade %q: add it to testdata/upgrade/differences.yaml with its sentence in CHANGELOG.md", place, after[place], before[place])
		}
		found[i] = true
	}
	for i, d := range expected {
		if !found[i] {
			f.t.Errorf("nothing differs at %s: remove it from testdata/upgrade/differences.yaml", d.Place)
		}
	}
}
