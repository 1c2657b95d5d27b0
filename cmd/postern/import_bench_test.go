package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/store/storetest"
)

var importUsers = flag.Int("import.users", 2_000, "the number of users that BenchmarkImport imports")

// BenchmarkImport imports a generated realm of Keycloak whose users have passwords, with
// the dry run that precedes an import, into an empty store of each database.
func BenchmarkImport(b *testing.B) {
	dir := generateRealm(b, *importUsers)
	b.Run("sqlite", func(b *testing.B) {
		benchmarkImport(b, dir, func() []string { return []string{"POSTERN_DATABASE_DRIVER=sqlite"} })
	})
	b.Run("postgres", func(b *testing.B) {
		benchmarkImport(b, dir, func() []string {
			return []string{"POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN=" + storetest.Postgres(b)}
		})
	})
}

// benchmarkImport imports an export; database returns the configuration of an empty database.
func benchmarkImport(b *testing.B, dir string, database func() []string) {
	for b.Loop() {
		b.StopTimer()
		environ := append(testEnvironment(b.TempDir()), database()...)
		newTestAppIn(b, environ)
		b.StartTimer()
		output := mustRun(b, environ, "import", "keycloak", dir)
		if want := fmt.Sprintf("imported %d users", *importUsers); !strings.Contains(output, want) {
			b.Fatalf("the output lacks %q:\n%s", want, output)
		}
	}
	b.ReportMetric(float64(*importUsers)*float64(b.N)/b.Elapsed().Seconds(), "users/s")
}

// generateRealm writes an export with n users, 1,000 in a file as Keycloak does.
func generateRealm(b *testing.B, n int) (dir string) {
	b.Helper()
	dir = b.TempDir()
	datatest.WriteFile(b, filepath.Join(dir, "acme-realm.json"), `{"realm":"acme","enabled":true}`)
	const perFile = 1_000
	for first := 0; first < n; first += perFile {
		if err := writeRealmUsers(filepath.Join(dir, fmt.Sprintf("acme-users-%d.json", first/perFile)), first, min(n, first+perFile)); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// writeRealmUsers writes the users from first to before end.
func writeRealmUsers(path string, first, end int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	fmt.Fprint(w, `{"realm":"acme","users":[`)
	for i := first; i < end; i++ {
		if i > first {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, `{"id":"0a7d1b5e-2222-4a11-8a11-%012d","username":"user%d","email":"user%d@example.org","emailVerified":true,"enabled":true,"createdTimestamp":1600000000000,`+
			`"firstName":"Given%d","lastName":"Family%d","credentials":[{"type":"password","createdDate":1700000000000,`+
			`"secretData":"{\"value\":\"44Wat5EgEsxZEW9V/61E5zAQDoWDk3dm1DFRmK9hpvV7GsumzE15EMwWfBReFoADHKsYu06O8rQd2/fYUBXknQ==\",\"salt\":\"c2FsdCBvZiBhZGEgMTIzNA==\",\"additionalParameters\":{}}",`+
			`"credentialData":"{\"hashIterations\":210000,\"algorithm\":\"pbkdf2-sha512\",\"additionalParameters\":{}}"}]}`, i, i, i, i, i)
	}
	fmt.Fprint(w, "]}")
	return w.Flush()
}
