package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lib/pq"
)

// TestPostgresFault also compares with the driver: it reads the same password from a valid string.
func TestPostgresFault(t *testing.T) {
	const noMode, at, invalid, pairs = "no sslmode", "an @ after the host", "not a valid URL", "single quotes"
	for _, test := range []struct{ dsn, password, fault string }{
		{"postgres://u:p@db/postern?sslmode=verify-full", "p", ""},
		{"postgresql://db/?application_name=a@b&sslmode=disable", "", ""},
		{"postgres://u:p@ss@db:5432/postern?sslmode=require", "p@ss", ""},
		{"postgres://u:p%40ss%2Fw%23rd%25%3F@[::1]:5432/postern?sslmode=require", "p@ss/w#rd%?", ""},
		{"postgres://a,b/postern?port=5432,6543&sslmode=allow", "", ""},
		{"postgres://u:p@ss/w#rd@db:5432/postern?sslmode=disable", "", at},
		{"postgres://u:p/w@db/postern?sslmode=disable", "", invalid},
		{"postgres://u:5/w@db/postern?sslmode=disable", "", at},
		{"postgres://u:5#w@db/postern?sslmode=disable", "", at},
		{"postgres://u:5?w@db/postern?sslmode=disable", "", at},
		{"postgres://u:p%zz@db/postern?sslmode=disable", "", invalid},
		{"postgres://u:p w@db/postern?sslmode=disable", "", invalid},
		{"postgres://u:p[@db/postern?sslmode=disable", "", invalid},
		{"postgres://db/%zz?sslmode=require", "", invalid},
		{"postgres://u:sslmode=require@db/x", "", noMode},
		{"postgres://db/x?sslmode=", "", noMode},
		{"postgres://db/x?password=sslmode%3Dall", "", noMode},
		{"postgres://db/x?sslmode=on", "", "unknown sslmode"},
		{"host=db sslmode=require", "", ""},
		{" sslmode = disable\n host=db", "", ""},
		{"host=db sslmode='verify-full'password=x", "x", ""},
		{`host=/run/postgresql password='it\'s \\ a = b' sslmode=prefer`, `it's \ a = b`, ""},
		{`password=p\ 'w sslmode=verify-ca`, "p 'w", ""},
		{"host=db", "", noMode},
		{"host=db password='x sslmode=require'", "", noMode},
		{`host=db password='\' sslmode=require'`, "", noMode},
		{"host=db nosslmode=require", "", noMode},
		{"host=db sslmode=", "", noMode},
		{"host=db sslmode=''", "", noMode},
		{"host=db password=p w sslmode=require", "", pairs},
		{"host=db password=p w", "", pairs},
		{"host=db password='pw sslmode=require", "", pairs},
		{`password=pw\`, "", pairs},
		{"db.example.com/postern", "", pairs},
	} {
		fault := postgresFault(test.dsn)
		if test.fault == "" && fault != "" || !strings.Contains(fault, test.fault) {
			t.Errorf("%s: %q, expected %q", test.dsn, fault, test.fault)
		}
		if fault != "" {
			continue
		}
		if c, err := pq.NewConfig(test.dsn); err != nil || c.Password != test.password {
			t.Errorf("%s: the driver reads %q: %v", test.dsn, c.Password, err)
		}
	}
}

// The driver connects to the hosts of a URL as libpq does, and reads the other parts as before.
func TestHostsOfPostgres(t *testing.T) {
	for dsn, want := range map[string]string{
		"postgres://u:p@db/x?sslmode=disable":                            "db:5432",
		"postgres://u:p@db:5433/x?sslmode=disable":                       "db:5433",
		"postgres://u:p@10.0.0.1:5433/x?sslmode=disable":                 "10.0.0.1:5433",
		"postgres://u:p@::1/x?sslmode=disable":                           "::1:5432",
		"postgres://u:p@[::1]/x?sslmode=disable":                         "::1:5432",
		"postgres://u:p@[2001:db8::1]:5433/x?sslmode=disable":            "2001:db8::1:5433",
		"postgres://u:p@a,b/x?sslmode=disable":                           "a:5432 b:5432",
		"postgresql://u:p@a:1,b:2,c/x?sslmode=disable":                   "a:1 b:2 c:5432",
		"postgres://u:p@[::1]:1,[::2],b:3/x?sslmode=disable":             "::1:1 ::2:5432 b:3",
		"postgres://u:p@a,[::2]/x?sslmode=disable":                       "a:5432 ::2:5432",
		"postgres://u:p@/x?host=a,b&port=1,2&sslmode=disable":            "a:1 b:2",
		"host=a,::1 port=1,2 user=u password=p dbname=x sslmode=disable": "a:1 ::1:2",
	} {
		c := expectProblem(t, "database: {driver: postgres, dsn: '"+dsn+"'}", "")
		read, err := pq.NewConfig(c.Database.DSN)
		if err != nil {
			t.Fatalf("%s: %v", dsn, err)
		}
		hosts := []string{fmt.Sprintf("%s:%d", read.Host, read.Port)}
		for _, other := range read.Multi {
			hosts = append(hosts, fmt.Sprintf("%s:%d", other.Host, other.Port))
		}
		if got := strings.Join(hosts, " "); got != want || read.User != "u" || read.Password != "p" || read.Database != "x" {
			t.Errorf("%s is %s %q, want %s", dsn, got, c.Database.DSN, want)
		}
	}
	for _, dsn := range []string{"postgres://u@[::1/x?sslmode=disable", "postgres://u@[::1]x,b/x?sslmode=disable", "postgres://u@a,b:c/x?sslmode=disable", "postgres://u@[]/x?sslmode=disable"} {
		expectProblem(t, "database: {driver: postgres, dsn: '"+dsn+"'}", "database.dsn")
	}
}
