// Runs a flow: signing in and up, consent, and whatever else a flow asks.
import { button, byId, el, icon } from "./dom.js";
import { Refusal, address, call, go, params, remember, trace } from "./wire.js";
import { attempt, ceremony, complain, fail, focus, isBusy, message, note, tell, view, way } from "./page.js";
import { depart } from "./callback.js";
import { answered, collect, mediates, options, renderStep, trigger } from "./step.js";
import { tellFormer } from "./former.js";
import { explain, t } from "./words.js";
import * as passkey from "./passkey.js";

let page = ""; // signin, signup, recover, invitation, address or consent
let applicationId = "";
let meta = {};
let autofill = false; // the browser can offer passkeys in a field
let reply = null; // the step that waits for an answer
let invitee = ""; // the account of an accepted invitation, once a step names it
let used = {}; // the passkey that was sent last
const typed = {}; // what the person entered, without secrets

// Starts the page's run, resumes it, or continues it with another provider's answer.
export async function begin(name, id, looks, answer) {
	[page, applicationId, typed.username] = [name, id, params.get("login_hint") ?? ""];
	const begun = params.has("begun") ? Date.now() : 0;
	params.delete("begun");
	const first = answer ? execute(answer) : params.has("executionId") ? current(begun) : start();
	first.catch(() => {}); // it is awaited below
	[meta, autofill] = await Promise.all([looks, passkey.hasAutofill().catch(() => false)]);
	await task(null, () => first);
	// A page that the browser kept and shows again on the way back may be behind.
	addEventListener("pageshow", ({ persisted }) => persisted && task(null, current));
}

const task = (pressed, work) => attempt(pressed, () => work().then(show), recover).then(waitInAutofill);

// Takes a step. "at" is when the user asked for it, 0 if the page was only reloaded.
async function execute(body, begun = 0) {
	const at = body.action || body.flowType ? Date.now() : begun;
	return { data: {}, ...(await call("POST", "flow/execute", { ...body, verbose: true })), at };
}

// A run with a consent step is not started here.
const startable = () => applicationId && page !== "consent";

async function start() {
	if (!startable()) throw new Refusal({ code: "no_task" });
	return execute({ applicationId, authId: params.get("authId") ?? undefined, flowType: { signup: "REGISTRATION", recover: "RECOVERY", invitation: "INVITATION", address: "ADDRESS_CHANGE" }[page] ?? "AUTHENTICATION" });
}

const current = (begun) => execute({ executionId: params.get("executionId") }, begun);

// Answers the step. The challenge token ties the answer to it.
function send(action, inputs) {
	const { executionId, challengeToken } = reply;
	// The token of an invitation is the fragment of the address, which browsers send to no server.
	const asksToken = reply.data.inputs?.some(({ identifier }) => identifier === "invitation");
	return execute({ executionId, challengeToken, action, inputs: asksToken ? { ...inputs, invitation: location.hash.slice(1) } : inputs });
}

function sendCredential(credential, inputs) {
	used = { rpId: options(reply).rpId, id: credential.id };
	return send(trigger(reply).id, { ...inputs, ...passkey.flowInputs(credential) });
}

async function recover(error) {
	const again = (step, text) => step.then((answer) => show({ ...answer, at: 0 })).then(() => note(t(text)));
	if (error.code === "stale_step") return again(current(), "You continued elsewhere. This is the current step.").catch(recover);
	if (error.code === "execution_not_found" && startable()) return again(start(), "That took too long, so we started again.").catch(over);
	if (!reply || isLost(error)) return over(error);
	complain(error);
	return focus();
}

// Shows the current step, or leaves the page when the run is over.
function show(answer) {
	if (!answer) return undefined;
	const { data, error } = answer;
	// All servers on localhost have this relying party id: the passkey may belong to another one.
	if (error?.description?.key === "error.unknown_passkey" && used.rpId !== "localhost") passkey.disown(used.rpId, used.id);
	if (answer.flowStatus !== "INCOMPLETE") {
		if (error?.code === "denied") return denied(error, data.redirectURL);
		const former = data.additionalData?.addedWithFormerPassword;
		if (former && !answer.shown) return tellFormer(JSON.parse(former), (pressed) => task(pressed, async () => ({ ...answer, shown: true })));
		if (data.redirectURL) return leave(data.redirectURL);
		return answer.flowStatus === "COMPLETE" ? finish(answer) : over(error ?? {});
	}
	reply = answer;
	params.set("executionId", answer.executionId);
	remember();
	const [title, ...rest] = renderStep(answer, { act, typed, autofill, registers: page === "signup", application: asks() });
	view("step", title, page === "invitation" && invited(answer), rest, otherWay());
	byId("view").dataset.step = answer.stepId;
	if (error) complain(error);
	focus();
	// After the Back button the user finds a button here: redirects must not loop.
	return data.redirectURL && answer.at && !error ? depart(page, answer) : undefined;
}

