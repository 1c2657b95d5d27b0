// Package gate serves the hosted sign-in pages under /gate/: signing in and up,
// consent, what went wrong, signing out and having done so, and one's own account.
//
// The pages are a client of the public API like any other. They run whatever
// flow the application has by POST /flow/execute and show its steps from
// data.meta.components, so a new kind of node needs no code here. They are plain
// HTML, CSS and ES modules: what is in web/ is what the browser runs.
//
// # Addresses
//
// A page takes its task from its query:
//
//	/gate/signin    applicationId, authId, executionId, login_hint
//	/gate/signup    the same
//	/gate/consent   executionId, authId
//	/gate/error     error, error_description, traceId
//	/gate/signout   all that GET /oauth2/logout is to be asked with once the person
//	                agrees, and applicationId
//	/gate/signedout applicationId
//	/gate/account   nothing: who is not signed in goes through /gate/signin first
//	/gate/callback  code, state, iss, error: another provider's answer
//
// and, where the pages have a port of their own, at its root: /signin.
//
// Besides, each takes its language from lang or ui_locales. A run that was begun
// puts its executionId into the address, so that a reload finds it again. When
// the run is over the browser goes to its redirectURL; without one the assertion
// is exchanged for the way back by POST /oauth2/auth/callback, if an
// authorization request (authId) waits for it; else the account page is shown.
//
// # Other providers
//
// A step of type REDIRECTION sends the person to another provider, by an http or
// https address with a state. The page goes there by itself if the step is what the
// person asked for, and shows the step with its button if they came back to it, so
// that the Back button leads somewhere. What comes back at /gate/callback answers
// the step as its inputs. That is the address to register with the provider: below
// the address of the pages, where those have a port of their own.
//
// # Looks and languages
//
// An application looks as its customizations.theme says:
//
//	{"colors": {"primary": "#e8a400", "background": "#fdf3dc"},
//	 "dark": {"colors": {"primary": "…", "background": "…"}},
//	 "radius": "4px", "logoUrl": "https://…"}
//
// Colours are any of CSS that let nothing through, and are changed as far as it
// takes to read what is written in them and on them. What is not valid is left
// out; without a logoUrl there the application's own is shown.
//
// A language is a module in web/, listed in web/words.js, with a text for every
// key of the others. The texts of the built-in flows and of what the server refuses
// come with the looks, by their English; what other flows say is shown as it comes.
//
// # What is kept in the browser
//
// The account page works with the assertion of the sign-in as its bearer token.
// It lies in the tab's sessionStorage: a reload of the page must not ask for a
// passkey again, no other tab or site shares it, and it is gone with the tab.
// A cookie would be sent without being asked, and localStorage would outlive
// the person at a shared computer.
//
// Who is sent to another provider leaves there where they are to come back to and
// the challenge token of their step, under the state of the request, until the
// answer takes it. An answer for which the tab has nothing was begun elsewhere, or
// is somebody else's code that a link carries here (RFC 9700 §4.7): it is sent
// nowhere. There is no other state.
//
// # What keeps strangers out
//
// Nothing that comes from a flow, an application or the query is ever markup:
// it becomes text nodes and attribute values, and the policy demands Trusted
// Types, under which the browser itself refuses every other way. The policy
// allows no inline code, no frames around the pages and no requests elsewhere,
// but for the pictures (logos) that an administrator or a flow names.
package gate
