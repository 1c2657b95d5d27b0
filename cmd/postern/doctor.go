package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/schemas"
)

type doctorCommand struct {
	Config string `type:"path" help:"The configuration file of the server."`
	URL    string `placeholder:"URL" help:"The URL of the running server. Default: the configured one."`
	CA     string `type:"path" help:"A PEM file with certificates to trust."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// diagnosis is the result of one check.
type diagnosis struct {
	Check   string `json:"check"`
	Status  string `json:"status"` // ok, warn or fail
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// The status of a diagnosis.
const (
	statusOK   = "ok"
	statusWarn = "warn"
	statusFail = "fail"
)

// doctor runs the checks.
type doctor struct {
	doctorCommand
	program
	cfg  *config.Config
	app  *app // nil if the store cannot be opened
	list []diagnosis
}

// Run checks everything and changes no data. The exit code is 1 for warnings and 2 for failures.
func (c doctorCommand) Run(ctx context.Context, p program) error {
	d := &doctor{doctorCommand: c, program: p}
	progress := p.startProgress("checking")
	d.checkAll(ctx)
	progress.stop()
	if err := d.write(p.stdout); err != nil {
		return err
	}
	worst := statusOK
	for _, found := range d.list {
		if found.Status == statusFail || worst == statusOK {
			worst = found.Status
		}
	}
	return map[string]error{statusWarn: errFindings, statusFail: errFailures}[worst]
}

func (d *doctor) checkAll(ctx context.Context) {
	if !d.checkConfiguration() {
		return
	}
	d.checkPasskeys()
	d.checkProxies()
	d.checkCertificate()
	d.checkDisk()
	d.checkStore(ctx)
	if d.app != nil {
		defer d.app.close()
		d.checkSigningKeys()
		d.checkStoredPasskeys(ctx)
		d.checkQueue(ctx)
		d.checkAuditLog(ctx)
		d.checkFlows(ctx)
		d.checkRules(ctx)
		d.checkAdmissions(ctx)
		d.checkProviders(ctx)
		d.checkClaims(ctx)
		d.checkBuiltinFlows(ctx)
		d.checkHostname(ctx)
		d.checkSuspects(ctx)
		d.checkEffects(ctx)
	}
	d.checkMail(ctx)
	d.checkTargets(ctx)
	d.checkServer(ctx)
}

// ok, warn and fail add a diagnosis. fix is what to do.
func (d *doctor) ok(check, format string, args ...any) {
	d.list = append(d.list, diagnosis{Check: check, Status: statusOK, Message: fmt.Sprintf(format, args...)})
}

func (d *doctor) warn(check, fix, format string, args ...any) {
	d.list = append(d.list, diagnosis{check, statusWarn, fmt.Sprintf(format, args...), fix})
}

func (d *doctor) fail(check, fix, format string, args ...any) {
	d.list = append(d.list, diagnosis{check, statusFail, fmt.Sprintf(format, args...), fix})
}

// hasProblems reports whether a check has a warning or a failure.
func (d *doctor) hasProblems(check string) bool {
	for _, found := range d.list {
		if found.Check == check && found.Status != statusOK {
			return true
		}
	}
	return false
}

func (d *doctor) write(w io.Writer) error {
	if d.JSON {
		return writeJSON(w, d.list)
	}
	width := len("fix")
	for _, found := range d.list {
		width = max(width, len(found.Check))
	}
	var failed error
	for _, found := range d.list {
		_, err := fmt.Fprintf(w, "%-4s  %-*s  %s\n", strings.ToUpper(found.Status), width, found.Check, found.Message)
		if found.Fix != "" {
			_, err = fmt.Fprintf(w, "      %-*s  %s\n", width, "fix", found.Fix)
		}
		failed = cmp.Or(failed, err)
	}
	return failed
}

// checkConfiguration loads the configuration, and reports whether there is one.
func (d *doctor) checkConfiguration() bool {
	const check = "configuration"
	cfg, err := loadLocal(d.Config, d.environ)
	var invalid *schemas.Error
	if errors.As(err, &invalid) && len(invalid.Errors) > 0 {
		for _, p := range invalid.Errors {
			message := p.Message
			if p.Path != "" {
				message = p.Path + ": " + message
			}
			d.fail(check, "correct it; `postern config reference` describes all keys", "%s", message)
		}
		return false
	}
	if err != nil {
		d.fail(check, "pass the server's configuration file with --config", "%v", err)
		return false
	}
	d.cfg = cfg
	modes, err := cfg.CheckSecretFiles()
	if err != nil {
		d.fail(check, "change the mode as the message shows; the server does not start", "%v", err)
	}
	for _, mode := range modes {
		d.warn(check, "change the mode as the message shows", "%s", mode)
	}
	for _, warning := range cfg.Warnings {
		d.warn(check, "do what the message shows", "%s", warning)
	}
	if !d.hasProblems(check) {
		d.ok(check, "valid")
	}
	return true
}
