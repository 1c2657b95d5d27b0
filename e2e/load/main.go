// Command load measures the built server over HTTPS on loopback, on SQLite and PostgreSQL, and
// prints one table: units per second, latency, failures, the processor time of the server for each
// unit, and what it sends to PostgreSQL. `make load` runs it.
//
// Each run starts the server on a fresh store with the given number of users, and adds a user with
// a passkey for each caller. Callers do one unit after another for a bounded time. A small proxy
// between the server and PostgreSQL counts round trips and can add latency.
//
// The callers, the server and PostgreSQL share the processors, so rates depend on the machine and
// on everything else that runs there. The processor time per unit depends on them less.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
)

// options are the flags of the command.
type options struct {
	binary    string
	drivers   []string
	users     []int
	scenarios []string // none for all
	callers   int
	duration  time.Duration
	latency   time.Duration
	direct    bool
	cores     string // processors of the server and PostgreSQL; "" for all
	procs     int    // GOMAXPROCS of the server; 0 for the default
	chart     string // path of the chart; "" for none
	starts    int    // number of starts to measure, and nothing else; 0 for none
	trace     bool   // prints the statements of one unit of each scenario, and measures nothing
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // to end the server and remove its data
	defer stop()
	o, err := parse(os.Args[1:])
	if err == nil {
		err = measureAll(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// parse reads the command line.
func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("load", flag.ContinueOnError)
	f.StringVar(&o.binary, "binary", folder(), "the built server")
	databases := f.String("databases", "sqlite,postgres", "the databases to measure")
	users := f.String("users", "1000", "the numbers of users in the store, separated by commas")
	only := f.String("scenarios", "", "the scenarios to measure, separated by commas; none for all")
	f.IntVar(&o.callers, "callers", 64, "concurrent callers")
	f.DurationVar(&o.duration, "duration", 4*time.Second, "how long each scenario is measured")
	f.DurationVar(&o.latency, "latency", 0, "added to each round trip to PostgreSQL")
	f.BoolVar(&o.direct, "direct", false, "connect the server to PostgreSQL itself, without the proxy that counts round trips")
	f.StringVar(&o.cores, "cores", "", "run the server and PostgreSQL on these processors only, such as 0")
	f.IntVar(&o.procs, "procs", 0, "GOMAXPROCS of the server")
	f.StringVar(&o.chart, "chart", "", "write a chart (SVG) to this file")
	f.IntVar(&o.starts, "starts", 0, "measure only this number of starts, up to the first answer over TLS")
	f.BoolVar(&o.trace, "trace", false, "print the statements that one unit of each scenario sends to PostgreSQL, and measure nothing")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.drivers = strings.Split(*databases, ",")
	for size := range strings.SplitSeq(*users, ",") {
		n, err := strconv.Atoi(size)
		if err != nil {
			return o, fmt.Errorf("-users %q: expected numbers separated by commas", *users)
		}
		o.users = append(o.users, n)
	}
	if *only != "" {
		o.scenarios = strings.Split(*only, ",")
	}
	return o, o.check()
}

// check rejects unknown names and unbounded load.
func (o options) check() error {
	if o.callers < 1 || o.callers > 1024 || o.duration <= 0 || o.duration > 10*time.Minute {
		return fmt.Errorf("expected 1 to 1024 callers and at most 10 minutes for each scenario")
	}
	if o.direct && (o.latency > 0 || o.trace) {
		return fmt.Errorf("-latency and -trace need the proxy: omit -direct")
	}
	if o.starts < 0 || o.starts > 1000 {
		return fmt.Errorf("-starts %d: expected at most 1000", o.starts)
	}
	for _, driver := range o.drivers {
		if driver != "sqlite" && driver != "postgres" {
			return fmt.Errorf("-databases: %q is unknown; expected sqlite or postgres", driver)
		}
	}
	for _, name := range o.scenarios {
		if !slices.ContainsFunc(scenarios(), func(sc scenario) bool { return sc.name == name }) {
			return fmt.Errorf("-scenarios: %q is unknown", name)
		}
	}
	return nil
}

// measureAll measures each database with each number of users.
func measureAll(ctx context.Context, o options) error {
	var results []result
	for _, driver := range o.drivers {
		for _, users := range o.users {
			found, err := measureOne(ctx, o, driver, users)
			if err != nil {
				return fmt.Errorf("%s with %d users: %w", driver, users, err)
			}
			results = append(results, found...)
		}
	}
	if o.chart == "" {
		return nil
	}
	return os.WriteFile(o.chart, []byte(chart(results)), 0o644)
}

// measureOne measures a server on a database with a number of users.
func measureOne(ctx context.Context, o options, driver string, users int) (found []result, err error) {
	t, err := newTarget(o, driver)
	if err != nil {
		return nil, err
	}
	defer func() {
		if failed := t.close(); err == nil {
			err = failed
		}
	}()
	if err := t.fill(ctx, users); err != nil {
		return nil, err
	}
	if o.starts > 0 {
		times, err := t.measureStarts(o.starts)
		if err == nil {
			printStarts(os.Stdout, driver, times)
		}
		return nil, err
	}
	if err := t.start(o.cores); err != nil {
		return nil, err
	}
	if o.trace {
		return nil, t.traceAll(o)
	}
	resting, err := t.observeIdle()
	if err != nil {
		return nil, err
	}
	printIdle(os.Stdout, resting)
	raw, err := rawCost()
	if err != nil {
		return nil, err
	}
	fmt.Printf("one P-256 verification and one signature: %.4f ms of processor time, x raw = 1\n", milliseconds(raw))
	callers, err := t.enroll(o.callers)
	if err != nil {
		return nil, err
	}
	printHead(os.Stdout)
	for _, sc := range scenarios() {
		if len(o.scenarios) > 0 && !slices.Contains(o.scenarios, sc.name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := run(t, sc, callers, o.duration)
		if err != nil {
			return nil, err
		}
		r.users, r.raw = users, raw
		printRow(os.Stdout, r)
		found = append(found, r)
	}
	return found, nil
}

// fill creates the store by starting the server once, and adds the users.
func (t *target) fill(ctx context.Context, users int) error {
	if err := t.start(""); err != nil {
		return err
	}
	if err := t.stop(); err != nil {
		return err
	}
	return seed(ctx, t.database.config, users)
}

// enroll creates the applications, and a user with a passkey for each caller.
func (t *target) enroll(n int) ([]*caller, error) {
	token, err := t.adminToken()
	if err != nil {
		return nil, err
	}
	w := &world{base: t.base, client: t.client, admin: token}
	for name, made := range map[string]*application{"RS256": &w.shop, "ES256": &w.modern} {
		*made, err = t.application(token, fmt.Sprintf(`{"name":"Shop %[1]s","isRegistrationFlowEnabled":true,"inboundAuthConfig":[{"type":"oauth2","config":{
			"publicClient":true,"redirectUris":["%[2]s"],"scopes":["openid","account","offline_access"],"grantTypes":["authorization_code","refresh_token"],
			"token":{"idToken":{"signedResponseAlg":"%[1]s"}}}}]}`, name, redirectURI))
		if err != nil {
			return nil, err
		}
	}
	w.machine, err = t.application(token, `{"name":"Machine","inboundAuthConfig":[{"type":"oauth2","config":{"grantTypes":["client_credentials"],"scope":"system"}}]}`)
	if err != nil {
		return nil, err
	}
	callers, failures := make([]*caller, n), make([]error, n)
	var enrolling sync.WaitGroup
	for i := range callers {
		callers[i] = &caller{world: w, device: passkeytest.New(passkeytest.NoCounter(), passkeytest.Algorithms(-7))}
		enrolling.Go(func() { failures[i] = callers[i].signUp(fmt.Sprint("caller", i)) })
	}
	enrolling.Wait()
	for _, failure := range failures {
		if failure != nil {
			return nil, failure
		}
	}
	return callers, nil
}

// idle is the resource usage of a server without callers.
type idle struct {
	driver     string
	ready      time.Duration
	memory     float64 // MiB
	anonymous  float64 // MiB without the pages of files
	processor  float64 // seconds per second
	statements float64 // per second
}

// idlePeriod is how long a server is observed.
const idlePeriod = 5 * time.Second

func (t *target) observeIdle() (i idle, err error) {
	time.Sleep(time.Second) // the checks after a start end
	before, err := t.usage()
	if err != nil {
		return i, err
	}
	time.Sleep(idlePeriod)
	after, err := t.usage()
	if err != nil {
		return i, err
	}
	i = idle{driver: t.database.config.Driver, ready: t.ready, processor: (after.server - before.server).Seconds() / idlePeriod.Seconds()}
	i.statements = float64(after.traffic.since(before.traffic).statements) / idlePeriod.Seconds()
	i.memory, err = memory(t.cmd.Process.Pid, "VmRSS")
	if err == nil {
		i.anonymous, err = memory(t.cmd.Process.Pid, "RssAnon")
	}
	return i, err
}
