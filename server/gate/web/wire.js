// Talks to the server, which is the one the page came from.

// What the server or the browser refused: code to branch on, key and values to say.
export class Refusal extends Error {
	constructor(error) {
		super(error.code);
		Object.assign(this, error);
	}
}

export const params = new URLSearchParams(location.search);

export const remember = () => history.replaceState(null, "", `?${params}${location.hash}`);

// The address of a page of the gate. It keeps the language, the application that led to the account page, and what else is named.
export function address(page, ...keep) {
	const query = new URLSearchParams();
	for (const name of [...keep, "from", "lang", "ui_locales"]) if (params.has(name)) query.set(name, params.get(name));
	return `${page}?${query}`;
}

let user = "1";

// Names the user of the page. If another one signs in with this browser, the server refuses the request.
export const show = (id) => { user = id; };

// The trace id of the latest answer: the audit log and the server log contain it.
export let trace = "";

export async function call(method, path, body) {
	// With this field the browser's session counts. Pages of other sites cannot send it.
	const headers = { "Postern-Session": user };
	if (body) headers["Content-Type"] = "application/json";
	const sent = fetch(`../${path}`, { method, headers, body: body && JSON.stringify(body) });
	const response = await sent.catch(() => { throw new Refusal({ code: "unreachable" }); });
	trace = response.headers.get("X-Trace-Id") ?? "";
	const reply = await response.json().catch(() => ({}));
	if (response.ok) return reply;
	// RFC 6749 §5.2: the request is gone, or another browser's.
	const key = /^(invalid|access_denied)/.test(reply.error) && "oauth.lost";
	throw new Refusal({ traceId: trace, key, details: reply.error_description, ...reply });
}

// Leaves for an address that the server gave. An app's own scheme is fine, one that would run here is not.
export function go(url) {
	const { protocol, href } = new URL(url, location.href);
	if (/^(javascript|data|vbscript|blob|file|about|filesystem):$/.test(protocol)) throw new Refusal({});
	location.replace(href);
	return href;
}

export const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));

// What is kept until the tab is closed: no tokens, only where to go on. A browser may forbid it.
export const storage = {
	take(key) {
		try {
			const kept = sessionStorage.getItem(key);
			sessionStorage.removeItem(key);
			return kept;
		} catch {
			return null;
		}
	},
	keep(key, value) {
		try {
			sessionStorage.setItem(key, value);
			return true;
		} catch {
			return false;
		}
	},
};
