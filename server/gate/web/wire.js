// Talks to the server, which is the one the page came from.

/** What the server or the browser refused. code is what to branch on, key and values are what to say. */
export class Refusal extends Error {
	constructor(error) {
		super(error.message?.defaultValue ?? error.code);
		Object.assign(this, error);
	}
}

/** The query of the page's address. */
export const params = new URLSearchParams(location.search);

/** Makes the query of the address that of params. */
export const remember = () => history.replaceState(null, "", `?${params}`);

/** The address of a page of the gate. It keeps the language and what else is named. */
export function address(page, ...keep) {
	const query = new URLSearchParams();
	for (const name of [...keep, "lang", "ui_locales"]) if (params.has(name)) query.set(name, params.get(name));
	return query.size ? `${page}?${query}` : page;
}

/** Sends a request and returns the reply's JSON, or throws a Refusal. */
export async function call(method, path, { body, token } = {}) {
	const headers = {};
	if (body) headers["Content-Type"] = "application/json";
	if (token) headers.Authorization = `Bearer ${token}`;
	const sent = fetch(new URL(`../${path}`, location.href), { method, headers, body: body && JSON.stringify(body) });
	const response = await sent.catch(() => { throw new Refusal({ code: "unreachable" }); });
	const reply = await response.json().catch(() => ({}));
	if (response.ok) return reply;
	throw new Refusal({ code: reply.error ?? "unknown", traceId: response.headers.get("X-Trace-Id"), ...reply });
}

/** Leaves for an address that the server gave. An app's own scheme is fine, one that would run here is not. */
export function go(url) {
	const { protocol, href } = new URL(url, location.href);
	if (/^(javascript|data|vbscript|blob|file|about|filesystem):$/.test(protocol)) throw new Refusal({ code: "bad_redirect" });
	location.replace(href);
	return href;
}

/** The bytes of base64url text. */
export const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));

/** The claims of a JWT. They are shown, not relied on, so nothing is verified. */
export const claims = (jwt) => JSON.parse(new TextDecoder().decode(bytes(jwt.split(".")[1])));

/** The assertion of who is signed in, for this tab and until it is closed. */
export const assertion = {
	get: () => sessionStorage.getItem("assertion"),
	keep: (jwt) => sessionStorage.setItem("assertion", jwt),
	forget: () => sessionStorage.clear(),
};
