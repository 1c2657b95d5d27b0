package storetest

import (
	"bytes"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// replicasKeeper is the shell script that ends the servers of a folder and removes it when its
// standard input closes, however the test binary ends.
const replicasKeeper = `
trap '' INT TERM HUP
cat >/dev/null
for node in "$1"/*
do
	while pid=$(head -n 1 "$node/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
	do
		sleep 0.1
	done
done
rm -rf "$1"
`

// Replicas is a PostgreSQL primary with a synchronous standby. A commit returns when the standby
// has applied it (synchronous_commit=remote_apply), so a failover loses no acknowledged commit. Its
// methods, except Dial, are for one goroutine.
type Replicas struct {
	t          testing.TB
	dir, bin   string
	credential *syscall.Credential
	made       int // number of nodes so far

	mu               sync.Mutex
	primary, standby *replica
}

// replica is one server. It listens on a socket in its folder.
type replica struct {
	dir    string
	cmd    *exec.Cmd
	exited chan struct{}
}

// StartReplicas starts both servers in a temporary folder. They end with the test. Without
// PostgreSQL it skips the test, or fails it in CI, as Postgres does.
func StartReplicas(t testing.TB) *Replicas {
	t.Helper()
	bin, err := findBinaries()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("PostgreSQL is needed here: %v", err)
		}
		t.Skipf("SKIP: no PostgreSQL to test on: %v", err)
	}
	dir, err := os.MkdirTemp("", "postern-pg-")
	must(t, err)
	r := &Replicas{t: t, dir: dir, bin: bin}
	if os.Geteuid() == 0 {
		r.credential, err = unprivileged(dir)
		must(t, err)
	}
	r.keep()
	r.primary = r.newReplica()
	r.execute("initdb", "-D", r.primary.data(), "-U", "postern", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
	r.start(r.primary)
	r.addStandby()
	return r
}

// keep starts the keeper of the folder.
func (r *Replicas) keep() {
	read, held, err := os.Pipe()
	must(r.t, err)
	keeper := r.command("/bin/sh", "-c", replicasKeeper, "keeper", r.dir)
	keeper.Stdin = read
	must(r.t, keeper.Start())
	must(r.t, read.Close())
	r.t.Cleanup(func() {
		_ = held.Close()
		_ = keeper.Wait()
	})
}

// command is a command as the owner of the servers. PostgreSQL does not run as root.
func (r *Replicas) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = r.dir, []string{"PATH=" + os.Getenv("PATH"), "TZ=UTC"}
	// A group of its own: Ctrl-C must not end the keeper before its work is done.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: r.credential}
	return cmd
}

func (r *Replicas) execute(program string, args ...string) {
	r.t.Helper()
	if out, err := r.command(filepath.Join(r.bin, program), args...).CombinedOutput(); err != nil {
		r.t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

func (r *Replicas) newReplica() *replica {
	r.t.Helper()
	r.made++
	n := &replica{dir: filepath.Join(r.dir, strconv.Itoa(r.made))}
	must(r.t, os.Mkdir(n.dir, 0o700))
	if r.credential != nil {
		must(r.t, os.Chown(n.dir, int(r.credential.Uid), int(r.credential.Gid)))
	}
	return n
}

func (n *replica) data() string { return filepath.Join(n.dir, "data") }

func (n *replica) dsn() string {
	return fmt.Sprintf("host='%s' user=postern dbname=postgres sslmode=disable", n.dir)
}

// start starts a server and waits until it answers. Processes that end by themselves leave their
// data with the operating system, so the servers do not wait for the disk.
func (r *Replicas) start(n *replica) {
	r.t.Helper()
	n.cmd = r.command(filepath.Join(r.bin, "postgres"), "-D", n.data(), "-k", n.dir, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "synchronous_standby_names=*", "-c", "synchronous_commit=remote_apply", "-c", "max_connections=100")
	var log bytes.Buffer
	n.cmd.Stderr = &log
	must(r.t, n.cmd.Start())
	exited := make(chan struct{})
	n.exited = exited
	go func() {
		defer close(exited)
		_ = n.cmd.Wait() // the log has the reason
	}()
	for executeOnce(n.dsn(), "SELECT 1") != nil {
		select {
		case <-exited:
			r.t.Fatalf("the PostgreSQL server of the tests did not start:\n%s", &log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// addStandby copies the primary and waits until the copy confirms commits.
func (r *Replicas) addStandby() {
	r.t.Helper()
	n := r.newReplica()
	r.execute("pg_basebackup", "-D", n.data(), "-d", r.primary.dsn(), "-R", "-X", "stream", "-c", "fast", "-N")
	r.start(n)
	r.standby = n
	r.awaitStandby()
}

// awaitStandby waits until the standby is synchronous.
func (r *Replicas) awaitStandby() {
	r.t.Helper()
	db, err := sql.Open("postgres", r.primary.dsn())
	must(r.t, err)
	defer db.Close()
	for connected := 0; connected == 0; time.Sleep(20 * time.Millisecond) {
		must(r.t, db.QueryRow("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'").Scan(&connected))
	}
}

// Dial connects to the primary. Its user is postern, its database postgres.
func (r *Replicas) Dial() (net.Conn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return net.Dial("unix", filepath.Join(r.primary.dir, ".s.PGSQL.5432"))
}

// crash ends a server at once, without a checkpoint, and waits until all its processes are gone.
func (r *Replicas) crash(n *replica) {
	r.t.Helper()
	must(r.t, n.cmd.Process.Signal(syscall.SIGQUIT))
	<-n.exited
}

// Restart crashes the primary, and starts it again after the pause.
func (r *Replicas) Restart(pause time.Duration) {
	r.t.Helper()
	r.crash(r.primary)
	time.Sleep(pause)
	r.start(r.primary)
	r.awaitStandby()
}

// FailOver crashes the primary, promotes the standby, and adds a new standby. Until the new standby
// confirms commits, the new primary acknowledges none.
func (r *Replicas) FailOver() {
	r.t.Helper()
	r.crash(r.primary)
	must(r.t, executeOnce(r.standby.dsn(), "SELECT pg_promote(true, 600)"))
	former := r.primary
	r.mu.Lock()
	r.primary, r.standby = r.standby, nil
	r.mu.Unlock()
	must(r.t, os.RemoveAll(former.dir))
	r.addStandby()
}

// DSN is the connection string of the server that is the primary now.
func (r *Replicas) DSN() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.primary.dsn()
}

// Freeze stops all processes of the primary while a function runs. Its connections stay open.
func (r *Replicas) Freeze(during func()) {
	r.t.Helper()
	pid := r.primary.cmd.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	must(r.t, err)
	all := append([]string{strconv.Itoa(pid)}, strings.Fields(string(children))...)
	signal := func(s syscall.Signal) {
		for _, child := range all {
			id, err := strconv.Atoi(child)
			must(r.t, err)
			_ = syscall.Kill(id, s) // a connection may have ended
		}
	}
	signal(syscall.SIGSTOP)
	defer signal(syscall.SIGCONT)
	during()
}
