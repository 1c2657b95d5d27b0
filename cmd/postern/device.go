package main

import "strings"

// deviceOf describes the User-Agent of a session: the browser and the system that it states, such as "Firefox on
// Linux". It returns others as they are.
func deviceOf(agent string) string {
	// Browsers state the names of those that they are compatible with, so the order counts.
	browser := firstMatch(agent, [][2]string{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"}, {"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}})
	system := firstMatch(agent, [][2]string{{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"}})
	switch {
	case browser == "":
		return agent
	case system == "":
		return browser
	}
	return browser + " on " + system
}

func firstMatch(text string, names [][2]string) string {
	for _, name := range names {
		if strings.Contains(text, name[0]) {
			return name[1]
		}
	}
	return ""
}
