package schemas

import (
	"bytes"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// The YAML library reports a syntax error in the terms of its scanner, without a column, and with a
// line that is often that of the surrounding block. This file rewrites the message in plain words
// and finds the position.

// lineSource is how the position of an error is found.
type lineSource int

const (
	atLine   lineSource = iota // the reported line, at its first character
	atFirst                    // the first line with the error, at its first character
	atExact                    // the first character with the error
	atOpener                   // an unclosed bracket or quote of the reported line
)

// yamlMessage is one of the library's messages.
type yamlMessage struct {
	says, words string
	where       lineSource
	parser      bool // reported by its parser, whose lines count from 0
}

// yamlMessages are the messages of the library that authors are likely to cause.
func yamlMessages() []yamlMessage {
	return []yamlMessage{
		{"did not find expected ',' or ']'", "the list that begins here is not closed, or lacks a comma; put values with special characters in quotes", atOpener, true},
		{"did not find expected ',' or '}'", "the object that begins here is not closed, or lacks a comma; put values with special characters in quotes", atOpener, true},
		{"found unexpected end of stream", "the string that begins here has no closing quote", atOpener, false},
		{"did not find expected '-' indicator", "expected another item (- …) of the list, or less indentation", atFirst, true},
		{"did not find expected key", "expected another key of the object; check the indentation, and put values with special characters in quotes", atFirst, true},
		{"did not find expected node content", "expected a value", atExact, true},
		{"did not find expected <document start>", "expected the end of the text; check the indentation", atFirst, true},
		{"mapping values are not allowed in this context", "a colon and a space are not allowed here; put a value that contains them in quotes, or check the indentation", atExact, false},
		{"mapping keys are not allowed in this context", "a key is not allowed here; check the indentation", atExact, false},
		{"block sequence entries are not allowed in this context", "a list item (- …) is not allowed here; put the list on lines of its own", atExact, false},
		{"could not find expected ':'", "expected a colon and a space after the key", atFirst, false},
		{"found character that cannot start any token", "a value may not begin with this character; put it in quotes", atExact, false},
		{"found a tab character", "a tab indents this line; use spaces", atFirst, false},
		{"found unknown escape character", `there is no such escape; use single quotes for a string with backslashes, or write \\`, atExact, false},
		{"did not find expected hexdecimal number", `there is no such escape; expected hex digits after \x, \u or \U`, atExact, false},
		{"control characters are not allowed", "control characters are not allowed here; remove them", atExact, false},
		{"did not find expected comment or line break", "expected the text on the next line after | or >", atFirst, false},
		{"found incompatible YAML document", "expected YAML 1.1 or 1.2; remove the %YAML line", atFirst, false},
		{"exceeded max depth", fmt.Sprintf("nested deeper than %d levels", maxDepth), atLine, false},
	}
}

// syntaxProblem turns an error of the library into a problem with its place.
func syntaxProblem(data []byte, err error) *Problem {
	_, says := splitError(err)
	if anchor, ok := strings.CutPrefix(says, "unknown anchor '"); ok {
		name, _, _ := strings.Cut(anchor, "'")
		p := problemAt(data, max(0, bytes.Index(data, []byte("*"+name))), "aliases (*"+shortenName(name)+") are not supported; write the value out")
		return &p
	}
	for _, c := range yamlMessages() {
		if strings.HasPrefix(says, c.says) {
			return c.problem(data, says)
		}
	}
	return yamlMessage{says: says, words: "not valid YAML: " + truncate(says, 200), where: atExact}.problem(data, says)
}

// problem returns the problem with its position in the text.
func (c yamlMessage) problem(data []byte, says string) *Problem {
	line := c.line(data, says)
	start := len(firstLines(data, line-1))
	text := nthLine(data, line)
	column := indentation(text)
	switch c.where {
	case atOpener:
		column = opener(text)
	case atExact:
		column = sort.Search(len(text), func(i int) bool { return fails(data[:start+i+1], says) })
	}
	words := c.words
	if strings.TrimLeft(text[:min(column+1, len(text))], " ") == "\t" {
		words = "a tab indents this line; use spaces"
	}
	return &Problem{Message: words, Line: line, Column: utf8.RuneCountInString(text[:column]) + 1}
}

// line returns the line of the error.
func (c yamlMessage) line(data []byte, says string) int {
	lines := bytes.Count(data, []byte("\n")) + 1
	const searched = 1 << 16 // reading larger texts a dozen times takes too long
	if (c.where == atFirst || c.where == atExact) && len(data) < searched {
		return 1 + sort.Search(lines-1, func(i int) bool { return fails(firstLines(data, i+1), says) })
	}
	// The library treats line 0 as "no line" and would report another line. After an empty first
	// line there is no line 0.
	reported, _ := splitError(readError(append([]byte("\n"), data...)))
	if !c.parser {
		reported--
	}
	return min(max(reported, 1), lines)
}

// fails reports whether a prefix of the text has the same error as the whole. A longer prefix has
// it too; a shorter one has another error, if any.
func fails(data []byte, says string) bool {
	_, same := splitError(readError(data))
	return same == says
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

// splitError separates the line, 0 if absent, from the library's message.
func splitError(err error) (line int, says string) {
	prefix := errorLine.FindStringSubmatch(err.Error())
	if prefix == nil {
		return 0, err.Error()
	}
	line, _ = strconv.Atoi(prefix[1])
	return line, strings.TrimPrefix(err.Error(), prefix[0])
}

// opener returns the offset of the last bracket or quote of a line that the
// line does not close; if it closes all, that of its last bracket.
func opener(line string) int {
	var open []int
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case '[', '{':
			open = append(open, i)
		case ']', '}':
			if len(open) == 0 || line[open[len(open)-1]] != c-2 { // [ \ ] and { | }
				return max(lastBracket(line[:i]), indentation(line))
			}
			open = open[:len(open)-1]
		case '"', '\'':
			if !startsValue(line, i) {
				continue
			}
			length := closing(line[i+1:], c)
			if length < 0 {
				return i
			}
			i += length + 1
		}
	}
	if len(open) == 0 {
		return max(lastBracket(line), indentation(line))
	}
	return open[len(open)-1]
}

func lastBracket(line string) int { return strings.LastIndexAny(line, "[{") }

// closing returns the offset of the quote that closes a string, or -1. A doubled single quote
// closes and reopens the string, with the same result.
func closing(rest string, quote byte) int {
	for i := 0; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && quote == '"':
			i++
		case rest[i] == quote:
			return i
		}
	}
	return -1
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
