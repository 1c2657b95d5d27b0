package findings

import (
	"fmt"
	"io"
	"strings"
)

// WriteGitHub writes every finding as a workflow command, which GitHub displays at its line in a
// pull request, and the proven guarantees of each valid flow as a notice.
func WriteGitHub(w io.Writer, list []File) error {
	var b strings.Builder
	for i := range list {
		f := &list[i]
		for _, p := range f.Findings {
			message := p.Message
			if cause := root(p, f.Findings); cause != nil {
				message += fmt.Sprintf(" (follows from %s in line %d)", cause.Rule, cause.Line)
			}
			command(&b, severity(p), f.Name, p.Line, p.Column, p.Rule, message)
		}
		if f.Runs() {
			command(&b, "notice", f.Name, 0, 0, f.Handle, f.Proven())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func command(b *strings.Builder, name, file string, line, column int, title, message string) {
	at := "file=" + escapeProperty(file)
	if line > 0 {
		at += fmt.Sprintf(",line=%d,col=%d", line, column)
	}
	fmt.Fprintf(b, "::%s %s,title=%s::%s\n", name, at, escapeProperty("postern: "+title), escapeData(message))
}

// escapeData escapes the text of a workflow command. Unescaped text could start a command of its
// own and set an environment variable for the following steps.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// escapeProperty escapes a parameter of a workflow command.
func escapeProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeData(s))
}
