// Shows a step as a page would, in a frame of the console. The console sends what to show, and gets
// what is pressed. Nothing here reaches the server.
import { attempt, complain, fail, message, view } from "./page.js";
import { collect, renderStep } from "./step.js";
import { languages } from "./languages.js";
import { dress } from "./theme.js";
import { override, t } from "./words.js";

export function begin() {
	addEventListener("message", ({ source, origin, data }) => {
		if (source === parent && origin === location.origin && data.step) show(data);
	});
	answer({ isReady: true, languages });
}

const answer = (data) => parent.postMessage(data, location.origin);

// Shows {meta, step, registers}: meta is a reply of GET /flow/meta.
function show({ meta, step, registers }) {
	const { application, brand, design, i18n } = meta;
	override(i18n?.translations?.gate);
	dress(brand, application, design?.theme);
	if (step.flowStatus === "ERROR") return fail(step.error ?? {});
	if (step.flowStatus === "COMPLETE") return message("done", t("done"));
	view("step", renderStep(step, { act, typed: {}, registers, application: !registers && application }));
	return step.error && complain(step.error);
}

const act = ({ id, eventType }, pressed) => attempt(pressed, () => answer({ action: id, eventType, inputs: collect(pressed).inputs }), complain);