// What an invitation is for. Only the holder of its link reaches the step that names the account.
function invited(answer) {
	const { name, unverified } = meta.application ?? {};
	invitee = options(answer)?.user?.name ?? invitee;
	return [name && !unverified && el("p", { class: "lead" }, t("This invitation is for your account at {app}.", { app: name })),
		invitee && el("p", { class: "account", id: "invitee" }, icon("user"), invitee)].filter(Boolean);
}

// The application that the user signs in to here, if it is not the account page.
const asks = () => page === "signin" && params.has("applicationId") && meta.application;

function otherWay() {
	if (!startable() || ["invitation", "address"].includes(page)) return null;
	const link = (question, label, other) => el("p", { class: "other" }, question && `${t(question)} `,
		el("a", { id: `to-${other}`, href: address(other, "applicationId", "authId", "login_hint") }, t(label)));
	if (page === "recover") return link("", "Back to the sign-in", "signin");
	const { isRecoveryFlowEnabled: recovers, isRegistrationFlowEnabled: registers } = meta;
	if (page === "signup") return registers && link("Have an account?", "Sign in", "signin");
	return [registers && link("New here?", "Create an account", "signup"), recovers && link("", "Trouble signing in?", "recover")];
}

// Answers the step by an ACTION. A TRIGGER runs the passkey ceremony of the step, or of the one it leads to.
function act(component, pressed, elsewhere) {
	const entered = collect(pressed);
	Object.assign(typed, entered.typed);
	tell(t("One moment…"));
	return task(pressed, async () => {
		if (component.eventType !== "TRIGGER") return goOn(await send(component.id, entered.inputs), pressed);
		if (expiry() < Date.now()) await renew(component.id, entered.inputs);
		const action = reply && !reply.error && trigger(reply);
		if (!action) return undefined;
		byId(`action-${action.id}`).classList.add("working");
		return sendCredential(await ceremony(options(reply), elsewhere), entered.inputs);
	});
}

// A name that was entered before the flow asked for it is not asked for again.
function goOn(answer, pressed) {
	const name = "carries" in pressed.dataset && !answer.error && answered(answer, typed);
	if (!name) return answer;
	reply = answer;
	return send(name.action, name.inputs);
}

// When the step's passkey options are too old to be used, 0 if it has none.
const expiry = () => (options(reply) ? reply.at + 0.8 * (options(reply).timeout ?? 300000) : 0);

// Gets new options without touching what the user types.
async function renew(action, inputs) {
	const answer = await send(action, inputs);
	if (options(answer) && answer.stepId === reply.stepId && !answer.error && !answer.data.fieldErrors) reply = answer;
	else await show(answer);
}

// Lets passkeys wait in the field's autofill until the person picks one.
async function waitInAutofill() {
	if (!autofill || !mediates(reply) || isBusy()) return;
	const step = reply;
	const { id } = trigger(step);
	const renewal = () => {
		if (reply !== step || isBusy()) return;
		// A hidden page need not keep the run alive.
		if (document.hidden) document.addEventListener("visibilitychange", renewal, { once: true });
		else task(null, () => renew(id, {}));
	};
	const timer = setTimeout(renewal, expiry() - Date.now());
	try {
		const credential = await passkey.wait(options(step));
		if (reply === step) await task(byId(`action-${id}`), () => sendCredential(credential));
	} catch {
		// The user did not request this ceremony, so its end is not shown.
	}
	clearTimeout(timer);
}

// Goes back to the application, or to the account page.
async function finish({ assertion }) {
	reply = null;
	const authId = params.get("authId");
	if (!assertion) return message("done", t("done"));
	if (authId) return leave((await call("POST", "oauth2/auth/callback", { authId, assertion })).redirect_uri);
	if (page === "invitation" && /^https?:/.test(meta.application?.url)) return leave(meta.application.url);
	params.set("begun", "1");
	return leave(address("account", "begun"));
}

// Leaves for an address, and shows a link to it: an app's own scheme leaves the page standing.
function leave(url) {
	const href = go(url);
	reply = null;
	message("leaving", t("Back to {app}", { app: meta.application?.name }), "", el("a", { class: "button", href }, t("Continue")));
}

// Shows why the flow denies the sign-in. The application gets its error when the user goes on.
function denied(error, url) {
	if (!url) return over(error);
	reply = null;
	params.delete("executionId");
	remember();
	message("denied", t("over"), explain(error).text, el("a", { class: "button", href: url }, t("Back to {app}", { app: meta.application?.name })));
	return byId("heading").focus();
}

const isLost = ({ code, key }) => code === "auth_request_not_found" || key === "oauth.lost";

// Leads to the page about sign-ins that are over or another browser's: only the application can start another.
const lose = () => go(`${address("error", "applicationId")}&${new URLSearchParams({ error: "lost", traceId: trace })}`);

function over(error) {
	reply = null;
	params.delete("executionId");
	remember();
	if (isLost(error)) return lose();
	return fail({ traceId: trace, ...error }, startable() && button(t("again"), { id: "again", class: "primary" }, (pressed) => task(pressed, start)),
		way(params.has("applicationId") ? meta.application : undefined));
}
