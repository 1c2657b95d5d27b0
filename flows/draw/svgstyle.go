package draw

// styles contains the colors, by user state and mark. Viewers without media queries show the
// light ones.
const styles = `
text{font:11px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;text-anchor:middle;fill:#1b1b1b}
.start{text-anchor:start}
.title{font-size:15px;font-weight:600}
.id{font-size:13px;font-weight:600}
.kind{fill:#4b545d}
.gain{fill:#1b6e24}
.page{fill:#ffffff}
.pill{fill:#ffffff;stroke:#4b545d;stroke-width:1.2}
.twice{stroke-width:3}
.box{stroke-width:1.2}
.line{fill:none;stroke:#6e7781;stroke-width:1.3}
.head{fill:#6e7781}
.retry{stroke-dasharray:4 3}
.anyone .box{fill:#eceff1;stroke:#78909c}
.identified .box{fill:#fff3cd;stroke:#b8860b}
.created .box{fill:#d6e9ff;stroke:#2f6fb5}
.authenticated .box{fill:#d5f0d8;stroke:#2e7d32}
.line.tested{stroke:#2e7d32}
.head.tested{fill:#2e7d32}
.line.missed,.missed .box{stroke:#c62828}
.head.missed,.word.missed{fill:#c62828}
.missed .box{stroke-width:2.5;stroke-dasharray:6 4}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}
.kind{fill:#a9b4bf}
.gain{fill:#7ee787}
.page{fill:#0d1117}
.pill{fill:#0d1117;stroke:#a9b4bf}
.line{stroke:#8b949e}
.head{fill:#8b949e}
.anyone .box{fill:#26313a;stroke:#90a4ae}
.identified .box{fill:#40350f;stroke:#d4a72c}
.created .box{fill:#12304f;stroke:#6cb6ff}
.authenticated .box{fill:#173d20;stroke:#57ab5a}
.line.tested{stroke:#57ab5a}
.head.tested{fill:#57ab5a}
.line.missed,.missed .box{stroke:#ff7b72}
.head.missed,.word.missed{fill:#ff7b72}
}
`

// mark is an entry of the legend.
type mark struct{ class, text string }

// legend returns the entries for the colors in the picture.
func (p picture) legend() []mark {
	words := [...]string{"no user yet", "user identified", "user created by this run", "user authenticated"}
	var present [len(words)]bool
	for _, n := range p.nodes {
		present[n.user] = true
	}
	var list []mark
	for s, is := range present {
		if is {
			list = append(list, mark{userState(s).String(), words[s]})
		}
	}
	if p.coverage {
		list = append(list, mark{"anyone missed", "✗ not reached by a test"})
	}
	return list
}

const markWidth = 30 // of a mark's swatch and the gaps around it

func legendWidth(marks []mark) (w int) {
	for _, m := range marks {
		w += markWidth + textWidth(m.text, kindSize)
	}
	return w
}

// legend writes the entries on one line.
func (s *svgWriter) legend(marks []mark, y int) {
	x := margin
	for _, m := range marks {
		s.printf("<g class=\"%s\"><rect class=\"box\" x=\"%d\" y=\"%d\" width=\"14\" height=\"12\" rx=\"3\"/></g>\n", m.class, x, y-6)
		s.text(x+20, y+4, "kind start", m.text)
		x += markWidth + textWidth(m.text, kindSize)
	}
}
