package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fuzzTargets are the parsers of bytes that come from outside, by fuzz target: package and function.
// A target can cover several parsers.
func fuzzTargets() map[string]string {
	return map[string]string{
		"internal/config FuzzLoad":               "the configuration file and the environment",
		"internal/backup FuzzRead":               "backup files",
		"internal/declare FuzzReadSeed":          "resource files and seeds",
		"internal/directory FuzzRedirectURI":     "redirect URIs of clients",
		"internal/federation FuzzClaims":         "ID tokens and userinfo of identity providers",
		"internal/federation FuzzMetadata":       "metadata of identity providers",
		"internal/importer FuzzExports":          "exports of other products, and Firebase's hash parameters",
		"internal/jwtverify FuzzKey":             "published keys (JWK)",
		"internal/jwtverify FuzzParse":           "JWTs of clients and identity providers",
		"internal/mail FuzzMessage":              "mail addresses, and the texts of mails",
		"internal/outbound FuzzAddress":          "addresses of other servers",
		"internal/passkey FuzzClientDataJSON":    "WebAuthn client data",
		"internal/passkey FuzzAttestationObject": "WebAuthn attestation objects and authenticator data",
		"internal/password FuzzCheck":            "new passwords",
		"internal/password FuzzParsePHC":         "stored password hashes",
		"internal/password FuzzParseImported":    "password hashes of other products",
		"internal/password FuzzQueue":            "the queue of hashes",
		"internal/throttle FuzzClient":           "X-Forwarded-For and Forwarded",
		"internal/throttle FuzzLimiter":          "keys of rate limits",
		"internal/throttle FuzzOpenDevice":       "the cookie of a device",
		"internal/translations FuzzLoad":         "language files",
		"internal/token FuzzVerify":              "access tokens, assertions and ID tokens",
		"flows FuzzProofs":                       "flows, by the prover and the oracle",
		"flows/flowtest FuzzScenarios":           "scenario files",
		"flows/format FuzzFormat":                "flow files that are formatted",
		"schemas FuzzFlowParser":                 "flow files that are parsed again after a change",
		"flows/lsp FuzzText":                     "changes of texts by editors",
		"mcp FuzzBody":                           "MCP messages",
		"nodes FuzzExpression":                   "CEL expressions",
		"nodes FuzzFieldAccept":                  "answers to prompts",
		"nodes FuzzPath":                         "paths of service calls",
		"nodes FuzzReply":                        "replies of services",
		"schemas FuzzCheck":                      "values that a user type checks",
		"schemas FuzzCheckDefinition":            "schemas of user types",
		"schemas FuzzIdentifier":                 "usernames and mail addresses that identify a user",
		"schemas FuzzNameSkeleton":               "display names",
		"schemas FuzzNormalURL":                  "client ids that are URLs, and URLs that are compared",
		"schemas FuzzParseFlow":                  "flow files",
		"schemas FuzzParseJSON":                  "JSON documents",
		"schemas FuzzParseYAML":                  "YAML documents",
		"schemas FuzzToYAML":                     "YAML that is written",
		"server FuzzBodies":                      "bodies of all endpoints that accept JSON",
		"server FuzzFilter":                      "filters of lists",
		"server FuzzFlowExecuteBody":             "answers to runs, with execution ids and challenge tokens",
		"server FuzzHeaders":                     "header fields: cookies, If-Match, Accept-Language, Traceparent, Origin, User-Agent and others",
		"server FuzzPasskeyFinishBody":           "WebAuthn responses",
		"server FuzzQueries":                     "queries, cursors and times of lists and of the audit log",
		"server FuzzResourceBodies":              "bodies of resources, with logos and addresses",
		"server/oauth FuzzAuthorize":             "authorization requests and cookies of browsers",
		"server/oauth FuzzCallback":              "answers to authorization requests",
		"server/oauth FuzzLogout":                "sign-out requests",
		"server/oauth FuzzOpenRefresh":           "refresh tokens",
		"server/oauth FuzzReadDocument":          "client metadata documents",
		"server/oauth FuzzReadMetadata":          "client registrations",
		"server/oauth FuzzRedirects":             "redirect URIs of authorization requests",
		"server/oauth FuzzToken":                 "token requests, client authentication and form bodies",
		"server/runs FuzzPreferredLanguage":      "Accept-Language",
	}
}

// Each parser of outside bytes has a fuzz target, and each fuzz target is listed. A parser that is
// added needs a row; the test cannot find it.
func TestFuzzTargets(t *testing.T) {
	sequential(t)
	root := filepath.Join("..", "..")
	found := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Fuzz[A-Za-z0-9_]+)\(f \*testing\.F\)`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		for _, match := range function.FindAllStringSubmatch(string(text), -1) {
			found[filepath.ToSlash(folder)+" "+match[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for target := range fuzzTargets() {
		if !found[target] {
			t.Errorf("there is no fuzz target %s", target)
		}
	}
	for target := range found {
		if fuzzTargets()[target] == "" {
			t.Errorf("the list does not have the fuzz target %s: state what it parses", target)
		}
	}
}
