package main

import (
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/telemetry"
)

const (
	observabilityPage = "../../docs/observability.md"
	metricsBegin      = "<!-- metrics -->\n"
	metricsEnd        = "<!-- end of metrics -->\n"
)

// documentedMetrics are all metrics with those of the sources.
func documentedMetrics() *telemetry.Metrics {
	m := telemetry.NewMetrics("test", slog.New(slog.DiscardHandler))
	m.Watch(telemetry.Sources{})
	return m
}

// The table of docs/observability.md lists the metrics; -update writes it.
func TestObservabilityPage(t *testing.T) {
	text := datatest.ReadFile(t, observabilityPage)
	before, rest, begun := strings.Cut(string(text), metricsBegin)
	table, after, ended := strings.Cut(rest, metricsEnd)
	if !begun || !ended {
		t.Fatalf("%s has no table", observabilityPage)
	}
	want := "| metric | type | labels | meaning |\n|---|---|---|---|\n"
	for _, d := range documentedMetrics().Definitions() {
		labels := ""
		if len(d.Labels) > 0 {
			labels = "`" + strings.Join(d.Labels, "`, `") + "`"
		}
		want += fmt.Sprintf("| `%s` | %s | %s | %s |\n", d.Name, d.Type, labels, d.Help)
	}
	if *updateSchemas {
		datatest.WriteFile(t, observabilityPage, before+metricsBegin+want+metricsEnd+after)
		table = want
	}
	if table != want {
		t.Errorf("the table differs (go test ./cmd/postern -run TestObservabilityPage -update rewrites it); expected\n%s", want)
	}
	example := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(string(text))
	path := t.TempDir() + "/postern.yaml"
	datatest.WriteFile(t, path, example[1])
	if _, err := config.Load(path, nil); err != nil {
		t.Errorf("the example is no configuration: %v", err)
	}
}

// query is a PromQL expression with the labels that its results are shown with.
type query struct {
	place, expr string
	shown       []string
}

var shownLabels = regexp.MustCompile(`\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}`)

func newQuery(place, expr string, texts ...string) query {
	q := query{place: place, expr: expr}
	for _, text := range texts {
		for _, found := range shownLabels.FindAllStringSubmatch(text, -1) {
			q.shown = append(q.shown, found[1])
		}
	}
	return q
}

func dashboardQueries(t *testing.T) (list []query) {
	t.Helper()
	text := datatest.ReadFile(t, "../../docs/observability/dashboard.json")
	var dashboard struct {
		Templating struct {
			List []struct{ Type, Query string }
		}
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	datatest.Unmarshal(t, text, &dashboard)
	for _, v := range dashboard.Templating.List {
		if inner, ok := strings.CutPrefix(v.Query, "label_values("); ok {
			metric, _, _ := strings.Cut(inner, ",")
			list = append(list, newQuery("variable", metric))
		}
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			list = append(list, newQuery("panel "+p.Title, target.Expr, target.LegendFormat))
		}
	}
	return list
}

func alertQueries(t *testing.T) (list []query) {
	t.Helper()
	text := datatest.ReadFile(t, "../../docs/observability/alerts.yaml")
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &rules); err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			list = append(list, newQuery("alert "+r.Alert, r.Expr, slices.Collect(maps.Values(r.Annotations))...))
		}
	}
	return list
}

var (
	grouping = regexp.MustCompile(`\bby\s*\(([^)]*)\)`)
	window   = regexp.MustCompile(`\[[^\]]*\]`)
	selector = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_]*)(\{[^}]*\})?`)
	matcher  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"[^"]*"`)
)

// faults returns the unknown metrics, functions and labels of a query.
func (q query) faults(labels map[string][]string) (faults []string) {
	common := []string{"instance", "job"}
	functions := []string{"sum", "rate", "increase", "histogram_quantile", "absent", "max", "topk"}
	expr, named := window.ReplaceAllString(q.expr, ""), q.shown
	for _, by := range grouping.FindAllStringSubmatch(expr, -1) {
		named = append(named, strings.FieldsFunc(by[1], func(c rune) bool { return c == ',' || c == ' ' })...)
	}
	expr = grouping.ReplaceAllString(expr, "")
	available := slices.Clone(common)
	metrics := 0
	for _, found := range selector.FindAllStringSubmatch(expr, -1) {
		if slices.Contains(functions, found[1]) {
			continue
		}
		own, known := labels[found[1]]
		if !known {
			faults = append(faults, found[1])
			continue
		}
		metrics++
		own = append(slices.Clone(common), own...)
		available = append(available, own...)
		for _, m := range matcher.FindAllStringSubmatch(found[2], -1) {
			if !slices.Contains(own, m[1]) {
				faults = append(faults, found[1]+" has no label "+m[1])
			}
		}
	}
	for _, name := range named {
		if !slices.Contains(available, name) {
			faults = append(faults, "label "+name)
		}
	}
	if metrics == 0 {
		faults = append(faults, "no metric")
	}
	return faults
}

// exportedSeries returns the labels of all series by name.
func exportedSeries(t *testing.T, m *telemetry.Metrics) map[string][]string {
	t.Helper()
	series := map[string][]string{}
	for _, d := range m.Definitions() {
		if d.Type != "histogram" {
			series[d.Name] = d.Labels
			continue
		}
		series[d.Name+"_bucket"] = append(slices.Clone(d.Labels), "le")
		series[d.Name+"_sum"], series[d.Name+"_count"] = d.Labels, d.Labels
	}
	return series
}

// The example dashboard and alerts use metrics and labels that exist, and every metric that counts
// faults is in one of them.
func TestObservabilityExamples(t *testing.T) {
	o := newObservedApp(t)
	series := exportedSeries(t, o.telemetry.Metrics)
	families, err := o.telemetry.Metrics.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if name := f.GetName(); !strings.HasPrefix(name, "postern_") {
			series[name] = nil
		}
	}
	queries := append(dashboardQueries(t), alertQueries(t)...)
	if len(queries) < 30 {
		t.Errorf("only %d queries were read", len(queries))
	}
	for _, q := range queries {
		if faults := q.faults(series); len(faults) > 0 {
			t.Errorf("%s: %s: unknown are %v", q.place, q.expr, faults)
		}
	}
	for expr, want := range map[string]string{
		`sum(rate(postern_http_request_total[5m]))`:               "postern_http_request_total",
		`rate(postern_http_requests_total{code="500"}[5m])`:       "has no label code",
		`sum by (client) (rate(postern_http_requests_total[5m]))`: "label client",
		`postern_http_request_duration_seconds`:                   "postern_http_request_duration_seconds",
		`sums(postern_build_info)`:                                "sums",
		`1`:                                                       "no metric",
	} {
		if got := strings.Join(newQuery("", expr).faults(series), ", "); !strings.Contains(got, want) {
			t.Errorf("%s: found %q, want %q", expr, got, want)
		}
	}
}
