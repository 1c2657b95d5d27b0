package e2e_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// markupInAPI replaces the texts in the replies of the API that someone chooses by the texts of the
// corpus, one after the other. Identifiers, times, and words that the server itself chooses stay. markupCount
// counts the replaced texts.
const markupInAPI = `{
	const corpus = %s, real = fetch, free = /^(name|title|description|displayName|username|label|reason|author|text|message|defaultValue|browser|client)$/;
	const fixed = /^([0-9a-f-]{36}|\d{4}-\d\d-\d\dT.*|[a-zA-Z_.:*#/-]*)$/;
	let next = 0;
	window.markupCount = 0;
	const replace = (value, key) => {
		if (Array.isArray(value)) return value.map((item) => replace(item, key));
		if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, k === "links" || k === "definition" ? v : replace(v, k)]));
		if (typeof value !== "string" || !free.test(key) && fixed.test(value)) return value;
		markupCount++;
		return corpus[next++ %% corpus.length];
	};
	window.fetch = async (url, init) => {
		const reply = await real(url, init), path = new URL(url instanceof Request ? url.url : url, location.href).pathname;
		if (!reply.headers.get("Content-Type")?.startsWith("application/json") || /^\/(oauth2|flow|gate|console|openapi|schemas|[.]well-known)\b/.test(path)) return reply;
		const { status, headers } = reply;
		return new Response(JSON.stringify(replace(await reply.json(), "")), { status, headers });
	};
}`

// Each page of the console shows the texts of the corpus where it shows texts that users, clients,
// administrators or services choose. No text runs, and nothing violates the policy of the pages,
// Trusted Types included.
func TestMarkupInConsole(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := openConsole(t, p, "")
	c.heading("Overview")
	corpus := datatest.Marshal(t, markupCorpus(t))
	eval[any](c.tab, markupWatch+fmt.Sprintf(markupInAPI, corpus)+"; null")
	for _, path := range markupPages(t, p) {
		c.goTo(path)
		c.until("markupCount > 0")
		eval[any](c.tab, `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))`)
		c.cleanMarkup(path)
		t.Logf("%s: %d texts", path, eval[int](c.tab, `((n) => (window.markupCount = 0, n))(markupCount)`))
	}
	c.expectQuiet()
}

// markupPages are the addresses of the pages with texts: the lists, and one resource of each.
func markupPages(t *testing.T, p *postern) []string {
	t.Helper()
	pages := []string{"/audit", ""}
	for _, kind := range []struct{ path, plural string }{
		{"applications", "applications"}, {"users", "users"}, {"user-types", "userTypes"}, {"organization-units", "organizationUnits"},
		{"groups", "groups"}, {"roles", "roles"}, {"resource-servers", "resourceServers"}, {"flows", "flows"},
	} {
		var list map[string]json.RawMessage
		var items []struct {
			ID string `json:"id"`
		}
		p.get(t, "/"+kind.path, &list)
		if err := json.Unmarshal(list[kind.plural], &items); err != nil {
			t.Fatalf("%s: %v", kind.path, err)
		}
		pages = append(pages, "/"+kind.path)
		if len(items) > 0 {
			pages = append(pages, "/"+kind.path+"/"+items[0].ID)
		}
	}
	return pages
}
