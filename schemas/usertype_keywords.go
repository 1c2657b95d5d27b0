package schemas

import "slices"

// usage is the kind of value of a JSON Schema keyword, which determines how often it is applied to
// one value.
type usage byte

const (
	unknownUsage  usage = iota
	noteUsage           // text for readers, without cost
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

// keywords are the JSON Schema keywords that a user type may use: all of draft 2020-12, except
// nested ids, anchors and dynamic references, and keywords that the validator ignores. A misspelled
// keyword would be ignored too, and would check nothing.
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

// formats are the formats that the validator checks, and two whose values are checked elsewhere or
// not at all. "regex" is not included, because the validator would compile untrusted values.
func formats() []string {
	return []string{
		"date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6",
		"uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid", "json-pointer", "relative-json-pointer",
	}
}

// marks are our own annotations, as candidates for a misspelled one.
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
