package config

import (
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
