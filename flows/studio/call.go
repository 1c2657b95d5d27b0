package studio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// function is a function that JavaScript calls with JSON. Its result is encoded as JSON.
type function func(s *Studio, input []byte) (any, error)

// functions returns the functions by name.
func functions() map[string]function {
	return map[string]function{
		"setSystem": typed((*Studio).SetSystem),
		"check":     typed((*Studio).Check),
		"prove":     typed((*Studio).Prove),
		"factsAt":   typed((*Studio).FactsAt),
		"complete":  typed((*Studio).Complete),
		"describe":  typed((*Studio).Describe),
		"listKinds": typed((*Studio).ListKinds),
		"listParts": typed((*Studio).ListParts),
		"fixes":     typed((*Studio).Fixes),
		"compare":   typed((*Studio).Compare),

		"compareBuiltin": typed((*Studio).CompareBuiltin),

		"play":           typed((*Studio).Play),
		"runScenarios":   typed((*Studio).RunScenarios),
		"draftScenarios": typed((*Studio).DraftScenarios),
		"listFaults":     typed((*Studio).ListFaults),
	}
}

// typed returns a function that decodes its input. Unknown members are errors: the caller is of
// another release.
func typed[I, O any](f func(s *Studio, input I) (O, error)) function {
	return func(s *Studio, text []byte) (any, error) {
		var input I
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&input); err != nil {
			return nil, fmt.Errorf("the input does not fit: %w", err)
		}
		return f(s, input)
	}
}

// reply is what a call returns: a result, or an error in words.
type reply struct {
	Result any    `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Call calls the function with the name. Input and reply are JSON; the reply is an object with the
// member result or error. A function that panics is an error of that call alone.
func (s *Studio) Call(name string, input []byte) (text []byte) {
	defer func() {
		if p := recover(); p != nil {
			text = encode(reply{Error: fmt.Sprintf("%s failed: %v", name, p)})
		}
	}()
	f, found := functions()[name]
	if !found {
		return encode(reply{Error: fmt.Sprintf("there is no function %q; the functions are %s", name, strings.Join(slices.Sorted(maps.Keys(functions())), ", "))})
	}
	result, err := f(s, input)
	if err != nil {
		return encode(reply{Error: err.Error()})
	}
	return encode(reply{Result: result})
}

func encode(r reply) []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // results are data
	}
	return text
}
