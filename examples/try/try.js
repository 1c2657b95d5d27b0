// A client of one application: runs its flows to sign up and in, and signs in
// and adds passkeys through the atomic endpoints.
import { button, byId, el, form } from "./dom.js";
import * as passkey from "./passkey.js";
import { collect, renderStep, trigger } from "./step.js";
import { Refusal, claims, post, words } from "./wire.js";

const state = {
  applicationId: "",
  mailbox: false,
  autofill: false, // the browser can offer passkeys in a field
  busy: false,
  step: null, // the latest step
  typed: {}, // what the user entered, without secrets
  assertion: "",
};

/** Runs a task that the user started, and shows the result. */
async function attempt(status, task) {
  if (state.busy) return;
  state.busy = true;
  byId("main").setAttribute("aria-busy", "true");
  byId("status").textContent = status;
  complain("");
  try {
    await passkey.stop();
    await task();
  } catch (error) {
    await recover(error);
  } finally {
    state.busy = false;
    byId("main").removeAttribute("aria-busy");
    if (byId("status").textContent === status) byId("status").textContent = "";
    waitInAutofill();
  }
}

/** Runs a ceremony that the user can cancel. */
async function ceremony(run, options) {
  const obstacle = passkey.obstacle();
  if (obstacle) throw new Refusal("no_passkeys", obstacle);
  const cancel = byId("cancel");
  cancel.hidden = false;
  try {
    return await run(options);
  } catch (error) {
    throw new Refusal(error.name, passkey.explain(error, options.rpId ?? options.rp?.id));
  } finally {
    cancel.hidden = true;
  }
}

/** Shows an error. An invalid field keeps the focus. */
function complain(message) {
  byId("alert").textContent = message;
  if (message && !invalid()) byId("alert").focus();
}

async function recover(error) {
  if (!(error instanceof Refusal)) console.error(error);
  if (error.code === "stale_step" && state.step) {
    // The run has advanced elsewhere, perhaps in another tab: show its current step.
    const { executionId } = state.step;
    state.step = null;
    await execute({ executionId }).then(show, home);
  }
  if (error.code === "execution_not_found") home();
  complain(error.message);
}

/** Shows a view and puts the focus on its first error or its heading. */
function view(name, ...nodes) {
  const main = byId("view");
  Object.assign(main.dataset, { view: name, step: state.step?.stepId ?? "" });
  main.replaceChildren(...nodes.filter(Boolean));
  document.title = `${byId("heading").textContent} · Postern`;
  (invalid() ?? byId("heading")).focus();
}

const invalid = () => byId("view").querySelector("[aria-invalid]");

const title = (text) => el("h1", { id: "heading", tabindex: "-1" }, text);

/** Clears the state and starts over. */
function home() {
  Object.assign(state, { step: null, typed: {}, assertion: "" });
  const obstacle = passkey.obstacle();
  view("home",
    title("Try Postern"),
    el("p", {}, "Create an account with a passkey, sign in with it, and inspect the requests."),
    obstacle && el("p", { id: "obstacle", class: "notice" }, obstacle),
    button("Create an account", { id: "start-sign-up", class: "primary" }, () => start("REGISTRATION")),
    button("Sign in", { id: "start-sign-in" }, () => start("AUTHENTICATION")),
    button("Trouble signing in?", { id: "start-recovery", class: "quiet" }, () => start("RECOVERY")),
    el("hr"),
    el("p", { class: "hint" }, "Without a flow, by POST /auth/passkey/start and /finish:"),
    button("Sign in with the atomic API", { id: "start-atomic" }, signInAtomically),
    mailbox());
}

const mailbox = () => state.mailbox && el("a", { id: "mailbox", href: "mail", target: "_blank" }, "Mails of the server");

