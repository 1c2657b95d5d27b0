// Leaves for another provider in the middle of a run, and comes back from it.
import { Refusal, address, go, params, storage } from "./wire.js";

// Only this tab can read what is kept, so a response that was lured or carried
// here from elsewhere finds nothing, and is sent nowhere.
const key = (state) => `away:${state}`;

// Leaves for the provider that a step asks, and keeps where the person is to
// come back to, under the state of that request.
export function depart(page, { executionId, challengeToken, data }) {
	const { protocol, href, searchParams } = new URL(data.redirectURL);
	const state = searchParams.get("state");
	if (!/^https?:$/.test(protocol) || !state) throw new Refusal({});
	const kept = storage.keep(key(state), JSON.stringify({ page, query: `${params}`, answer: { executionId, challengeToken } }));
	if (!kept) throw new Refusal({ code: "no_storage" });
	location.assign(href);
}

// Takes up the page that left, once, with the provider's response (RFC 6749
// §4.1.2, RFC 9207) as the answer to its step. The response does not stay in the
// address or the history.
export function arrive() {
	const inputs = Object.fromEntries(["code", "state", "iss", "error"].filter((name) => params.has(name)).map((name) => [name, params.get(name)]));
	const { page = "callback", query = address(""), answer, back } = JSON.parse(storage.take(key(inputs.state)) ?? "{}");
	// The page /try/ runs the flow itself, and takes the response up.
	if (back) {
		go(`${back}?${params}`);
		return { page: "leaving" };
	}
	for (const name of [...params.keys()]) params.delete(name);
	new URLSearchParams(query).forEach((value, name) => params.append(name, value));
	history.replaceState(null, "", `${page}?${params}`);
	return { page, answer: answer && { ...answer, inputs } };
}
