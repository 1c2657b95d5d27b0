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

// typeAndWait types a letter after a text of the editor and removes it, n times, and returns for each
// change the milliseconds until the editor shows its findings. Nothing runs when a change begins.
const typeAndWait = `(async () => {
	const after = %q, n = %d, times = [];
	const content = document.querySelector(".cm-content");
	const place = () => {
		const line = [...content.querySelectorAll(".cm-line")].find((l) => l.textContent.includes(after));
		const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
		let offset = line.textContent.indexOf(after) + after.length;
		for (let t = walker.nextNode(); t; t = walker.nextNode()) {
			if (offset <= t.length) return [t, offset];
			offset -= t.length;
		}
	};
	const isMarked = () => document.querySelector(".cm-lint-marker-error") !== null;
	const pause = (ms) => new Promise((done) => setTimeout(done, ms));
	content.focus();
	getSelection().collapse(...place());
	await pause(500);
	for (let i = 0; i < n; i++) {
		for (const isTyped of [true, false]) {
			const start = performance.now();
			const shown = new Promise((done) => {
				const check = () => isMarked() === isTyped && (observer.disconnect(), done());
				const observer = new MutationObserver(check);
				observer.observe(document.body, {subtree: true, childList: true, attributes: true});
			});
			document.execCommand(isTyped ? "insertText" : "delete", false, "x");
			await shown;
			times.push(performance.now() - start);
			await pause(400);
		}
	}
	return times;
})()`

// The editor of a flow of 200 nodes shows the findings of each keystroke. With -keystrokes it measures
// the time.
func TestConsoleFindsWhileTyping(t *testing.T) {
	t.Parallel()
	needChecker(t)
	p := serve(t)
	c := openConsole(t, p, "/flows/"+p.idOf(t, "/flows", largeFlow(200)))
	c.heading("Large")
	c.sees("No findings: the flow is safe.")
	times := eval[[]float64](c.tab, fmt.Sprintf(typeAndWait, "continue: ask1", *keystrokes))
	slices.Sort(times)
	if len(times) != 2**keystrokes {
		t.Fatalf("%d times", len(times))
	}
	t.Logf("keystroke to findings, 200 nodes: median %.1f ms, 90%% within %.1f ms, of %d changes", times[len(times)/2], times[len(times)*9/10], len(times))
	c.expectQuiet()
}
