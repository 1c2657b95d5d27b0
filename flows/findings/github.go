package findings

import (
	"fmt"
	"io"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// WriteGitHub writes every finding as a workflow command, which GitHub displays at its line in a
// pull request, and the proven guarantees of each valid flow as a notice.
func WriteGitHub(w io.Writer, list []File) error {
	var b strings.Builder
	for i := range list {
		for _, p := range list[i].Findings {
			b.WriteString(command(list[i].Name, p))
		}
		if list[i].Runs() {
			b.WriteString(notice(&list[i]))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func command(file string, p schemas.Problem) string {
	at := "file=" + escapeProperty(file)
	if p.Line > 0 {
		at += fmt.Sprintf(",line=%d,col=%d", p.Line, p.Column)
	}
	return fmt.Sprintf("::%s %s,title=%s::%s\n", severity(p), at, escapeProperty("postern: "+p.Rule), escapeData(p.Message))
}

func notice(f *File) string {
	return fmt.Sprintf("::notice file=%s,title=%s::%s\n", escapeProperty(f.Name), escapeProperty("postern: "+f.Handle), escapeData(f.proven()))
}

// escapeData escapes the text of a workflow command. Unescaped text could start a command of its
// own and set an environment variable for the following steps.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// escapeProperty escapes a parameter of a workflow command.
func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
