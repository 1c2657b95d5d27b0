package storetest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// keeper is the shell script that owns a test cluster. Its standard input is a
// pipe that the test binary holds open: when the binary ends, however it ends,
// the pipe closes, and the server is stopped and the folder removed.
const keeper = `
trap '' INT TERM HUP
dir=$1 bin=$2
shift 2
if "$bin/initdb" -D "$dir/data" -U postern -A trust -E UTF8 --locale=C -N >"$dir/log" 2>&1
then
	{
		"$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c fsync=off -c full_page_writes=off -c deadlock_timeout=50ms -c max_connections=200 "$@" >>"$dir/log" 2>&1
		: >"$dir/ended"
	} &
else
	: >"$dir/ended"
fi
cat >/dev/null
while [ ! -e "$dir/ended" ]
do
	pid=$(head -n 1 "$dir/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
	sleep 0.1
done
rm -rf "$dir"
`

// cluster is a PostgreSQL server to test on. Held, unless nil, is the pipe that keeps it running:
// only the end of the process closes it.
type cluster struct {
	dsn  string
	dir  string // with its data and its log; "" if the tests did not start it
	held *os.File
}

// startCluster creates a cluster in a temporary folder and starts its server, which listens only on
// a socket in that folder. PostgreSQL does not run as root: if the test does, the server runs as an
// unprivileged user. The settings (name=value) replace those of the tests.
func startCluster(bin string, settings ...string) (*cluster, error) {
	dir, err := os.MkdirTemp("", "postern-pg-")
	if err != nil {
		return nil, err
	}
	read, held, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	cmd := exec.Command("/bin/sh", "-c", keeper, "keeper", dir, bin)
	for _, setting := range settings {
		cmd.Args = append(cmd.Args, "-c", setting)
	}
	cmd.Dir, cmd.Stdin = dir, read
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TZ=UTC"}
	// A group of its own: Ctrl-C must not end the keeper before its work is done.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		if cmd.SysProcAttr.Credential, err = unprivileged(dir); err != nil {
			return nil, err
		}
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting PostgreSQL: %w", err)
	}
	c := &cluster{dsn: fmt.Sprintf("host='%s' user=postern dbname=postgres sslmode=disable", dir), dir: dir, held: held}
	return c, awaitServer(c.dsn, dir)
}

// unprivileged changes the owner of the folder to a user other than root, and returns that user.
func unprivileged(dir string) (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, uid, gid)
	}
	return nil, fmt.Errorf("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}

// awaitServer waits until the server answers or has ended. There is no deadline
// that a slow machine could miss.
func awaitServer(dsn, dir string) error {
	for {
		err := executeOnce(dsn, "SELECT 1")
		if err == nil {
			return nil
		}
		if _, ended := os.Stat(filepath.Join(dir, "ended")); ended == nil {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			return fmt.Errorf("the PostgreSQL server of the tests did not start: %w\n%s", err, log)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
