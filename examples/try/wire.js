// Sends requests to the server and lists them at the bottom of the page.
import { byId, el } from "./dom.js";
import { bytes } from "./passkey.js";

// Another server than this page's: ?api=https://id.example.com. It is for copies
// of the page; the policy that Postern serves it with allows its own origin
// only, so that no link can send user input to another server.
const api = (new URLSearchParams(location.search).get("api") ?? "").replace(/\/+$/, "");

/** An error reply; clients branch on its code. */
export class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Posts JSON and returns the reply, or throws a Refusal. Values of the names in secret are not listed. */
export async function post(path, body, { token, secret = [] } = {}) {
  const headers = { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(api + path, { method: "POST", headers, body: JSON.stringify(body) });
  } catch {
    throw new Refusal("unreachable", api
      ? `Could not reach ${api}. It may be down, or ${location.origin} is missing in its cors.allowed_origins.`
      : "Could not reach the server. Try again when it runs.");
  }
  const reply = await response.json().catch(() => ({}));
  list(path, response.status, body, reply, secret);
  if (!response.ok) throw new Refusal(reply.code ?? "", words(reply) || `The server answered with status ${response.status}.`);
  return reply;
}

/** The message of an error body. */
export const words = (error) => error?.description?.defaultValue || error?.message?.defaultValue || "";

/** The claims of a JWT. They are shown, not relied on, so nothing is verified. */
export function claims(jwt) {
  return JSON.parse(new TextDecoder().decode(bytes(jwt.split(".")[1])));
}

function list(path, status, body, reply, secret) {
  const shorten = (name, value) => {
    if (secret.includes(name)) return "•••";
    return typeof value === "string" && value.length > 120 ? `${value.slice(0, 100)}… (${value.length} characters)` : value;
  };
  const text = (value) => JSON.stringify(value, shorten, 2);
  const outcome = reply.flowStatus ? `${status} ${reply.flowStatus}` : String(status);
  byId("wire-empty").hidden = true;
  const log = byId("wire-log");
  log.append(el("li", {}, el("details", {},
    el("summary", {}, `POST ${path} `, el("span", { class: status < 400 ? "fine" : "fault" }, outcome)),
    el("pre", { tabindex: "0" }, `${text(body)}\n\n${text(reply)}`))));
  while (log.children.length > 30) log.firstElementChild.remove();
}
