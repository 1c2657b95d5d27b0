package e2e_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"
)

var keystrokes = flag.Int("keystrokes", 2, "how many keystrokes TestConsoleFindsWhileTyping measures")

// largeFlow returns a flow of n nodes, most of them prompts with a way back.
func largeFlow(n int) object {
	id := func(i int) string { return fmt.Sprint("ask", i) }
	var nodes []object
	for i := range n - 2 {
		next := id(i + 1)
		if i == n-3 {
			next = "key"
		}
		nodes = append(nodes, object{"id": id(i), "use": "prompt", "next": object{"continue": next, "back": id(max(0, i-7))}, "with": object{
			"title":   fmt.Sprint("Question ", i),
			"inputs":  []object{{"identifier": fmt.Sprint("answer", i), "type": "TEXT_INPUT", "label": "Answer", "required": true}},
			"actions": []object{{"ref": "continue", "label": "Continue"}, {"ref": "back", "label": "Back"}},
		}})
	}
	nodes = append(nodes, object{"id": "key", "use": "passkey-authenticate", "with": object{"mode": "usernameless"}, "next": "done"}, object{"id": "done", "use": "authorization-code"})
	return object{"handle": "large", "name": "Large", "flowType": "AUTHENTICATION", "nodes": nodes}
}

// typing is a script with functions that type into the editor. atRest waits until the worker has
// answered each call, and asks for nothing more; calls has the names of those since it was emptied.
const typing = `
	const content = document.querySelector(".cm-content");
	const pause = (ms) => new Promise((done) => setTimeout(done, ms));
	const calls = [], open = new Set(), heard = new WeakSet();
	let checked = 0, answered = 0, checkID; // when the check was called, and when its answer arrived
	const post = Worker.prototype.postMessage;
	Worker.prototype.postMessage = function (message) {
		calls.push(message.name);
		if (message.name === "check") {
			checked = performance.now();
			checkID = message.id;
		}
		open.add(message.id);
		if (!heard.has(this)) {
			heard.add(this);
			const receive = this.onmessage;
			this.onmessage = (event) => {
				open.delete(event.data.id);
				if (event.data.id === checkID) answered = performance.now();
				receive.call(this, event);
			};
		}
		return post.apply(this, arguments);
	};
	const atRest = async () => {
		for (let quiet = 0; quiet < 5;) {
			const before = calls.length;
			await pause(100);
			quiet = open.size === 0 && calls.length === before ? quiet + 1 : 0;
		}
	};
	const place = (after) => {
		const line = [...content.querySelectorAll(".cm-line")].find((l) => l.textContent.includes(after));
		const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
		let offset = line.textContent.indexOf(after) + after.length;
		for (let t = walker.nextNode(); t; t = walker.nextNode()) {
			if (offset <= t.length) return [t, offset];
			offset -= t.length;
		}
	};
	const goAfter = async (text) => {
		content.focus();
		getSelection().collapse(...place(text));
		await atRest();
	};
	const layouts = () => performance.getEntriesByName("flow layout").length;`

// typeTarget types a letter after the target of a node and removes it, n times. It returns for each
// change the milliseconds until the editor shows its findings, until the check is called and until it is
// answered, the calls and the number of layouts of all changes.
const typeTarget = `(async () => {` + typing + `
	const isMarked = () => document.querySelector(".cm-lint-marker-error") !== null;
	const changes = [], before = layouts();
	await goAfter("continue: ask1");
	for (let i = 0; i < %d; i++) {
		for (const isTyped of [true, false]) {
			calls.length = 0;
			const start = performance.now();
			const shown = new Promise((done) => {
				const check = () => isMarked() === isTyped && (observer.disconnect(), done());
				const observer = new MutationObserver(check);
				observer.observe(document.body, {subtree: true, childList: true, attributes: true});
			});
			document.execCommand(isTyped ? "insertText" : "delete", false, "x");
			await shown;
			const end = performance.now();
			changes.push({ms: [end - start, checked - start, answered - start], calls: [...calls]});
			await atRest();
		}
	}
	Worker.prototype.postMessage = post;
	return {changes, layouts: layouts() - before};
})()`

// typeTitle types into the title of a node, and returns the number of layouts, and how often something
// in the graph changed.
const typeTitle = `(async () => {` + typing + `
	await goAfter("title: Question 0");
	const before = layouts();
	let drawn = 0;
	const observer = new MutationObserver((changes) => { drawn += changes.length; });
	observer.observe(document.querySelector(".graph"), {subtree: true, childList: true, attributes: true, characterData: true});
	for (const letter of "123") {
		document.execCommand("insertText", false, letter);
		await atRest();
	}
	observer.disconnect();
	Worker.prototype.postMessage = post;
	return {layouts: layouts() - before, drawn};
})()`

// The editor of a flow of 200 nodes shows the findings of each keystroke before anything else is done,
// and draws the graph again only if it changes. With -keystrokes it measures the time.
func TestConsoleFindsWhileTyping(t *testing.T) {
	t.Parallel()
	needChecker(t)
	p := serve(t)
	c := openConsole(t, p, "/flows/"+p.idOf(t, "/flows", largeFlow(200)))
	c.heading("Large")
	c.sees("No findings: the flow is safe.")
	typed := eval[struct {
		Changes []struct {
			MS    []float64 // until the findings are shown, until the check is called, and until it is answered
			Calls []string
		}
		Layouts int
	}](c.tab, fmt.Sprintf(typeTarget, *keystrokes))
	times := make([][]float64, 3)
	for _, change := range typed.Changes {
		for part, ms := range change.MS {
			times[part] = append(times[part], ms)
		}
		// Completions may follow while the check runs.
		if len(change.Calls) == 0 || change.Calls[0] != "check" || slices.Contains(change.Calls[1:], "check") {
			t.Errorf("before the findings the page calls %q, want one check before anything else", change.Calls)
		}
	}
	if len(times[0]) != 2**keystrokes {
		t.Fatalf("%d times", len(times[0]))
	}
	if typed.Layouts == 0 {
		t.Error("a change of the graph does not lay it out")
	}
	for part, name := range []string{"keystroke to findings", "keystroke to check", "keystroke to the checker's answer"} {
		list := slices.Sorted(slices.Values(times[part]))
		t.Logf("%s, 200 nodes: median %.1f ms, 95%% within %.1f ms, of %d changes", name, list[len(list)/2], list[len(list)*19/20], len(list))
	}
	title := eval[struct{ Layouts, Drawn int }](c.tab, typeTitle)
	if title.Layouts > 0 || title.Drawn > 0 {
		t.Errorf("typing in a title lays the graph out %d times, and changes it %d times", title.Layouts, title.Drawn)
	}
	c.sees("No findings: the flow is safe.")
	c.expectQuiet()
}
