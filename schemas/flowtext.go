package schemas

// CheckFlowText checks the text of a flow as it would be stored: without the members that are null.
// check receives the flow as JSON, or the text itself if it cannot be parsed. The problems have
// their positions in the text.
func CheckFlowText(text []byte, yaml bool, check func(text []byte, yaml bool) []Problem) []Problem {
	parse := ParseJSON
	if yaml {
		parse = ParseYAML
	}
	document, _ := parse(text)
	if document == nil {
		return check(text, yaml)
	}
	return CheckFlowDocument(document, func(stored *Document) []Problem { return check(stored.JSON(), false) })
}

// CheckFlowDocument is CheckFlowText for a text that is parsed. It passes the flow as it would be stored.
func CheckFlowDocument(document *Document, check func(stored *Document) []Problem) []Problem {
	document = document.WithoutAbsent(FlowSchema())
	return document.Locate(WithoutPlaces(check(document)))
}

// WithoutPlaces removes the positions of problems in a text that the author did not write. It
// changes the list.
func WithoutPlaces(problems []Problem) []Problem {
	for i := range problems {
		problems[i].Line, problems[i].Column = 0, 0
		for j := range problems[i].Trace {
			problems[i].Trace[j].Line = 0
		}
	}
	return problems
}
