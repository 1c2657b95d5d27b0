package config

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"
)

// pair is a parameter of a connection string that is not a URL: key=value or key='value', where a
// backslash escapes the next character.
var pair = regexp.MustCompile(`(?s)^([^\s=]+)\s*=\s*('(?:\\.|[^'\\])*'|(?:\\.|[^\s'\\])(?:\\.|[^\s\\])*|$)\s*`)

const (
	urlAdvice = "percent-encode special characters of the password (/ is %2F, # is %23, ? is %3F, @ is %40, % is %25), " +
		"or leave the password out and set it as PGPASSWORD in the environment"
	pairAdvice = "put a value with a space, a quote or a backslash in single quotes, with a backslash before each quote and backslash in it, " +
		"or leave the password out and set it as PGPASSWORD in the environment"
)

// hostsAsParameters rewrites a URL for PostgreSQL as libpq reads it, whose hosts are several or IPv6 addresses, such as
// postgres://[::1],db.example.com:5433/postern, to one with the parameters host and port, as the driver reads
// it. It returns any other text as it is.
func hostsAsParameters(dsn string) string {
	scheme, rest, found := strings.Cut(dsn, "://")
	end := strings.IndexAny(rest+"/", "/?#")
	user, hosts := "", rest[:end]
	if at := strings.LastIndexByte(hosts, '@'); at >= 0 {
		user, hosts = hosts[:at+1], hosts[at+1:]
	}
	if !found || scheme != "postgres" && scheme != "postgresql" || !strings.ContainsAny(hosts, ",[") || strings.Contains(rest, "#") {
		return dsn
	}
	names, ports, ok := splitHosts(hosts)
	if !ok {
		return dsn
	}
	separator := "?"
	if strings.Contains(rest, "?") {
		separator = "&"
	}
	return scheme + "://" + user + rest[end:] + separator + url.Values{"host": {names}, "port": {ports}}.Encode()
}

// splitHosts splits a list of hosts with optional ports into a list of names and one of ports. ok is false if it
// is malformed.
func splitHosts(list string) (names, ports string, ok bool) {
	var hosts, numbers []string
	for one := range strings.SplitSeq(list, ",") {
		found := hostWithPort.FindStringSubmatch(one)
		if found == nil {
			return "", "", false
		}
		hosts, numbers = append(hosts, found[1]+found[2]), append(numbers, cmp.Or(found[3], "5432"))
	}
	return strings.Join(hosts, ","), strings.Join(numbers, ","), true
}

// hostWithPort is an IPv6 address in brackets or another host, and its port.
var hostWithPort = regexp.MustCompile(`^(?:\[([0-9A-Fa-f:.]+)\]|([^\[\]:]+))(?::([0-9]+))?$`)

// postgresFault returns the fault of a connection string for PostgreSQL, "" for none. It quotes no part
// of the string: a part that is read wrongly may be a part of the password.
func postgresFault(dsn string) string {
	read := readPairs
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		read = readURL
	}
	mode, fault := read(dsn)
	if fault != "" {
		return fault
	}
	switch mode {
	case "verify-full", "verify-ca", "require", "prefer", "allow", "disable":
		return ""
	case "": // the driver's default depends on the environment, and an unencrypted connection must be explicit
		return "it has no sslmode: add sslmode=verify-full (or require; or disable, for a server on this machine)"
	}
	return "it has an unknown sslmode: expected verify-full, verify-ca, require, prefer, allow or disable"
}

// readURL reads the sslmode of a URL. A special character of the password that is not encoded ends the
// host early, and leaves the @ that precedes the real host in a later part.
func readURL(dsn string) (sslMode, fault string) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", "it is not a valid URL: " + urlAdvice
	}
	sslMode = u.Query().Get("sslmode")
	if strings.Contains(u.Path+u.Fragment, "@") || sslMode == "" && strings.Contains(u.RawQuery, "@") {
		return "", "it has an @ after the host: " + urlAdvice
	}
	return sslMode, ""
}

// readPairs reads the sslmode of a string such as "host=db user=postern sslmode=verify-full".
func readPairs(dsn string) (sslMode, fault string) {
	for rest := strings.TrimSpace(dsn); rest != ""; {
		found := pair.FindStringSubmatch(rest)
		if found == nil {
			return "", "expected a URL such as postgres://postern@db.example.com/postern?sslmode=verify-full, or pairs such as host=db.example.com sslmode=verify-full: " + pairAdvice
		}
		if found[1] == "sslmode" {
			sslMode = strings.Trim(found[2], "'")
		}
		rest = rest[len(found[0]):]
	}
	return sslMode, ""
}
