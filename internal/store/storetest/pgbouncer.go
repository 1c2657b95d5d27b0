package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/postern-id/postern/schemas"
)

// bouncerKeeper is the shell script that owns a PgBouncer, like keeper.
const bouncerKeeper = `
trap '' INT TERM HUP
dir=$1 program=$2
{
	"$program" "$dir/pgbouncer.ini" >"$dir/log" 2>&1 &
	echo $! >"$dir/pid"
	wait $!
	: >"$dir/ended"
} &
cat >/dev/null
kill -INT "$(cat "$dir/pid")" 2>/dev/null
while [ ! -e "$dir/ended" ]; do sleep 0.1; done
rm -rf "$dir"
`

// bouncerConfig is the configuration of a PgBouncer with few connections to the server, so that its
// clients share them. Each of its databases is the one of the server with the same name.
const bouncerConfig = `[databases]
* = %s
[pgbouncer]
listen_addr =
unix_socket_dir = %s
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 400
`

// PgBouncer returns the connection string of an empty database behind a PgBouncer in transaction
// mode. The database is dropped when the test ends. It skips or fails like Postgres if there is no
// PgBouncer.
func PgBouncer(t testing.TB) (dsn string) {
	t.Helper()
	needBouncer(t)
	direct := reply(newDatabase("template1")).get(t)
	t.Cleanup(func() { dropDatabase(t, direct) })
	return bouncerTo(t, direct)
}

func needBouncer(t testing.TB) {
	t.Helper()
	if _, err := bouncer(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("PgBouncer is needed here: %v", err)
		}
		t.Skipf("no PgBouncer to test on: %v (install it)", err)
	}
}

// bouncerTo returns the connection string, through the PgBouncer, of the database of another one.
func bouncerTo(t testing.TB, direct string) (dsn string) {
	t.Helper()
	return reply(bouncer()).get(t).dsn + " dbname=" + databaseOf(direct)
}

func dropDatabase(t testing.TB, dsn string) {
	t.Helper()
	must(t, executeOnce(reply(server()).get(t).dsn, "DROP DATABASE "+databaseOf(dsn)+" WITH (FORCE)"))
}

// newDatabase creates a database on the server and returns its connection string.
func newDatabase(template string) (dsn string, err error) {
	running, err := server()
	if err != nil {
		return "", err
	}
	name := "test_" + strings.ReplaceAll(schemas.NewID(), "-", "")
	// While a database is copied, no other copy of it can begin.
	creating.Lock()
	defer creating.Unlock()
	to, err := pq.NewConfig(running.dsn)
	if err != nil {
		return "", err
	}
	dsn = fmt.Sprintf("host='%s' port=%d user='%s' password='%s' sslmode=%s dbname=%s",
		to.Host, cmp.Or(to.Port, 5432), to.User, to.Password, to.SSLMode, name)
	return dsn, executeOnce(running.dsn, "CREATE DATABASE "+name+" TEMPLATE "+template)
}

var creating sync.Mutex

func databaseOf(dsn string) string { return dsn[strings.LastIndex(dsn, "dbname=")+len("dbname="):] }

// bouncer returns the PgBouncer of this test binary. It ends with the binary.
var bouncer = sync.OnceValues(func() (*cluster, error) {
	running, err := server()
	if err != nil {
		return nil, err
	}
	program, err := findBouncer()
	if err != nil {
		return nil, err
	}
	return startBouncer(program, running.dsn)
})

// findBouncer finds pgbouncer in the PATH, or where Debian installs it.
func findBouncer() (string, error) {
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path, nil
	}
	if isProgram("/usr/sbin", "pgbouncer") {
		return "/usr/sbin/pgbouncer", nil
	}
	return "", errors.New("pgbouncer is neither in the PATH nor in /usr/sbin")
}

// startBouncer starts a PgBouncer that listens on a socket in a temporary folder. It does not run as
// root either.
func startBouncer(program, dsn string) (*cluster, error) {
	to, err := pq.NewConfig(dsn)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "postern-pgbouncer-")
	if err != nil {
		return nil, err
	}
	target := fmt.Sprintf("host='%s' port=%d user='%s'", to.Host, cmp.Or(to.Port, 5432), to.User)
	if to.Password != "" { // PgBouncer takes no empty one
		target += fmt.Sprintf(" password='%s'", to.Password)
	}
	text := fmt.Sprintf(bouncerConfig, target, dir)
	if err := os.WriteFile(filepath.Join(dir, "pgbouncer.ini"), []byte(text), 0o644); err != nil {
		return nil, err
	}
	read, held, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	cmd := exec.Command("/bin/sh", "-c", bouncerKeeper, "keeper", dir, program)
	cmd.Dir, cmd.Stdin, cmd.Env = dir, read, []string{"PATH=" + os.Getenv("PATH"), "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		if cmd.SysProcAttr.Credential, err = unprivileged(dir); err != nil {
			return nil, err
		}
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting PgBouncer: %w", err)
	}
	c := &cluster{dsn: fmt.Sprintf("host='%s' port=6432 user=postern sslmode=disable", dir), held: held}
	return c, awaitBouncer(c.dsn, dir)
}

func awaitBouncer(dsn, dir string) error {
	for {
		err := executeOnce(dsn+" dbname=postgres", "SELECT 1")
		if err == nil {
			return nil
		}
		_, ended := os.Stat(filepath.Join(dir, "ended"))
		if _, replied := errors.AsType[*pq.Error](err); ended == nil || replied {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			return fmt.Errorf("the PgBouncer of the tests did not start: %w\n%s", err, log)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