function signedIn(heading, assertion, more = {}) {
  Object.assign(state, { step: null, typed: {}, assertion });
  const held = assertion ? claims(assertion) : {};
  const adds = held.aud?.includes(state.applicationId);
  const name = el("input", { id: "passkey-name", name: "passkey-name", maxlength: "64", placeholder: "My phone" });
  view("signed-in",
    title(heading),
    assertion && el("p", {}, "The server issued an assertion, a signed JWT, to this page:"),
    facts("claims", held),
    Object.keys(more).length > 0 && el("h2", {}, "About the passkey"),
    facts("reply", more),
    adds && el("h2", {}, "Add a passkey"),
    adds && form({ id: "add-form" },
      el("p", { class: "hint" }, "By POST /register/passkey/start and /finish, with the assertion as bearer token."),
      el("div", { class: "field" }, el("label", { for: "passkey-name" }, "Its name ", el("span", { class: "optional" }, "(optional)")), name),
      button("Add a passkey", { id: "add-passkey", type: "submit", class: "primary" }, () => addPasskey(held.sub, name.value.trim()))),
    button("Sign out", { id: "sign-out" }, home));
}

function facts(id, values) {
  const text = (name, value) => (["exp", "iat", "auth_time"].includes(name) ? new Date(value * 1000).toLocaleString() : [value].flat().join(", "));
  const rows = Object.entries(values).map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", { "data-claim": name }, text(name, value))));
  return rows.length > 0 && el("dl", { id }, ...rows);
}

const start = (flowType) => attempt("One moment…", async () => show(await execute({ applicationId: state.applicationId, flowType })));

/** Shows a step and records when it arrived. */
const execute = async (body, secret) => ({ ...(await post("/flow/execute", { ...body, verbose: true }, { secret })), at: Date.now() });

const answer = async (action, inputs) => show(await send(action, inputs));

/** Sends an answer to the step; the challenge token ties it to that step. */
async function send(action, inputs) {
  const { executionId, challengeToken, data } = state.step;
  const secret = (data.inputs ?? []).filter((i) => /PASSWORD|OTP/.test(i.type)).map((i) => i.identifier);
  const open = Object.entries(inputs).filter(([name]) => !secret.includes(name));
  Object.assign(state.typed, Object.fromEntries(open));
  return execute({ executionId, challengeToken, action, inputs }, secret);
}

function show(reply) {
  const problem = words(reply.error) || reply.failureReason || "";
  if (reply.flowStatus === "INCOMPLETE") {
    state.step = reply;
    if (reply.data.redirectURL && !problem) return depart(reply);
    view("step", ...renderStep(reply, { values: state.typed, act, autofill: mediates(reply) && state.autofill }),
      reply.data.inputs?.some((i) => i.identifier === "email") && el("p", { class: "hint", id: "why-email" }, "Without an email you cannot recover the account."),
      button("Start again", { id: "start-again", class: "quiet" }, () => attempt("", home)), mailbox());
    complain(problem);
    return;
  }
  if (reply.flowStatus === "COMPLETE") {
    signedIn(reply.assertion ? "You are signed in" : "Done", reply.assertion, reply.data?.additionalData);
    return;
  }
  home();
  complain(problem || "The flow ended without success.");
}

// Another provider returns to the hosted page /gate/callback, which finds here, under the state of the
// request, that the response is for this page. Other tabs cannot read it.
const away = (state) => `away:${state}`;
const kept = (state) => `try:${state}`;

/** Leaves for another provider, and stores what the answer needs. */
function depart({ executionId, challengeToken, data }) {
  const { protocol, href, searchParams } = new URL(data.redirectURL);
  const key = searchParams.get("state");
  if (!/^https?:$/.test(protocol) || !key) throw new Refusal("", "The provider's address is not valid.");
  sessionStorage.setItem(away(key), JSON.stringify({ back: location.pathname }));
  sessionStorage.setItem(kept(key), JSON.stringify({ executionId, challengeToken }));
  location.assign(href);
}

