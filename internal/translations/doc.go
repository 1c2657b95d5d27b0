// Package translations has the texts that users read in each language: those of the hosted pages,
// of the built-in flows and the server's errors, and of mails. A file XX.json holds one language,
// whose BCP 47 tag is XX: a copy of de.json, translated, adds a language. An operator can add files and
// replace texts.
package translations
