package schemas

import "slices"

// usage says what stands under a keyword of a JSON Schema, and how often that is
// applied to one value.
type usage byte

const (
	unknownUsage  usage = iota
	noteUsage           // words for people: they cost nothing
	plainUsage          // a value
	patternUsage        // a regular expression
	formatUsage         // the name of a format
	refUsage            // a reference to a definition
	defsUsage           // definitions, by name
	alsoUsage           // a schema, of the same value
	alsoListUsage       // a list of them
	alsoMapUsage        // an object of them
	oneMapUsage         // schemas of one member each, by name
	oneListUsage        // schemas of one item each
	manyUsage           // a schema of any number of members or items
	manyMapUsage        // an object of them, by pattern
)

// keywords are those of JSON Schema that a user type may use: all of draft
// 2020-12 but for what makes references depend on something (ids and anchors
// inside, dynamic references) and what the validator ignores. A keyword that is
// misspelled would be ignored too, and check nothing.
func keywords() map[string]usage {
	of := map[string]usage{
		"$ref": refUsage, "$defs": defsUsage,
		"pattern": patternUsage, "format": formatUsage,
		"allOf": alsoListUsage, "anyOf": alsoListUsage, "oneOf": alsoListUsage,
		"not": alsoUsage, "if": alsoUsage, "then": alsoUsage, "else": alsoUsage, "dependentSchemas": alsoMapUsage,
		"properties": oneMapUsage, "prefixItems": oneListUsage,
		"patternProperties": manyMapUsage, "additionalProperties": manyUsage, "propertyNames": manyUsage,
		"unevaluatedProperties": manyUsage, "items": manyUsage, "contains": manyUsage, "unevaluatedItems": manyUsage,
	}
	for _, name := range []string{
		"$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
		uniqueMark, credentialMark, expectMark,
	} {
		of[name] = noteUsage
	}
	for _, name := range []string{
		"type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minContains", "maxContains",
		"minProperties", "maxProperties", "required", "dependentRequired",
	} {
		of[name] = plainUsage
	}
	return of
}

// formats are those that the validator knows, and the two whose values are
// looked at elsewhere or not at all. Not among them is "regex": who sends a
// value would have it compiled.
func formats() []string {
	return []string{
		"date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6",
		"uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid", "json-pointer", "relative-json-pointer",
	}
}

// marks are our own annotations, which a misspelled one may have been meant to be.
func marks() []string { return []string{uniqueMark, credentialMark, expectMark} }

// sortedKeywords are the names of the keywords.
func sortedKeywords(of map[string]usage) []string {
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
