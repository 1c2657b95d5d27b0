package schemas

import (
	"encoding/json"
	"maps"
	"strings"
)

// Help returns what each member of a noun does, by its name: the first sentence of its description. The members of
// the OAuth profile of an application are among them, unless the application has one of the same name.
func Help(noun string) map[string]string {
	type members map[string]struct{ Description string }
	var schema struct {
		Properties members
		Defs       struct{ OAuth struct{ Properties members } } `json:"$defs"`
	}
	text, err := files.ReadFile(noun + ".schema.json")
	if err == nil {
		err = json.Unmarshal(text, &schema)
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	described := members{}
	maps.Copy(described, schema.Defs.OAuth.Properties)
	maps.Copy(described, schema.Properties)
	help := map[string]string{}
	for name, member := range described {
		help[name] = firstSentence(member.Description)
	}
	return help
}

// firstSentence returns the first sentence of a description, without its full stop.
func firstSentence(description string) string {
	sentence, _, _ := strings.Cut(description, ". ")
	return strings.TrimSuffix(sentence, ".")
}
