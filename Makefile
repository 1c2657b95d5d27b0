# Two commands do all the set-up: `make run` and `make test`.

export CGO_ENABLED ?= 0
# One set of flags, so that build, vet and test compile the dependencies once.
export GOFLAGS ?= -trimpath

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
OUT     := bin/postern
# The same source and the same VERSION give the same bytes: no path and no state of git is part of it.
BINARY   = $(GO) build $(BUILDFLAGS) -buildvcs=false -ldflags '$(LDFLAGS)' -o $(OUT) ./cmd/postern

.PHONY: build binary checker image release-check run site test connect npm console race lint fuzz simulate bench load torture ci clean

CHECKER := server/console/wasm/built

## build: bin/postern, with the flow checker for the browser
build: checker
	@test -x bin/postern || echo 'The first build takes a few minutes.'
	$(BINARY)

## binary: OUT, for GOOS and GOARCH, with the checker that exists
binary:
	$(BINARY)

## checker: the flow checker of the console for the browser. bin/postern embeds it; without it the
## console checks flows on the server
checker:
	GOOS=js GOARCH=wasm $(GO) build $(BUILDFLAGS) -buildvcs=false -ldflags '-s -w' -o bin/checker.wasm ./server/console/wasm
	@gzip -dc $(CHECKER)/checker.wasm.gz 2>/dev/null | cmp -s - bin/checker.wasm || { \
	  gzip -9nc bin/checker.wasm > $(CHECKER)/.new && mv $(CHECKER)/.new $(CHECKER)/checker.wasm.gz; }
	@cmp -s "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" $(CHECKER)/wasm_exec.js || cp "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" $(CHECKER)/

## image: the container image `postern`, with buildah and without a base image (deploy/image.sh)
image: checker
	GOOS=linux $(MAKE) -s binary OUT=bin/image/postern
	deploy/release.sh licenses > bin/image/licenses
	deploy/image.sh bin/image/postern bin/image/licenses $(TARGET)

## release-check: build a release binary twice in different folders and compare the bytes
release-check:
	deploy/release.sh check

# The folder of the checker while `make run` compiles it: it exists once the checker is complete.
LATER := bin/checker

## run: build, seed an empty store, serve http://localhost:8090, and print where to go. The flow checker for the
## browser is compiled while the server runs; until then the console uses that of the server.
## `make run HTTPS=1` serves https with a self-signed certificate, as `postern serve` does
run: BUILDFLAGS := -v
run:
	@rm -rf $(LATER) $(LATER).new && mkdir -p $(LATER).new
	@test -x bin/postern || echo 'The first build takes a few minutes.'
	@deploy/progress.sh $(BINARY)
	@{ nice $(MAKE) -s checker BUILDFLAGS= >bin/checker.log 2>&1 && cp $(CHECKER)/checker.wasm.gz $(CHECKER)/wasm_exec.js $(LATER).new && \
	    mv $(LATER).new $(LATER) || echo 'The flow checker for the browser was not built: see bin/checker.log' >&2; } & \
	  trap "kill $$! 2>/dev/null" EXIT; \
	  POSTERN_SERVER_HTTP_ONLY=$${POSTERN_SERVER_HTTP_ONLY:-$(if $(HTTPS),false,true)} bin/postern serve --try --checker $(LATER) $(ARGS)

## site: the documentation as a website, in bin/site. It needs no server: open bin/site/index.html
site:
	rm -rf bin/site
	$(GO) run ./cmd/site

# Many tests wait for a disk, a browser or a server, so more of them run at once than there are
# processors. The packages that take the longest start first.
CORES   := $(shell getconf _NPROCESSORS_ONLN)
OVERLAP := -p $(shell expr $(CORES) + 1) -parallel $(shell expr $(CORES) \* 2)

