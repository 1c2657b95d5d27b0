package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticks is the number of clock ticks per second in /proc/PID/stat. Linux has used this value for
// programs on all its common platforms since 2.6 (proc_pid_stat(5)).
const ticks = 100

// processorTime returns the processor time that a process has used, and with children also that
// of its living children.
func processorTime(pid int, children bool) (time.Duration, error) {
	stat, err := readStat(pid)
	if err != nil {
		return 0, err
	}
	used := stat.used
	if !children {
		return used, nil
	}
	living, err := childrenOf(pid)
	for _, child := range living {
		used += child.used
	}
	return used, err
}

// childrenOf returns the living children of a process.
func childrenOf(pid int) (found []processStat, err error) {
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		id, err := strconv.Atoi(filepath.Base(entry))
		if err != nil {
			return nil, err
		}
		if child, err := readStat(id); err == nil && child.parent == pid { // others may end meanwhile
			found = append(found, child)
		}
	}
	return found, nil
}

// processStat contains the values of /proc/PID/stat that this program reads.
type processStat struct {
	pid    int
	parent int
	used   time.Duration
}

func readStat(pid int) (s processStat, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, err
	}
	_, rest, _ := bytes.Cut(text, []byte(") ")) // the name in parentheses may contain spaces
	fields := strings.Fields(string(rest))
	const parent, user, system = 1, 11, 12
	if len(fields) <= system {
		return s, fmt.Errorf("/proc/%d/stat: expected more fields", pid)
	}
	var sum int64
	for _, i := range []int{user, system} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return s, err
		}
		sum += n
	}
	s.pid, s.used = pid, time.Duration(sum)*time.Second/ticks
	s.parent, err = strconv.Atoi(fields[parent])
	return s, err
}

// memory returns the resident memory of a process in MiB: a member of /proc/PID/status, VmRSS for
// all of it or RssAnon for that without the pages of files, such as the program's own.
func memory(pid int, member string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if size, found := strings.CutPrefix(line, member+":"); found {
			kib, err := strconv.ParseFloat(strings.Fields(size)[0], 64)
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/status has no %s", pid, member)
}

// pin runs a process, its living children, and those that they start from now on, on these processors
// only.
func pin(pid int, cores string) error {
	if cores == "" || pid == 0 {
		return nil
	}
	living, err := childrenOf(pid)
	if err != nil {
		return err
	}
	for _, p := range append(living, processStat{pid: pid}) {
		out, err := exec.Command("taskset", "-a", "-p", "-c", cores, strconv.Itoa(p.pid)).CombinedOutput()
		if _, gone := readStat(p.pid); err != nil && gone == nil {
			return fmt.Errorf("taskset: %w: %s", err, out)
		}
	}
	return nil
}
