package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// markupCorpus are the texts of the attack table for markup, which the tests of cmd/postern send to
// the server.
func markupCorpus(t *testing.T) (list []string) {
	t.Helper()
	text, err := os.ReadFile("../cmd/postern/testdata/markup.json")
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil || len(list) < 50 {
		t.Fatalf("%d texts, %v", len(list), err)
	}
	return list
}

// markupWatch records whether a text of the corpus ran, and the violations of the page's policy.
const markupWatch = `
	window.owned = () => { window.isOwned = true; };
	window.violations = [];
	addEventListener("securitypolicyviolation", (e) => violations.push(e.violatedDirective + " " + e.blockedURI + " " + e.sample));
`

// markupReplies gives the page replies whose texts are that of the corpus with the number in the
// query, or all of them.
const markupReplies = `{
	const corpus = %s, n = new URLSearchParams(location.search).get("n"), real = fetch;
	const texts = n === "all" ? corpus : [corpus[n]], [text] = texts, at = "2030-01-02T03:04:05Z";
	const inputs = texts.flatMap((label, i) => ["TEXT_INPUT", "SELECT"].map((type) => ({ id: "input_" + type + i, type, ref: type + i, label, placeholder: label, options: [label, "b"] })));
	const components = texts.flatMap((label, i) => [
		{ id: "t" + i, type: "TEXT", variant: "HEADING_1", label }, { id: "r" + i, type: "RICH_TEXT", label }, { id: "i" + i, type: "IMAGE", label, src: /^\s*(java|vb|data)/i.test(label) ? label : "" }, { id: "n" + i, type: label, label },
		{ id: "form" + i, type: "BLOCK", components: [...inputs.filter((x) => x.id.endsWith("T" + i)), { id: "go" + i, type: "ACTION", eventType: "SUBMIT", label }] },
	]);
	const each = (f) => texts.map((label, i) => f(label, "id-" + i));
	const replies = {
		"/flow/meta": { application: { id: "a", name: text, tosUri: text, policyUri: text, url: text }, brand: { name: text }, design: { theme: { colors: { primary: text, background: text }, radius: text } }, isAddressFlowEnabled: true },
		"/flow/execute": { executionId: "run-1", flowStatus: "INCOMPLETE", type: "VIEW", stepId: "s", challengeToken: "c", error: { code: text, message: { defaultValue: text }, description: { defaultValue: text } }, data: { meta: { components }, fieldErrors: each((message, i) => ({ identifier: "TEXT_INPUT0", message })) } },
		"/users/me": { id: "me", attributes: { username: text, name: text, email: text } },
		"/users/me/profile": { attributes: each((title, name) => ({ title, name, value: title, options: [title] })), password: true, passwordAllowed: true, passwordLimit: text },
		"/users/me/passkeys": { passkeys: each((name, id) => ({ id, name, authenticator: name + " ", backedUp: true, createdAt: at, lastUsedAt: at, limit: name })) },
		"/users/me/identities": { identities: each((name, id) => ({ id, provider: { name }, name, createdAt: at })) },
		"/users/me/factors": { factors: [] },
		"/users/me/former-password": { addedWithFormerPassword: each((name, id) => ({ id, type: "identity", name, createdAt: at })) },
		"/users/me/sessions": { sessions: each((client, id) => ({ id, client, browser: client, createdAt: at, lastSeenAt: at })) },
		"/users/me/consents": { consents: each((name, applicationId) => ({ applicationId, name, scopes: [{ text: name }], grantedAt: at })) },
	};
	if (new URLSearchParams(location.search).has("leave")) replies["/flow/execute"] = { executionId: "run-1", flowStatus: "COMPLETE", assertion: "a.e30.c", data: { redirectURL: text } };
	if (n !== null) window.fetch = async (url, init) => {
		const path = new URL(url, location.href).pathname;
		return path in replies ? new Response(JSON.stringify(replies[path]), { headers: { "Content-Type": "application/json" } }) : real(url, init);
	};
}`

// markupFindings are the elements and attributes of a page that run or load something, and what the
// watch has recorded.
const markupFindings = `(() => {
	const address = /^(href|src|action|formaction|data|srcdoc|xlink:href)$/i, runs = /^[\s\u0000-\u0020]*(java\s*script|vbscript|data:text)/i;
	const found = [...document.querySelectorAll("*")].flatMap((e) => [...e.attributes].filter((a) => /^on/i.test(a.name) || address.test(a.name) && runs.test(a.value)).map((a) => e.tagName + " " + a.name + "=" + a.value));
	const elements = [...document.body.querySelectorAll("script:not([src]), iframe:not([src*='/gate/preview?lang=']), object, embed, base, meta, link[href^=http], form[action]")].map((e) => e.outerHTML);
	return [...found, ...elements, ...(window.violations ?? ["no watch"]), ...(window.isOwned ? ["a script ran"] : [])];
})()`

// cleanMarkup fails the test if the page has findings.
func (p *tab) cleanMarkup(where string) {
	p.t.Helper()
	for _, found := range eval[[]string](p, markupFindings) {
		p.t.Errorf("%s: %s", where, found)
	}
}

// The hosted pages show each text of the corpus in each place for a text that users, clients,
// administrators, services or links choose. No text runs, and nothing violates the policy of the
// pages, Trusted Types included.
func TestMarkupOnHostedPages(t *testing.T) {
	t.Parallel()
	p := serve(t)
	g := &gateTab{tab: openTab(t), base: p.base}
	corpus := markupCorpus(t)
	text := datatest.Marshal(t, corpus)
	g.beforeScripts(markupWatch)
	g.beforeScripts(fmt.Sprintf(markupReplies, text))
	g.open(p.base + "/gate/signin?n=all")
	g.shows("step/s")
	if n := eval[int](g.tab, `document.querySelectorAll("#view button").length`); n < len(corpus) {
		t.Errorf("the page of a step has %d buttons, want one for each of %d texts", n, len(corpus))
	}
	g.cleanMarkup("all texts in a step")
	g.open(p.base + "/gate/account?n=all")
	g.shows("account")
	g.cleanMarkup("all texts in an account")
	for i, text := range corpus {
		q := url.Values{"n": {fmt.Sprint(i)}, "applicationId": {tryID}, "error": {text}, "error_description": {text}, "traceId": {text}, "lang": {text}, "ui_locales": {text}, "state": {text}}
		g.open(p.base + "/gate/error?" + q.Encode() + "#" + url.PathEscape(text))
		g.shows("over")
		g.cleanMarkup(fmt.Sprintf("the error page with %q", text))
	}
	for i, text := range corpus {
		if u, err := url.Parse(strings.TrimSpace(text)); err == nil && u.Scheme == "" {
			continue // a path of the server
		}
		g.open(fmt.Sprintf("%s/gate/signin?leave=1&n=%d", p.base, i))
		g.until(`document.getElementById("view")?.dataset.view || location.pathname !== "/gate/signin"`)
		if eval[bool](g.tab, `window.isOwned === true`) {
			t.Errorf("the redirect to %q ran", text)
		}
	}
}
