package main

import (
	"fmt"
	"html"
	"strings"

	"github.com/postern-id/postern/internal/design"
)

// Sizes of the chart in pixels.
const (
	labelWidth = 170
	barWidth   = 520
	rowHeight  = 34
	headHeight = 56
)

// chart draws the processor time of the server per unit as an SVG: a group for each scenario, a bar
// for each store and number of users, and a line at the target.
func chart(results []result) string {
	var names []string
	most := 0.0
	rows := map[string][]result{}
	for _, r := range results {
		if len(rows[r.scenario]) == 0 {
			names = append(names, r.scenario)
		}
		rows[r.scenario] = append(rows[r.scenario], r)
		most = max(most, r.each(milliseconds(r.server)), r.target)
	}
	var b strings.Builder
	y := headHeight
	for _, name := range names {
		y = drawGroup(&b, y, name, rows[name], barWidth/max(most, 0.001))
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="12">
<rect width="100%%" height="100%%" fill="%s"/>
<g fill="%s">
<text x="8" y="20" font-size="15" font-weight="600">Processor time of the server per unit, in milliseconds</text>
<text x="8" y="40">green: SQLite, blue: PostgreSQL, red line: target</text>
%s</g>
</svg>
`, labelWidth+barWidth+70, y+8, color("surface"), color("ink"), b.String())
}

// color returns a token of the design.
func color(token string) string { return design.Token(token, design.Light) }

// drawGroup draws the bars of a scenario at y and returns where the next group starts. scale is in
// pixels per millisecond.
func drawGroup(b *strings.Builder, y int, name string, rows []result, scale float64) (next int) {
	height := max(8, (rowHeight-10)/len(rows))
	fmt.Fprintf(b, "<text x=\"8\" y=\"%d\">%s</text>\n", y+14, html.EscapeString(name))
	for i, r := range rows {
		cost := r.each(milliseconds(r.server))
		fill := color(map[string]string{"sqlite": "green", "postgres": "blue"}[r.driver])
		top := y + i*height
		fmt.Fprintf(b, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/><text x=\"%.1f\" y=\"%d\" font-size=\"10\">%.3f</text>\n",
			labelWidth, top, cost*scale, height-1, fill, labelWidth+cost*scale+4, top+height-2, cost)
	}
	next = y + len(rows)*height + 10
	if target := rows[0].target; target > 0 {
		x := labelWidth + target*scale
		fmt.Fprintf(b, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"2\"/>\n", x, x, y-2, next-8, color("red"))
	}
	return next
}
