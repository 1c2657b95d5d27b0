package schemas

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Themes
//
// Pages put the values of a theme into styles and addresses: those of this server, and those that
// applications make themselves from GET /flow/meta. So a theme contains only values that cannot be
// anything else: colors, lengths, fonts and addresses of pictures. Members that the hosted pages do not
// know may have other texts, without the characters that end a declaration or begin markup.

// themeRule is the form of a member of a theme.
type themeRule struct {
	form   *regexp.Regexp
	expect string
}

var (
	themeColor = themeRule{regexp.MustCompile(`^(#[0-9A-Fa-f]{3,8}|[A-Za-z]{1,30}|(rgb|rgba|hsl|hsla|hwb|lab|lch|oklab|oklch|color)\([A-Za-z0-9.,%/ +-]{1,80}\))$`),
		"a CSS color such as #1c6b52"}
	themeLength = themeRule{regexp.MustCompile(`^[0-9]{0,5}(\.[0-9]{1,5})?(px|em|rem|ex|ch|vw|vh|pt|mm|cm|in|%)?$`), "a CSS length such as 4px"}
	themeFont   = themeRule{regexp.MustCompile(`^[\p{L}\p{N} ,'"_.-]{0,300}$`), "CSS font families such as Georgia, serif"}
	themeURL    = themeRule{regexp.MustCompile(`^(https?://[^\s"'()<>\\{};]+|/([^/\s"'()<>\\{};][^\s"'()<>\\{};]*)?|data:image/(png|jpeg|gif|webp|svg\+xml|x-icon|vnd\.microsoft\.icon);base64,[A-Za-z0-9+/]+=*)?$`),
		"the address of a picture or font: https://…, a path of this server, or data:image/png;base64,…"}
	themeText = themeRule{regexp.MustCompile(`^[^;{}<>\\"@\x00-\x1f]*$`), `a text without the characters ; { } < > \ " and @`}

	themeRules = map[string]themeRule{
		"colors.primary": themeColor, "colors.background": themeColor, "dark.colors.primary": themeColor, "dark.colors.background": themeColor,
		"radius": themeLength, "font": themeFont, "fontUrl": themeURL, "logoUrl": themeURL, "faviconUrl": themeURL, "backgroundUrl": themeURL,
	}
	// anyScheme begins an address that runs as a script, or whatever it is the address of.
	anyScheme = regexp.MustCompile(`(?i)^\s*[a-z][a-z0-9+.-]*:`)
	// cssCall loads a resource, or is evaluated.
	cssCall = regexp.MustCompile(`(?i)(url|src|image|image-set|expression|element)\s*\(`)
)

// CheckTheme returns the problems of a theme, whose path is at.
func CheckTheme(at string, theme map[string]any) (problems []Problem) {
	for _, name := range slices.Sorted(maps.Keys(theme)) {
		_, problems = cleanThemeValue(at, name, theme[name], problems)
	}
	return problems
}

// SafeTheme returns a theme without the values that CheckTheme reports: a theme from before the check.
func SafeTheme(theme map[string]any) map[string]any {
	safe := map[string]any{}
	for name, value := range theme {
		if kept, problems := cleanThemeValue("", name, value, nil); len(problems) == 0 || isThemeContainer(value) {
			safe[name] = kept
		}
	}
	return safe
}

func isThemeContainer(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// cleanThemeValue returns what is safe of the value of a member, and adds its problems. name is its path in the theme.
func cleanThemeValue(at, name string, value any, problems []Problem) (any, []Problem) {
	report := func(expect string) {
		problems = append(problems, Problem{Path: JoinPath(at, name), Message: "expected " + expect})
	}
	keep := func(key string, part any, add func(any)) {
		before := len(problems)
		var kept any
		kept, problems = cleanThemeValue(at, key, part, problems)
		if len(problems) == before || isThemeContainer(part) {
			add(kept)
		}
	}
	rule, known := themeRules[name]
	switch v := value.(type) {
	case map[string]any:
		if known {
			report(rule.expect)
			return map[string]any{}, problems
		}
		safe := map[string]any{}
		for _, member := range slices.Sorted(maps.Keys(v)) {
			if !themeText.form.MatchString(member) {
				report("members whose names are " + themeText.expect)
				continue
			}
			keep(name+"."+member, v[member], func(kept any) { safe[member] = kept })
		}
		return safe, problems
	case []any:
		if known {
			report(rule.expect)
			return []any{}, problems
		}
		safe := []any{}
		for i, item := range v {
			keep(fmt.Sprintf("%s[%d]", name, i), item, func(kept any) { safe = append(safe, kept) })
		}
		return safe, problems
	case string:
		if expect := checkThemeText(name, v, rule, known); expect != "" {
			report(expect)
		}
	default:
		if known && value != nil {
			report(rule.expect + ", as a text")
		}
	}
	return value, problems
}

// checkThemeText returns what is expected instead of a text; "" if it is fine.
func checkThemeText(name, text string, rule themeRule, known bool) string {
	lower := strings.ToLower(name)
	if !known && (strings.HasSuffix(lower, "url") || strings.HasSuffix(lower, "uri") || strings.HasSuffix(lower, "href") || anyScheme.MatchString(text)) {
		rule, known = themeURL, true
	}
	switch {
	case known && !rule.form.MatchString(text):
		return rule.expect
	case !known && (!themeText.form.MatchString(text) || cssCall.MatchString(text)):
		return themeText.expect + ", and without url(…)"
	}
	return ""
}
