package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// tortureFault is a fault that inject causes and ends.
type tortureFault struct {
	name   string
	inject func()
}

// processFaults are faults of the server process.
func (x *torture) processFaults() []tortureFault {
	return []tortureFault{
		{"kill -9", func() { x.kill(); x.start() }},
		{"SIGTERM", func() {
			if code := x.terminate(); code != 0 {
				x.t.Errorf("after SIGTERM the server ended with exit code %d, want 0\n%s", code, x.log)
			}
			x.start()
		}},
		{"server stopped", func() {
			_ = x.process.Signal(syscall.SIGSTOP)
			time.Sleep(2 * time.Second)
			_ = x.process.Signal(syscall.SIGCONT)
		}},
	}
}

// connectionFaults are faults of the connections through a proxy.
func (x *torture) connectionFaults(name string, through *faultyProxy) []tortureFault {
	disturb := func(mode disturbance) func() { return func() { through.disturb(x.t, mode, 400) } }
	return []tortureFault{
		{"cut " + name, disturb(cutting)},
		{"truncate " + name, disturb(truncating)},
		{"delay " + name, disturb(delaying)},
		{"trickle " + name, disturb(trickling)},
		{"close " + name, through.closeAll},
	}
}

// awaitsDatabase checks that the server is not ready while the database does not answer for a time.
func (x *torture) awaitsDatabase(pause time.Duration) {
	x.t.Helper()
	began := time.Now()
	eventually(x.t, "the server is not ready while the database does not answer", func() bool { return !x.ready() })
	time.Sleep(max(0, pause-time.Since(began)))
}

// diskSize is the size of the disk that runs full, in bytes. It is in memory.
const diskSize = "256m"

// smallDisk mounts a file system in memory at the folder until the test ends, only with -torture. fill
// fills it for a while; it is nil where mounting is not permitted.
func smallDisk(t *testing.T, dir string) (fill func(*torture)) {
	t.Helper()
	if *tortureTime == 0 {
		return nil
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+diskSize); err != nil {
		t.Logf("no full disk: mounting tmpfs: %v; run the test as root", err)
		return nil
	}
	t.Cleanup(func() { // after the server has ended, whose cleanup is added later
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmounting %s: %v", dir, err)
		}
	})
	return func(x *torture) { x.fillDisk(filepath.Join(dir, "filler")) }
}

// fillDisk writes a file until the disk is full, and removes it when the server has noticed.
func (x *torture) fillDisk(filler string) {
	x.t.Helper()
	f, err := os.Create(filler)
	if err != nil {
		x.t.Fatal(err)
	}
	zeros := make([]byte, 4096)
	fill := func() {
		for err == nil {
			_, err = f.Write(zeros)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			x.t.Fatal(err)
		}
		err = nil
	}
	eventually(x.t, "the server is not ready while the disk is full", func() bool {
		fill() // the server may have freed a part
		return !x.ready()
	})
	time.Sleep(time.Second)
	if err := errors.Join(f.Close(), os.Remove(filler)); err != nil {
		x.t.Fatal(err)
	}
}
