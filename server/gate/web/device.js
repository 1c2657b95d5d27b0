// Names browsers. The console uses this module, too.

// The browser and system of a User-Agent, or the program that it names first.
export function device(agent) {
	const find = (...names) => names.find((name) => agent.includes(name.split("=")[0]))?.split("=").at(-1);
	const browser = find("Edg=Edge", "OPR=Opera", "Firefox", "Chrome", "Safari");
	const system = find("iPhone", "iPad", "Android", "Windows", "Mac OS=macOS", "Linux");
	return browser && system ? `${browser} · ${system}` : agent.split("/")[0];
}
