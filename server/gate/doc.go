// Package gate serves the hosted pages under /gate/: sign-in, sign-up, consent, errors, sign-out
// and the user's own account.
//
// The pages are a client of the public API. They run the application's flow with POST /flow/execute
// and show its steps from data.meta.components, so a new kind of node needs no code here. They are
// plain HTML, CSS and ES modules: the browser runs the files in web/.
//
// # Addresses
//
// A page takes its parameters from its query:
//
//	/gate/signin    applicationId, authId, executionId, login_hint
//	/gate/signup    the same
//	/gate/recover   the same
//	/gate/consent   executionId, authId
//	/gate/error     error, a fixed code, traceId and applicationId; the other pages lead here with the code lost if the
//	                sign-in of their address is over or another browser's; error_description is for developers
//	                who read the address: the page does not show it, because anyone can write one
//	/gate/signout   the parameters for GET /oauth2/logout once the user confirms,
//	                and applicationId
//	/gate/signedout applicationId
//	/gate/account   from, the id of an application that the page links back to; users who are not signed in are redirected to /gate/signin;
//	                begun says that they come from there
//	/gate/lock      none; the fragment is the token of a link that locks an account
//	/gate/preview   none: the console shows steps in it
//	/gate/callback  code, state, iss, error: another provider's answer
//
// and, if the pages have a separate port, at its root: /signin. Each also takes its language from
// lang or ui_locales. A started run puts its executionId into the address, so that a reload finds
// it again. At the end of the run the browser goes to its redirectURL. Without one, the assertion
// is exchanged for the redirect with POST /oauth2/auth/callback if an authorization request
// (authId) waits for it; otherwise the account page is shown.
//
// # Other providers
//
// A step of type REDIRECTION sends the user to another provider, at an http or https address with a
// state. The page redirects automatically if the user just requested the step. If the user came
// back to it, the page shows the step with its button, so that the Back button works. The query of
// /gate/callback answers the step as its inputs. Register that address with the provider; if the
// pages have a separate port, it is below their address.
//
// # Appearance and languages
//
// The pages show what the user signs in to: the logo of the application's theme, its own logo, or the
// first letter of its name. Below the heading is whose service this is: the name and logo of the
// application's organization unit, or of the nearest unit above that has a logo, and otherwise
// passkey.relying_party_name and server.logo_url. An application that registered itself shows
// neither a logo nor a letter, and its name is marked as unverified.
//
// Colors, sizes and icons are those of internal/design.
//
// The application's customizations.theme sets the appearance:
//
//	{"colors": {"primary": "#e8a400", "background": "#fdf3dc"},
//	 "dark": {"colors": {"primary": "…", "background": "…"}},
//	 "radius": "4px", "logoUrl": "https://…"}
//
// Colors are CSS colors without transparency, and are adjusted until the text on them is readable.
// Invalid values are ignored; logoUrl replaces the application's own logo.
//
// A language is a module in web/, listed in web/words.js, with a text for every key of the others.
// The texts of the built-in flows and of the server's errors come with the appearance, keyed by the
// English text; texts of other flows are shown unchanged.
//
// # Data in the browser
//
// The pages keep no token. A sign-in on them gives the browser a session, and the account page acts
// by its cookie, which scripts cannot read. Each request has the header field Postern-Session,
// without which the cookie is worth nothing: server/browser.go. The field names the user of the
// page, so that a page does not act for another user who signed in in another tab.
//
// A change that needs a recent sign-in leads to one. The button that the user pressed is in the
// tab's sessionStorage, and is pressed again afterwards.
//
// Before a redirect to another provider the page stores the return address and the challenge token
// of the step, under the state of the request, until the answer arrives. An answer without stored
// values was started elsewhere, or is an attacker's code in a link (RFC 9700 §4.7): it is sent
// nowhere. There is no other state.
//
// # Injection
//
// Texts from flows, applications and the query are never markup: they become text nodes and
// attribute values, and the policy requires Trusted Types, so the browser rejects anything else.
// The policy allows no inline code, no framing and no requests to other origins, except images
// (logos) from addresses that an administrator or a flow sets.
package gate