## test: every test, and the built-in flows; tests that need a browser, PostgreSQL or Node say SKIP where there is none
test: build
	$(GO) test -timeout 40m $(TESTFLAGS) $(OVERLAP) ./e2e ./cmd/postern ./internal/store ./...
	bin/postern flow check flows/*.yaml flows/recipes
	bin/postern flow test flows

## connect: the configurations of docs/connect with the libraries of Kubernetes, Argo CD, Grafana and Gitea, which are a module of
## their own and take a minute or two to compile
connect: build
	cd e2e/connect && $(GO) vet ./... && $(GO) test -vet=off -timeout 20m $(TESTFLAGS) -count 1 ./...

## npm: the packages of the tests that run in Node 20 or newer, in the versions of their lock files
npm:
	cd examples/react && npm ci --no-audit --no-fund
	cd examples/node && npm ci --no-audit --no-fund
	cd e2e/mcp && npm ci --no-audit --no-fund
	cd e2e/openapi && npm ci --no-audit --no-fund
	cd editors/vscode && npm ci --no-audit --no-fund
	cd server/console/web && npm ci --no-audit --no-fund

## console: the built files of the console, server/console/dist, which are part of the repository; needs `make npm`
console:
	cd server/console/web && npm run check && npm run build

# SQLite is C made Go, with its data in memory that the race detector does not watch. Its
# driver, modernc.org/sqlite, is watched.
RACEFLAGS := -gcflags='modernc.org/...=-d=checkptr=0' \
  -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc=-race=false

# What a package contains that runs several things at once. e2e runs the built binary.
CONCURRENT := ^[[:space:]]*go (func|[a-zA-Z.]+[(])|[.]Go[(]|Parallel[(]|synctest[.]|net[.]Listen[(]|httptest[.]New(TLS|Unstarted)?Server

## race: the tests under the race detector (needs a C compiler), without those that do one thing
## after another: packages that start no goroutine, the seeds of fuzz targets, and what -short skips
race:
	CGO_ENABLED=1 $(GO) test -race -short -skip '^Fuzz' -vet=off $(RACEFLAGS) $(OVERLAP) -timeout 40m ./cmd/postern ./internal/store \
	  $$(for dir in $$($(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./... | grep -v '/e2e$$'); do \
	    grep -qE '$(CONCURRENT)' $$dir/*.go && echo $$dir; done)

## lint: formatting, vet, staticcheck, and that go.mod says what the code needs
lint:
	@test -z "$$(gofmt -l .)" || { echo 'run gofmt on:'; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) mod verify

FUZZTIME ?= 10s

## fuzz: every fuzz target for FUZZTIME: a time (1m), or a number of inputs (2000x). Each
## package is built once, because linking takes longer than a short run, while the targets of
## the packages before it run: one on each processor, with one worker. A package that does not
## build has no program, so its targets fail
fuzz:
	@rm -rf bin/fuzz; mkdir -p bin/fuzz; cache=$$($(GO) env GOCACHE)/fuzz; export cache; \
	for pkg in $$($(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./...); do \
	  targets=$$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' $$pkg/*_test.go | sed 's/func //'); \
	  [ -z "$$targets" ] || $(GO) test -c -fuzz . -o bin/fuzz/$$(echo $$pkg | tr / _) $$pkg >&2; \
	  for f in $$targets; do echo $$pkg $$f; done; \
	done | xargs -P $(CORES) -n 2 sh -c 'program=$(CURDIR)/bin/fuzz/$$(echo $$0 | tr / _); \
	  said=$$(cd $$0 && $$program -test.run "^$$" -test.fuzz "^$$1\$$" -test.fuzztime $(FUZZTIME) -test.parallel 1 -test.fuzzcachedir $$cache$$0 2>&1); \
	  code=$$?; printf "== %s %s\n%s\n" $$0 $$1 "$$said"; exit $$code'

SEED   ?= 1
SEEDS  ?= 1000
ROUNDS ?= 100

## simulate: SEEDS simulations with crashes from the seed SEED on, in one process. For another
## processor run another process with other seeds. A seed has ROUNDS rounds. CRASHES=many crashes nearly
## every round. The collector of Go runs less often than in a server
simulate:
	@mkdir -p bin
	$(GO) test -c -o bin/simulation.test ./cmd/postern
	cd cmd/postern && GOMAXPROCS=1 GOGC=400 $(CURDIR)/bin/simulation.test -test.run '^TestSimulation$$' -test.v -test.timeout 0 \
	  -simulation.seed $(SEED) -simulation.seeds $(SEEDS) -simulation.rounds $(ROUNDS) $(if $(filter many,$(CRASHES)),-simulation.dense)

BENCHTIME ?= 2000x
BENCHMARKS := Requests|FlowStart|PromptStep|FlowPasskey|PasskeyStart|PasskeyFinish|ClientCredentials|JWKS

## bench: one table of requests without the network: processor time, its ratio to the raw cryptography, and memory
bench:
	@$(GO) test -run '^$$' -bench '^Benchmark($(BENCHMARKS))$$' -benchtime $(BENCHTIME) ./cmd/postern | awk '\
	  BEGIN { printf "%-32s %9s %9s %9s %9s %9s\n", "request", "CPU µs", "x raw", "ops/s", "bytes", "allocs" } \
	  /^Benchmark/ { name = $$1; sub(/^Benchmark/, "", name); sub(/-[0-9]+$$/, "", name) } \
	  / ns\/op/ { for (i = 2; i <= NF; i++) v[$$i] = $$(i-1); \
	    printf "%-32s %9.0f %9.2f %9.0f %9d %9d\n", name, v["cpu-µs"], v["x-raw"], v["ops/s"], v["B/op"], v["allocs/op"] } \
	  /^(FAIL|panic|---)/ { print; failed = 1 } END { exit failed }'

## load: one table of the built server over HTTPS, on SQLite and PostgreSQL; LOAD has flags, see `go run ./e2e/load -h`
load: build
	$(GO) run ./e2e/load $(LOAD)

TORTURETIME ?= 10m

## torture: inject faults into a server with SQLite, and then into one with PostgreSQL, for
## TORTURETIME each, and compare the results with the acknowledged changes. As root it also fills a disk
torture:
	$(GO) test ./e2e -run '^TestTorture$$' -count 1 -v -timeout 24h -torture $(TORTURETIME) $(if $(TORTURESEED),-tortureseed $(TORTURESEED))

## ci: what CI runs; fuzzing by number, because a time can run out at a bad moment. lint vets the
## tests, so test need not
ci: TESTFLAGS := -vet=off
ci: lint build test race connect
	$(MAKE) fuzz FUZZTIME=2000x

clean:
	rm -rf bin $(CHECKER)/checker.wasm.gz $(CHECKER)/wasm_exec.js
