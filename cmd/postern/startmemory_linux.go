package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
)

// releaseStartMemory returns memory to the system that only the start needed: free memory of the
// heap, and the pages of the program file, which the initialization of all packages maps. The server
// maps the pages that it needs again from the page cache, 16 at a time.
func releaseStartMemory() {
	debug.FreeOSMemory()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return // the memory stays resident, which does no harm
	}
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for _, m := range unmodifiedMappings(maps, program) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.start, m.end-m.start, syscall.MADV_DONTNEED) // advice only
	}
}

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// unmodifiedMappings returns the read-only mappings of a file, from the text of /proc/PID/smaps
// (proc_pid_smaps(5)). It leaves out those with a page that differs from the file, such as one with
// a breakpoint of a debugger or a probe of a tracer: the advice would remove it.
func unmodifiedMappings(smaps []byte, file string) (list []mapping) {
	var last *mapping
	for lines := bufio.NewScanner(bytes.NewReader(smaps)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		var m mapping
		if len(fields) < 2 {
			continue
		}
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &m.start, &m.end); err == nil {
			isOurs := len(fields) == 6 && fields[5] == file && strings.HasPrefix(fields[1], "r-")
			if last = nil; isOurs {
				last = &m
			}
		} else if fields[0] == "Anonymous:" && last != nil && fields[1] == "0" {
			list = append(list, *last)
		}
	}
	return list
}
