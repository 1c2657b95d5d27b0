// Copy buttons for code, and "/" as the key of the search field. Pages work without this script.
"use strict";

function addCopyButton(block) {
	const button = document.createElement("button");
	button.type = "button";
	button.className = "copy";
	button.textContent = "Copy";
	button.setAttribute("aria-live", "polite");
	button.addEventListener("click", async () => {
		try {
			await navigator.clipboard.writeText(block.querySelector("code").textContent.replace(/\n$/, ""));
			button.textContent = "Copied";
		} catch {
			button.textContent = "Not copied";
		}
		setTimeout(() => { button.textContent = "Copy"; }, 2000);
	});
	block.append(button);
}

if (navigator.clipboard) document.querySelectorAll(".code").forEach(addCopyButton);

document.addEventListener("keydown", (event) => {
	const isTyping = event.target.matches("input, textarea, select, [contenteditable]");
	if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
		event.preventDefault();
		document.getElementById("q").focus();
	}
});
