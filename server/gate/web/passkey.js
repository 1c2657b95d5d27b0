// The passkey ceremonies of the browser (WebAuthn Level 3): options in and
// credentials out as JSON with base64url text.
import { Refusal, bytes } from "./wire.js";

// The one ceremony under way. Browsers allow a page no second: a waiting
// autofill has to end before a dialog may open.
let current = null;

/** Whether the browser can offer passkeys in the autofill of a field. */
export const hasAutofill = async () => !obstacle() && Boolean(await PublicKeyCredential.isConditionalMediationAvailable?.());

/** Lets passkeys wait in a field's autofill. */
export const wait = (options) => ceremony(options, "conditional");

/**
 * Asks for a passkey, or makes one if the options are for that; elsewhere, on
 * another device than this one. Throws a Refusal in plain words.
 */
export async function ask(options, elsewhere) {
	const begun = Date.now();
	if (obstacle()) throw refusal(obstacle(), options);
	try {
		// Hints (§5.8.7) are only that: browsers without them offer all there is.
		return await ceremony(elsewhere ? { ...options, hints: ["hybrid", "security-key"] } : options);
	} catch (error) {
		throw refusal(reason(error, options, Date.now() - begun), options, error);
	}
}

/** Ends the ceremony under way, if any, and waits until the browser has. */
export async function stop() {
	current?.controller.abort();
	await current?.answer.catch(() => {});
}

async function ceremony(options, mediation) {
	await stop();
	const controller = new AbortController();
	const request = { publicKey: decode(options), signal: controller.signal };
	if (mediation) request.mediation = mediation;
	const answer = navigator.credentials[options.user ? "create" : "get"](request);
	const mine = (current = { controller, answer });
	try {
		return encode(await answer);
	} finally {
		if (current === mine) current = null;
	}
}

function decode(options) {
	const parse = options.user ? "parseCreationOptionsFromJSON" : "parseRequestOptionsFromJSON";
	if (PublicKeyCredential[parse]) return PublicKeyCredential[parse](options);
	const identified = (o) => o && { ...o, id: bytes(o.id) };
	return {
		...options,
		challenge: bytes(options.challenge),
		user: identified(options.user),
		excludeCredentials: options.excludeCredentials?.map(identified),
		allowCredentials: options.allowCredentials?.map(identified),
	};
}

const members = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];

// Some password managers stand in for the browser and return credentials that
// have no toJSON, or one that throws.
function encode(credential) {
	try {
		return credential.toJSON();
	} catch {
		const { id, type, response, authenticatorAttachment } = credential;
		const encoded = members.filter((name) => response[name]).map((name) => [name, text(response[name])]);
		return { id, rawId: id, type, authenticatorAttachment, response: Object.fromEntries(encoded) };
	}
}

const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

/** The inputs by which POST /flow/execute takes a credential. */
export function flowInputs({ id, response, authenticatorAttachment }) {
	const inputs = { credentialId: id };
	for (const name of members) if (response[name]) inputs[name] = response[name];
	if (response.attestationObject && authenticatorAttachment) inputs.authenticatorAttachment = authenticatorAttachment;
	return inputs;
}

/** Tells the browser that the server does not know a passkey, so that it is offered no more (§5.1.10). */
export const disown = (rpId, credentialId) =>
	window.PublicKeyCredential?.signalUnknownCredential?.({ rpId, credentialId }).catch(() => {}); // then it goes on being offered

/** Why there can be no passkeys here; "" when there can. */
const obstacle = () => (isSecureContext ? (window.PublicKeyCredential ? "" : "unsupported") : "insecure");

/** What a failure of a ceremony comes to. The names of errors are those of §5.1.3 and §5.1.4. */
function reason({ name, message }, { user, timeout }, took) {
	if (/certificate/i.test(message)) return "certificate";
	switch (name) {
		case "NotAllowedError":
			return took > 0.95 * timeout ? "timeout" : user ? "notMade" : "notUsed";
		case "AbortError":
			return "cancelled";
		case "InvalidStateError":
			return "exists";
		case "SecurityError":
			return "origin";
		case "NotSupportedError":
		case "ConstraintError":
			return "unable";
	}
	return "failed";
}

function refusal(why, options, error) {
	const { origin, hostname: host } = location;
	const values = { origin, host, rpId: options.rpId ?? options.rp?.id ?? host };
	const details = /certificate|origin|unable|failed/.test(why) && `${error.name}: ${error.message}`;
	return new Refusal({ code: why, key: `passkey.${why}`, values, details });
}