/** Answers the step with the provider's response in the address, if this tab requested it. */
function arrive() {
  const query = new URLSearchParams(location.search);
  const step = sessionStorage.getItem(kept(query.get("state")));
  if (!step) return undefined;
  sessionStorage.removeItem(kept(query.get("state")));
  history.replaceState(null, "", location.pathname);
  const inputs = Object.fromEntries(["code", "state", "iss", "error"].filter((name) => query.has(name)).map((name) => [name, query.get(name)]));
  return attempt("One moment…", async () => show(await execute({ ...JSON.parse(step), inputs }, Object.keys(inputs))));
}

function act(component, node) {
  const inputs = collect(node);
  if (component.eventType !== "TRIGGER") {
    return attempt("One moment…", () => answer(component.id, inputs));
  }
  return attempt("Waiting for your device…", async () => {
    const { stepId } = state.step;
    // The step's options may have expired.
    if (!options() || Date.now() - state.step.at > 0.8 * options().timeout) await answer(component.id, inputs);
    if (!options()) return;
    const run = state.step.data.additionalData.passkeyCreationOptions ? passkey.create : passkey.get;
    const result = passkey.flowInputs(await ceremony(run, options()));
    // The ceremony may be that of a next step with its own actions.
    await (state.step.stepId === stepId ? answer(component.id, { ...inputs, ...result }) : answer(trigger(state.step)?.id, result));
  });
}

/** The options of the step's ceremony, if it has one. */
function options() {
  const { passkeyCreationOptions, passkeyChallenge } = state.step?.data.additionalData ?? {};
  return (passkeyCreationOptions || passkeyChallenge) && JSON.parse(passkeyCreationOptions || passkeyChallenge);
}

const mediates = (reply) => reply?.data.additionalData?.passkeyMediation === "conditional";

/** Lets passkeys wait in the field's autofill until the user picks one. */
async function waitInAutofill() {
  const step = state.step;
  if (!state.autofill || !mediates(step) || state.busy) return;
  const action = trigger(step)?.id;
  const renewal = setTimeout(() => renew(step, action), 0.8 * (options().timeout ?? 300000));
  try {
    const credential = await passkey.get(options(), "conditional");
    if (state.step !== step || state.busy) return;
    await attempt("Signing in…", () => answer(action, passkey.flowInputs(credential)));
  } catch {
    // The user did not start this ceremony, so its end is not shown.
  } finally {
    clearTimeout(renewal);
  }
}

/** Gets a new challenge before the waiting one expires. */
function renew(step, action) {
  if (state.step !== step || state.busy) return;
  if (document.hidden) {
    document.addEventListener("visibilitychange", () => renew(step, action), { once: true });
    return;
  }
  attempt("", async () => {
    const reply = await send(action, {});
    // Keep what the user is typing.
    if (reply.stepId === step.stepId) state.step = reply;
    else show(reply);
  });
}

const addPasskey = (userId, credentialName) => attempt("Waiting for your device…", async () => {
  const token = state.assertion;
  const begun = await post("/register/passkey/start", {
    userId, authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" }, attestation: "none",
  }, { token });
  const publicKeyCredential = await ceremony(passkey.create, begun.publicKeyCredentialCreationOptions);
  const made = await post("/register/passkey/finish", {
    publicKeyCredential, sessionToken: begun.sessionToken, credentialName: credentialName || undefined,
  }, { token });
  byId("passkey-name").value = "";
  byId("status").textContent = `Added the passkey “${made.CredentialName}”.`;
});

function signInAtomically() {
  return attempt("Waiting for your device…", async () => {
    const begun = await post("/auth/passkey/start", {});
    const publicKeyCredential = await ceremony(passkey.get, begun.publicKeyCredentialRequestOptions);
    const { assertion, ...user } = await post("/auth/passkey/finish", {
      publicKeyCredential, sessionToken: begun.sessionToken, skipAssertion: false,
    });
    signedIn("You are signed in", assertion, user);
  });
}

async function begin() {
  byId("cancel").addEventListener("click", () => passkey.stop());
  state.autofill = await passkey.hasAutofill();
  const config = await fetch("config.json").then((r) => r.json());
  Object.assign(state, config);
  home();
  await arrive();
}

begin().catch((error) => complain(`This page could not start: ${error.message}`));
