// The passkey ceremonies of the browser (WebAuthn Level 3): options in and
// credentials out as JSON with base64url text.
import { Refusal, bytes } from "./wire.js";

// The one ceremony under way: a waiting autofill has to end before a dialog may
// open.
let current = null;

export const hasAutofill = async () => !obstacle() && Boolean(await PublicKeyCredential.isConditionalMediationAvailable?.());

export const wait = (options) => ceremony(options, { mediation: "conditional" });

// Asks for a passkey, or makes one if the options are for that. Throws a Refusal in plain words.
export async function ask(options, elsewhere) {
	const begun = Date.now();
	try {
		if (obstacle()) throw new Error();
		// Hints (§5.8.7) are only that: browsers without them offer all there is.
		return await ceremony(elsewhere ? { ...options, hints: ["hybrid", "security-key"] } : options);
	} catch (error) {
		throw refusal(obstacle() || reason(error, options, Date.now() - begun), options, error);
	}
}

// Ends the ceremony under way, if any, and waits until the browser has.
export async function stop() {
	current?.controller.abort();
	await current?.answer.catch(() => {});
}

async function ceremony(options, more) {
	await stop();
	const controller = new AbortController();
	const answer = navigator.credentials[options.user ? "create" : "get"]({ publicKey: decode(options), signal: controller.signal, ...more });
	const mine = (current = { controller, answer });
	try {
		return encode(await answer);
	} finally {
		if (current === mine) current = null;
	}
}

function decode(options) {
	const parse = `parse${options.user ? "Creation" : "Request"}OptionsFromJSON`;
	if (PublicKeyCredential[parse]) return PublicKeyCredential[parse](options);
	const { challenge, user, excludeCredentials: exclude, allowCredentials: allow } = options;
	const named = (o) => o && { ...o, id: bytes(o.id) };
	return { ...options, challenge: bytes(challenge), user: named(user), excludeCredentials: exclude?.map(named), allowCredentials: allow?.map(named) };
}

const members = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];

// Credentials of some password managers have no toJSON, or one that throws.
function encode(credential) {
	try {
		return credential.toJSON();
	} catch {
		const { id, type, response, authenticatorAttachment } = credential;
		const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
		const encoded = members.filter((name) => response[name]).map((name) => [name, text(response[name])]);
		return { id, type, authenticatorAttachment, response: Object.fromEntries(encoded) };
	}
}

// The inputs of a credential for POST /flow/execute.
export function flowInputs({ id, response, authenticatorAttachment }) {
	const inputs = { credentialId: id };
	for (const name of members) if (response[name]) inputs[name] = response[name];
	if (response.attestationObject && authenticatorAttachment) inputs.authenticatorAttachment = authenticatorAttachment;
	if (response.transports) inputs.transports = response.transports.join(" ");
	return inputs;
}

// Reports to the browser that the server does not know a passkey (§5.1.10).
export const disown = (rpId, credentialId) =>
	window.PublicKeyCredential?.signalUnknownCredential?.({ rpId, credentialId }).catch(() => {});

// Why there can be no passkeys here, "" when there can.
const obstacle = () => (isSecureContext ? (window.PublicKeyCredential ? "" : "unsupported") : "insecure");

// What a failure comes to: §5.1.3 and §5.1.4.
function reason({ name, message }, { user, timeout }, took) {
	if (/certificate/i.test(message)) return "certificate";
	if (name === "NotAllowedError") return took > 0.95 * timeout ? "timeout" : user ? "notMade" : "notUsed";
	const reasons = { AbortError: "cancelled", InvalidStateError: "exists", SecurityError: "origin", NotSupportedError: "unable", ConstraintError: "unable" };
	return reasons[name] ?? "failed";
}

function refusal(why, options, error) {
	const { origin, hostname: host } = location;
	const rpId = options.rpId ?? options.rp?.id ?? host;
	// For who runs the service.
	const fix = why === "origin" ? ` Set passkey.relying_party_id to ${host} or a domain above it, and add ${origin} to passkey.allowed_origins.` : "";
	const details = /certificate|origin|unable|failed/.test(why) && `${error.name}: ${error.message}${fix}`;
	return new Refusal({ code: why, key: `passkey.${why}`, values: { origin, rpId }, details });
}
