// Runs a flow: signing in and up, consent, and whatever else a flow asks.
import { button, byId, el } from "./dom.js";
import { Refusal, address, assertion, call, go, params, remember } from "./wire.js";
import { attempt, ceremony, complain, focus, isBusy, message, note, tell, view } from "./page.js";
import { collect, mediates, options, renderStep, trigger } from "./step.js";
import { t } from "./words.js";
import * as passkey from "./passkey.js";

const run = {
	page: "", // signin, signup or consent
	applicationId: "",
	meta: {},
	autofill: false, // the browser can offer passkeys in a field
	reply: null, // the step that waits for an answer
	typed: {}, // what the person entered, without secrets
	used: {}, // the passkey that was sent last
};

/** Begins the page's run, or finds it again, while meta, how the application looks, is on its way. */
export async function begin(page, applicationId, meta) {
	Object.assign(run, { page, applicationId, typed: { username: params.get("login_hint") ?? "" } });
	const first = params.has("executionId") ? current() : start();
	first.catch(() => {}); // it is awaited below
	[run.meta, run.autofill] = await Promise.all([meta, passkey.hasAutofill().catch(() => false)]);
	await task(null, async () => show(await first));
	// A page that the browser kept and shows again on the way back may be behind.
	addEventListener("pageshow", ({ persisted }) => persisted && task(null, async () => show(await current())));
}

const task = (pressed, work) => attempt(pressed, work, recover).then(waitInAutofill);

/** Takes a step. The reply tells when its passkey options were made, 0 where nobody knows. */
async function execute(body) {
	const at = body.action || body.flowType ? Date.now() : 0;
	return { data: {}, ...(await call("POST", "flow/execute", { body: { ...body, verbose: true } })), at };
}

// A run in the middle of which somebody consents is not begun here.
const startable = () => run.applicationId && run.page !== "consent";

async function start() {
	if (!startable()) throw new Refusal({ code: "no_task" });
	return execute({ applicationId: run.applicationId, flowType: run.page === "signup" ? "REGISTRATION" : "AUTHENTICATION" });
}

/** The step at which the run stands. */
const current = () => execute({ executionId: params.get("executionId") });

/** Answers the step. The challenge token ties the answer to it. */
function send(action, inputs) {
	const { executionId, challengeToken } = run.reply;
	return execute({ executionId, challengeToken, action, inputs });
}

/** Answers the step's ceremony. */
function sendCredential(credential, inputs = {}) {
	run.used = { rpId: options(run.reply).rpId, id: credential.id };
	return send(trigger(run.reply).id, { ...inputs, ...passkey.flowInputs(credential) });
}

async function recover(error) {
	const again = (reply, text) => {
		show(reply);
		note(t(text));
	};
	if (error.code === "stale_step") return current().then((reply) => again(reply, "caughtUp")).catch(recover);
	if (error.code === "execution_not_found" && startable()) return start().then((reply) => again(reply, "restarted")).catch(over);
	if (!run.reply) return over(error);
	complain(error);
	return focus();
}

/** Shows where the run stands, or leaves the page with what came of it. */
function show(reply) {
	const { data, error } = reply;
	if (error?.description?.key === "error.unknown_passkey") passkey.disown(run.used.rpId, run.used.id);
	if (data.redirectURL) return leave(data.redirectURL);
	if (reply.flowStatus === "COMPLETE") return finish(reply);
	if (reply.flowStatus !== "INCOMPLETE") return over(error ?? {});
	run.reply = reply;
	params.set("executionId", reply.executionId);
	remember();
	view("step", renderStep(reply, { act, typed: run.typed, autofill: run.autofill, registers: run.page === "signup" }), otherWay());
	byId("view").dataset.step = reply.stepId;
	if (error) complain(error);
	return focus();
}

/** The link from signing in to signing up, or back. */
function otherWay() {
	if (!startable() || !run.meta.isRegistrationFlowEnabled) return null;
	const [question, label, page] = run.page === "signin" ? ["newHere", "signUp", "signup"] : ["knownHere", "signIn", "signin"];
	return el("p", { class: "other" }, `${t(question)} `, el("a", { href: address(page, "applicationId", "authId", "login_hint") }, t(label)));
}

/** Answers the step by an ACTION. A TRIGGER runs the passkey ceremony of the step, or of the one it leads to. */
function act(component, pressed, elsewhere) {
	const { inputs, typed } = collect(pressed);
	Object.assign(run.typed, typed);
	tell(t("wait"));
	return task(pressed, async () => {
		if (component.eventType !== "TRIGGER") return show(await send(component.id, inputs));
		if (expiry(run.reply) < Date.now()) await renew(component.id, inputs);
		const action = run.reply?.error ? undefined : trigger(run.reply);
		if (!action) return undefined;
		byId(`action-${action.id}`).classList.add("working");
		return show(await sendCredential(await ceremony(options(run.reply), elsewhere), inputs));
	});
}

/** When the step's passkey options are too old to be used; 0 if it has none. */
const expiry = (reply) => (options(reply) ? reply.at + 0.8 * (options(reply).timeout ?? 300000) : 0);

/** Gets new options. The same step looks the same: what is being typed is left alone. */
async function renew(action, inputs) {
	const { stepId } = run.reply;
	const reply = await send(action, inputs);
	if (reply.stepId === stepId && !reply.error && !reply.data.fieldErrors) run.reply = reply;
	else show(reply);
}

/** Lets passkeys wait in a field's autofill until the person picks one. */
async function waitInAutofill() {
	const { reply } = run;
	if (!run.autofill || !mediates(reply) || isBusy()) return;
	const { id } = trigger(reply);
	const renewal = () => {
		if (run.reply !== reply || isBusy()) return;
		// For a page that nobody looks at the run need not be kept alive.
		if (document.hidden) document.addEventListener("visibilitychange", renewal, { once: true });
		else task(null, () => renew(id, {}));
	};
	const timer = setTimeout(renewal, expiry(reply) - Date.now());
	try {
		const credential = await passkey.wait(options(reply));
		if (run.reply === reply) await task(byId(`action-${id}`), async () => show(await sendCredential(credential)));
	} catch {
		// Nobody asked for this ceremony, so nobody is told that it ended.
	}
	clearTimeout(timer);
}

/** Goes where the run's end leads: back to the application, or to the account. */
async function finish(reply) {
	run.reply = null;
	const authId = params.get("authId");
	if (!reply.assertion) return message("done", t("done"), t("doneText"));
	if (authId) return leave((await call("POST", "oauth2/auth/callback", { body: { authId, assertion: reply.assertion } })).redirect_uri);
	assertion.keep(reply.assertion);
	return leave(address("account"));
}

/** Leaves for an address, and shows a link to it: an app's own scheme leaves the page standing. */
function leave(url) {
	const href = go(url);
	run.reply = null;
	message("leaving", t("done"), t("leaving", { app: run.meta.application?.name }), el("a", { class: "button", href }, t("goOn")));
}

/** The run has ended without success. */
function over(error) {
	run.reply = null;
	params.delete("executionId");
	remember();
	message("over", t("over"), "", startable() && button(t("again"), { id: "again", class: "primary" }, (pressed) => task(pressed, async () => show(await start()))));
	complain(error);
	byId("heading").focus();
}
