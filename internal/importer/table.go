package importer

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/password"
)

// userTable is a file of users without a product: CSV with a header, or a JSON object on each line, as
// `postern user export` writes it. tableColumns describes the columns.
type userTable struct {
	Options
	product string
	file    string
	groups  []string
	roles   []string
}

// tableColumn is a column of CSV, or a member of a line, that is no attribute of the user.
type tableColumn struct {
	name string
	read func(r *Report, u *User, value any)
}

// tableColumns are the columns with a meaning of their own. All others are attributes.
func tableColumns() []tableColumn {
	return []tableColumn{
		{"id", func(_ *Report, u *User, v any) { u.ForeignID = textOf(v) }},
		{"type", func(*Report, *User, any) {}}, // chosen with --type
		{"status", func(_ *Report, u *User, v any) { u.Disabled = u.Disabled || textOf(v) == "disabled" }},
		{"disabled", func(_ *Report, u *User, v any) { u.Disabled = u.Disabled || isTrue(v) }},
		{"created_at", func(r *Report, u *User, v any) {
			at, err := time.Parse(time.RFC3339, textOf(v))
			if u.CreatedAt = at; err != nil {
				r.add("users", u.Place, "created_at is no time, and is left out", "expected a time such as 2026-11-28T03:00:00Z")
			}
		}},
		{"password", func(_ *Report, u *User, v any) { u.PlainPassword = textOf(v) }},
		{"password_hash", func(r *Report, u *User, v any) { u.Password = tableHash(r, u.Place, textOf(v)) }},
		{"totp_secret", func(r *Report, u *User, v any) { u.TOTP = totpKey(r, u.Place, textOf(v), "", 0, 0) }},
		{"groups", func(_ *Report, u *User, v any) { u.Groups = wordsOf(v) }},
		{"roles", func(_ *Report, u *User, v any) { u.Roles = wordsOf(v) }},
	}
}

// tableHash returns the text of a hash: a PHC string, or bcrypt.
func tableHash(r *Report, place, text string) string {
	if strings.HasPrefix(text, "$2") {
		return hashText(r, place, password.Imported{Scheme: password.Bcrypt, Text: text})
	}
	h, err := parsePHC(text)
	if err != nil {
		r.add("passwords", place, "the password hash cannot be read: expected bcrypt, or a PHC string of argon2 or PBKDF2", noPassword)
		return ""
	}
	return hashText(r, place, h)
}

// wordsOf returns the texts of a list, or of a text that separates them with semicolons.
func wordsOf(v any) (words []string) {
	text, isText := v.(string)
	if !isText {
		return textsOf(v)
	}
	for word := range strings.SplitSeq(text, ";") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

func openCSV(dir string, o Options) (Source, error) { return openTable("csv", dir, o) }

func openJSONLines(dir string, o Options) (Source, error) { return openTable("jsonl", dir, o) }

// openTable reads the names of the groups and roles, which are created before their members.
func openTable(product, dir string, o Options) (Source, error) {
	files, err := filesIn(dir, "*."+product)
	if err == nil && len(files) != 1 {
		err = fmt.Errorf("%s has %d files *.%s; expected one file of users", dir, len(files), product)
	}
	if err != nil {
		return nil, err
	}
	t := &userTable{Options: o, product: product, file: files[0]}
	err = t.Users(NewReport(nil), func(u *User) error {
		t.groups, t.roles = append(t.groups, missing(t.groups, u.Groups)...), append(t.roles, missing(t.roles, u.Roles)...)
		return nil
	})
	return t, err
}

func missing(known, words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return slices.Contains(known, word) })
}

// Resources implements Source.
func (t *userTable) Resources(*Report) (*Resources, error) {
	content := &Resources{Name: t.Name}
	for _, name := range t.groups {
		content.List = append(content.List, Resource{Plural: "groups", Key: name, Place: "group " + name,
			Content: map[string]any{"id": idOf(t.product, t.Name, "group", name), "name": name, "members": []any{}}})
	}
	for _, name := range t.roles {
		content.List = append(content.List, Resource{Plural: "roles", Key: name, Place: "role " + name,
			Content: map[string]any{"id": idOf(t.product, t.Name, "role", name), "name": name}})
	}
	return content, nil
}

