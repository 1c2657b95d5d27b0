package schemas

import (
	"bytes"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// The YAML library tells a syntax error in the terms of its scanner, without a
// column, and with a line that is often that of the surrounding block. Here
// its message becomes plain words, and the place is found again.

// where says how the place of an error is found.
type where int

const (
	atLine   where = iota // the line told, at its first character
	atBlock               // the first line without which the text would still be read
	atOpener              // the bracket or quote that is never closed
)

// complaint is one of the library's messages.
type complaint struct {
	says, words string
	where       where
	parser      bool // told by its parser, whose lines count from 0
}

// complaints are those of the messages that authors meet.
func complaints() []complaint {
	return []complaint{
		{"did not find expected ',' or ']'", "this list is not closed: expected a comma or ] after an item", atOpener, true},
		{"did not find expected ',' or '}'", "this object is not closed: expected a comma or } after a member", atOpener, true},
		{"found unexpected end of stream", "this quoted string is never closed", atOpener, false},
		{"did not find expected '-' indicator", "expected another item (- …) of the list, or less indentation", atBlock, true},
		{"did not find expected key", "expected another key of the object; look at the indentation, and put values with special characters in quotes", atBlock, true},
		{"did not find expected node content", "expected a value here", atBlock, true},
		{"did not find expected <document start>", "expected the end of the text; look at the indentation", atBlock, true},
		{"mapping values are not allowed in this context", "a colon and a blank are not allowed here; put a value that contains them in quotes, or look at the indentation", atBlock, false},
		{"mapping keys are not allowed in this context", "a key is not allowed here; look at the indentation", atBlock, false},
		{"block sequence entries are not allowed in this context", "a list item (- …) is not allowed here; put the list on lines of its own", atBlock, false},
		{"could not find expected ':'", "expected a colon and a blank after the key", atBlock, false},
		{"found character that cannot start any token", "a value may not begin with this character; put it in quotes", atBlock, false},
		{"found a tab character", "a tab indents this line; use spaces", atBlock, false},
		{"found unknown escape character", `an escape in this string is wrong; use single quotes for a string with backslashes, or write \\`, atBlock, false},
		{"control characters are not allowed", "control characters are not allowed here; remove them", atBlock, false},
		{"did not find expected comment or line break", "expected the text on the next line after | or >", atBlock, false},
		{"found incompatible YAML document", "expected YAML 1.1 or 1.2; remove the %YAML line", atBlock, false},
		{"exceeded max depth", "nested too deep", atLine, false},
	}
}

// syntaxProblem turns an error of the library into a problem with its place.
func syntaxProblem(data []byte, err error) *Problem {
	line, says := splitError(err)
	if anchor, ok := strings.CutPrefix(says, "unknown anchor '"); ok {
		name, _, _ := strings.Cut(anchor, "'")
		p := problemAt(data, max(0, bytes.Index(data, []byte("*"+name))), "aliases (*"+name+") are not used here; write the value out")
		return &p
	}
	for _, c := range complaints() {
		if strings.HasPrefix(says, c.says) {
			return c.problem(data, says)
		}
	}
	return &Problem{Message: "not valid YAML: " + says, Line: line, Column: 1}
}

// problem places the complaint in the text.
func (c complaint) problem(data []byte, says string) *Problem {
	line := c.line(data, says)
	text := nthLine(data, line)
	column := indentation(text)
	if c.where == atOpener {
		column = opener(text)
	}
	words := c.words
	if column < len(text) && text[column] == '\t' {
		words = "a tab indents this line; use spaces"
	}
	return &Problem{Message: words, Line: line, Column: utf8.RuneCountInString(text[:column]) + 1}
}

// line finds the line of the complaint. An empty line is put in front of the
// text first, because the library takes line 0 to mean "no line" and would
// tell another one instead.
func (c complaint) line(data []byte, says string) int {
	told, _ := splitError(readError(append([]byte("\n"), data...)))
	if !c.parser {
		told--
	}
	lines := bytes.Count(data, []byte("\n")) + 1
	const searched = 1 << 18 // reading larger texts a dozen times takes too long
	if c.where == atBlock && len(data) < searched {
		told = 1 + sort.Search(lines-1, func(i int) bool {
			_, same := splitError(readError(firstLines(data, i+1)))
			return same == says
		})
	}
	return min(max(told, 1), lines)
}

// readError returns the library's error for a text.
func readError(data []byte) error {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := decodeNode(decoder); err != nil {
			return err
		}
	}
}

var errorLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// splitError takes the line, 0 if none is told, off the library's message.
func splitError(err error) (line int, says string) {
	prefix := errorLine.FindStringSubmatch(err.Error())
	if prefix == nil {
		return 0, err.Error()
	}
	line, _ = strconv.Atoi(prefix[1])
	return line, strings.TrimPrefix(err.Error(), prefix[0])
}

// opener returns the offset of the last bracket or quote of a line that the
// line does not close, or of its first character.
func opener(line string) int {
	var open []int
	var quoted byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted == '"' && c == '\\':
			i++
		case quoted != 0:
			if c == quoted {
				quoted, open = 0, open[:len(open)-1]
			}
		case (c == '"' || c == '\'') && startsValue(line, i):
			quoted, open = c, append(open, i)
		case c == '[' || c == '{':
			open = append(open, i)
		case (c == ']' || c == '}') && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return indentation(line)
	}
	return open[len(open)-1]
}

// startsValue reports whether a quote at i opens a string, as it does not in
// the middle of a word (don't).
func startsValue(line string, i int) bool {
	return i == 0 || strings.IndexByte(" \t[{,:-", line[i-1]) >= 0
}

// indentation returns the offset of the first character that is not a space.
func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// firstLines returns the first n lines of a text.
func firstLines(data []byte, n int) []byte {
	end := 0
	for range n {
		next := bytes.IndexByte(data[end:], '\n')
		if next < 0 {
			return data
		}
		end += next + 1
	}
	return data[:end]
}

// nthLine returns a line, counted from 1, without its end; "" if there is none.
func nthLine(data []byte, n int) string {
	if n < 1 {
		return ""
	}
	line, _, _ := bytes.Cut(data[len(firstLines(data, n-1)):], []byte("\n"))
	return strings.TrimSuffix(string(line), "\r")
}

// problemAt is a problem at an offset of the text.
func problemAt(data []byte, at int, message string) Problem {
	before := data[:at]
	start := bytes.LastIndexByte(before, '\n') + 1
	return Problem{
		Message: message,
		Line:    bytes.Count(before, []byte("\n")) + 1,
		Column:  utf8.RuneCount(before[start:]) + 1,
	}
}
