// The passkey ceremonies of the browser (WebAuthn Level 3): options in and
// credentials out as JSON with base64url text, and readable error messages.

// The current ceremony. Browsers allow only one per page: a waiting
// autofill has to end before a dialog may open.
let current = null;

/** Whether the browser can offer passkeys in the autofill of a field. */
export async function hasAutofill() {
  if (obstacle()) return false;
  return Boolean(await PublicKeyCredential.isConditionalMediationAvailable?.());
}

/** Creates a passkey; options are PublicKeyCredentialCreationOptionsJSON. */
export const create = (options) => ceremony("create", { publicKey: decode(options, "parseCreationOptionsFromJSON") });

/** Uses a passkey; mediation "conditional" waits in the autofill of a field. */
export const get = (options, mediation) => ceremony("get", { publicKey: decode(options, "parseRequestOptionsFromJSON"), mediation });

/** Ends the current ceremony, if any, and waits for the browser. */
export async function stop() {
  current?.controller.abort();
  await current?.answer.catch(() => {});
}

async function ceremony(method, options) {
  await stop();
  const controller = new AbortController();
  const answer = navigator.credentials[method]({ ...options, signal: controller.signal });
  const mine = (current = { controller, answer });
  try {
    return encode(await answer);
  } finally {
    if (current === mine) current = null;
  }
}

const members = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];

/** The inputs of POST /flow/execute for a credential. */
export function flowInputs({ id, response }) {
  const inputs = { credentialId: id };
  for (const name of members) if (response[name]) inputs[name] = response[name];
  return inputs;
}

function decode(json, parse) {
  if (PublicKeyCredential[parse]) return PublicKeyCredential[parse](json);
  const named = (list) => list?.map((c) => ({ ...c, id: bytes(c.id) }));
  return {
    ...json,
    challenge: bytes(json.challenge),
    user: json.user && { ...json.user, id: bytes(json.user.id) },
    excludeCredentials: named(json.excludeCredentials),
    allowCredentials: named(json.allowCredentials),
  };
}

// Some password managers replace the browser's functions and return credentials that
// have no toJSON, or one that throws.
function encode(credential) {
  try {
    return credential.toJSON();
  } catch {
    const { id, rawId, type, response } = credential;
    const encoded = members.filter((name) => response[name]).map((name) => [name, text(response[name])]);
    return { id, rawId: text(rawId), type, response: Object.fromEntries(encoded) };
  }
}

/** The bytes of base64url text. */
export function bytes(base64url) {
  const binary = atob(base64url.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(binary, (c) => c.charCodeAt(0));
}

function text(buffer) {
  const binary = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** The reason why passkeys are unavailable, "" if they are available. */
export function obstacle() {
  if (!isSecureContext) {
    return `Passkeys work over HTTPS only, or on localhost. This page came from ${location.origin}: open it with https://, or as http://localhost.`;
  }
  return window.PublicKeyCredential ? "" : "This browser does not support passkeys. Update it.";
}

/** A readable message for a failed ceremony. */
export function explain(error, relyingPartyId = location.hostname) {
  if (/certificate/i.test(error.message)) {
    return "Passkeys are unavailable: the browser does not trust this page's certificate. Install one that it trusts, or open the page on localhost.";
  }
  switch (error.name) {
    case "NotAllowedError":
      return "No passkey was used: the prompt was closed or timed out, the device could not verify you, or it has no passkey for this. You can try again.";
    case "AbortError":
      return "Canceled. Nothing has changed.";
    case "InvalidStateError":
      return "This device already has a passkey for this account. Sign in with it, or use another device.";
    case "SecurityError":
      return `The browser refused: a page of ${location.origin} may not use passkeys of “${relyingPartyId}”. Its host name must be that relying party id or lie under it.`;
    case "NotSupportedError":
    case "ConstraintError":
      return "This device cannot create the requested kind of passkey. Try another device or a security key.";
  }
  return `The browser could not finish: ${error.message || error.name}. You can try again.`;
}
