package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// statementLog collects statements.
type statementLog struct {
	mu   sync.Mutex
	list []string
}

func (l *statementLog) add(statement string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, strings.Join(strings.Fields(statement), " "))
}

// take returns the statements since the last call.
func (l *statementLog) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.list
	l.list = nil
	return taken
}

// print writes the statements since the last call of take.
func (l *statementLog) print(title string) {
	fmt.Println(title)
	for i, q := range l.take() {
		fmt.Printf("%4d  %.300s\n", i+1, q)
	}
}

// traceAll prints the statements of one unit of each scenario. Those of the server's own tasks can
// be among them.
func (t *target) traceAll(o options) error {
	callers, err := t.enroll(1)
	if err != nil {
		return err
	}
	t.statements.take()
	time.Sleep(idlePeriod)
	t.statements.print(fmt.Sprintf("idle for %v", idlePeriod))
	for _, sc := range scenarios() {
		if len(o.scenarios) > 0 && !slices.Contains(o.scenarios, sc.name) {
			continue
		}
		if err := prepare(sc, callers); err != nil {
			return err
		}
		if err := sc.do(callers[0]); err != nil { // prepares the statements
			return err
		}
		t.statements.take()
		if err := sc.do(callers[0]); err != nil {
			return err
		}
		t.statements.print(sc.name)
	}
	return nil
}