// Users implements Source.
func (t *userTable) Users(r *Report, each func(*User) error) error {
	return withFile(t.file, func(in *positions) error {
		if t.product == "csv" {
			return t.readCSV(r, in, each)
		}
		return eachLine(in, records[map[string]any]{report: r, subject: "users", file: t.file, in: in.track()}, func(at string, line *map[string]any) error {
			return t.one(r, at, *line, each)
		})
	})
}

// readCSV reads a file whose header names the columns. A row with another number of columns is left out.
func (t *userTable) readCSV(r *Report, in io.Reader, each func(*User) error) error {
	text := bufio.NewReaderSize(in, 1<<16)
	rows := csv.NewReader(text)
	rows.Comma = separatorOf(text)
	header, err := rows.Read()
	if err != nil {
		return fmt.Errorf("expected a header such as id,username,email,password_hash: %w", err)
	}
	for i, name := range header {
		header[i] = strings.TrimSpace(name)
	}
	for {
		row, err := rows.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, csv.ErrFieldCount), errors.Is(err, csv.ErrQuote), errors.Is(err, csv.ErrBareQuote):
			line := map[string]any{}
			for j := range min(len(row), len(header)) {
				line[header[j]] = row[j]
			}
			at := place(t.file, rowPosition(rows, err), "")
			if key := naturalKey(line); key != "" {
				at += " (" + key + ")"
			}
			r.addBad("users", badRow{at, fmt.Errorf("the row has %d columns and the header %d, or its quotes are wrong", len(row), len(header))})
			continue
		case err != nil:
			return err
		}
		line := map[string]any{}
		for j, name := range header {
			if row[j] != "" {
				line[name] = row[j]
			}
		}
		if err := t.one(r, rowPosition(rows, nil), line, each); err != nil {
			return err
		}
	}
}

// rowPosition returns the line of the row that was read last, with the error of reading it.
func rowPosition(rows *csv.Reader, err error) string {
	if wrong, is := errors.AsType[*csv.ParseError](err); is {
		return strconv.Itoa(wrong.StartLine)
	}
	line, _ := rows.FieldPos(0)
	return strconv.Itoa(line)
}

// separatorOf returns what separates the columns of a file: of commas, semicolons and tabs, the one that the header has
// most of outside of quotes. Spreadsheets write semicolons where the comma is the decimal sign.
func separatorOf(text *bufio.Reader) rune {
	start, _ := text.Peek(1 << 12)
	header, _, _ := strings.Cut(string(start), "\n")
	counts, quoted := map[rune]int{}, false
	for _, c := range header {
		if quoted = quoted != (c == '"'); !quoted {
			counts[c]++
		}
	}
	separator := ','
	for _, other := range ";\t" {
		if counts[other] > counts[separator] {
			separator = other
		}
	}
	return separator
}

// Columns returns the columns with a meaning of their own.
func (t *userTable) Columns() (names []string) {
	for _, c := range tableColumns() {
		names = append(names, c.name)
	}
	return names
}

// one converts a record.
func (t *userTable) one(r *Report, at string, line map[string]any, each func(*User) error) error {
	if nested, ok := line["attributes"].(map[string]any); ok {
		delete(line, "attributes")
		for name, value := range nested {
			line[name] = value
		}
	}
	u := &User{Attributes: map[string]any{}, Others: map[string]any{}}
	u.Place = place(t.file, at, firstText(textOf(line["id"]), textOf(line["username"])))
	for _, c := range tableColumns() {
		if value, has := line[c.name]; has {
			c.read(r, u, value)
			delete(line, c.name)
		}
	}
	for name, value := range line {
		if strings.HasSuffix(name, "_verified") {
			value = isTrue(value)
		}
		u.Attributes[name] = value
	}
	addName(u.Attributes)
	nameUser(u.Attributes)
	key := firstText(u.ForeignID, textOf(u.Attributes["username"]), textOf(u.Attributes["email"]))
	u.ForeignID, u.ID = firstText(u.ForeignID, key), idOf(t.product, t.Name, "user", key)
	return each(u)
}
