// Command postern is the identity server and its tools.
//
// Exit codes: 0 success, 1 findings or failed tests, 2 a usage or configuration error.
package main

//lint:file-ignore SA5008 the parser of the command line reads each of several tags "set"

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/translations"
)

// version is set by the linker.
var version = "dev"

// Exit codes.
const (
	exitFine     = 0
	exitFindings = 1
	exitUsage    = 2
)

// ballastBytes is the size of an object of the heap that is never touched, and so takes no memory. A server
// has a few megabytes of live data, and the collector of Go runs when the heap has doubled: that took a
// tenth of the processor time of requests. With the object it waits for 24 MiB more, however much
// live data there is. A larger GOGC would also multiply the memory that hashes of passwords take.
const ballastBytes = 24 << 20

func main() {
	p := program{args: os.Args[1:], environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	if p.serves() { // on another processor, while this one reads the configuration and opens the store
		go translations.Builtin()
		go bootstrap.Prepare()
	}
	ballast := make([]byte, ballastBytes)
	// Postern has a logger of its own. The default one is used by libraries, which would
	// log every bad request.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := p.run(ctx)
	stop()
	runtime.KeepAlive(ballast)
	os.Exit(code)
}

// program is one invocation of postern; tests create their own.
type program struct {
	args, environ  []string
	stdin          io.Reader // nil: empty
	stdout, stderr io.Writer
}

// serverCommands is the command line of a server: the parser of all commands takes longer to build than
// to use.
type serverCommands struct {
	Serve serveCommand `cmd:"" help:"Run the server. If the store is empty, create the initial resources first."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`
}

// commands are the commands of the command line.
type commands struct {
	serverCommands

	Health    healthCommand    `cmd:"" help:"Report whether the server on this machine is ready. Exits with 1 if it is not."`
	Bootstrap bootstrapCommand `cmd:"" help:"Create the initial resources, and those of seed files, in a running server."`
	Token     tokenCommand     `cmd:"" help:"Print an access token for the administrator."`
	Admin     adminCommands    `cmd:"" help:"Help administrators who have lost their passkeys, with the store and its key."`
	Keys      keysCommands     `cmd:"" help:"List and rotate the keys that sign tokens, and change the key that encrypts them."`
	Backup    backupCommand    `cmd:"" help:"Write a backup of the store while the server runs."`
	Restore   restoreCommand   `cmd:"" help:"Restore a backup into an empty store."`
	Migrate   migrateCommand   `cmd:"" help:"Migrate the schema of the store, or print the pending migrations."`
	Export    exportCommand    `cmd:"" help:"Write all resources of the store as YAML files."`
	Apply     applyCommand     `cmd:"" help:"Apply YAML files to the store."`
	Import    importCommand    `cmd:"" help:"Import the users, clients, groups, roles and flows of another identity product."`
	User      userCommands     `cmd:"" set:"noun=user" set:"one=a user" set:"by=the id, the username or the mail address" set:"member=an attribute" help:"Manage the users of a server."`
	App       clientCommands   `cmd:"" set:"noun=application" set:"one=an application" set:"by=the id, the client id or the name" help:"Manage the applications of a server."`
	Group     groupCommands    `cmd:"" set:"noun=group" set:"one=a group" set:"many=groups" help:"Manage the groups of a server, and their members."`
	Role      roleCommands     `cmd:"" set:"noun=role" set:"one=a role" set:"many=roles" help:"Manage the roles of a server, and their assignments."`
	Provider  providerCommands `cmd:"" set:"noun=identity provider" set:"one=an identity provider" set:"many=identity providers" set:"by=the id or the handle" set:"key=handle" help:"Manage the identity providers of a server."`
	Unit      unitCommands     `cmd:"" set:"noun=organization unit" set:"one=an organization unit" set:"many=organization units" set:"by=the id or the handle" set:"key=handle" help:"Manage the organization units of a server."`
	UserType  userTypeCommands `cmd:"" set:"noun=user type" set:"one=a user type" set:"many=user types" help:"Manage the user types of a server."`

	ResourceServer resourceServerCommands `cmd:"" set:"noun=resource server" set:"one=a resource server" set:"many=resource servers" set:"by=the id or the handle" set:"key=handle" help:"Manage the resource servers of a server, with their permissions."`

	Session    sessionCommands   `cmd:"" help:"List and end the sessions of a user."`
	Audit      auditCommands     `cmd:"" help:"Read and verify the audit log."`
	Config     configCommands    `cmd:"" help:"Check and print the configuration, and describe its keys."`
	Doctor     doctorCommand     `cmd:"" help:"Check the configuration, the store and the services it uses, and print how to fix each problem."`
	Flow       flowCommands      `cmd:"" help:"Check and test flow files."`
	LSP        lspCommand        `cmd:"" name:"lsp" help:"Serve an editor: a language server for flow and scenario files on standard input and output."`
	Prove      proveCommand      `cmd:"" help:"For each application, print the easiest attacks that give another user's tokens."`
	Schema     schemaCommand     `cmd:"" help:"Print a JSON Schema."`
	Completion completionCommand `cmd:"" help:"Print the completion script of a shell."`
	Complete   completeCommand   `cmd:"" hidden:"" help:"Print the completions of a command line."`
	Help       helpCommand       `cmd:"" help:"Print the usage of a command, as --help does."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
}

// errFindings ends a command whose findings have been printed.
var errFindings = errors.New("there are findings")

// errFailures ends a command whose failures have been printed.
var errFailures = errors.New("there are failures")

// exitCode is kong's exit code for --help.
type exitCode int

// run executes one command and returns its exit code.
func (p program) run(ctx context.Context) (code int) {
	var cli any = new(commands)
	if p.serves() {
		cli = new(serverCommands)
	}
	parser, err := newParser(cli,
		kong.Writers(p.stdout, p.stderr),
		kong.Exit(func(c int) { panic(exitCode(c)) }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(p),
		kong.UsageOnError(),
	)
	if err != nil {
		fmt.Fprintln(p.stderr, "postern:", err)
		return exitUsage
	}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case exitCode:
			code = int(v)
		default:
			panic(v)
		}
	}()
	call, err := parser.Parse(withHelp(parser.Model.Node, p.args))
	if err != nil {
		fmt.Fprintf(p.stderr, "postern: %v\nRun `%s --help` for the usage.\n", err, commandOf(err))
		return exitUsage
	}
	var faults declare.Faults
	switch err := call.Run(); {
	case err == nil:
		return exitFine
	case errors.As(err, &faults):
		fmt.Fprintln(p.stderr, err) // its lines begin with a position that editors can follow
		return exitUsage
	case errors.Is(err, errFindings):
		return exitFindings
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(p.stderr, "postern: interrupted before the command was done")
		return exitUsage
	case errors.Is(err, errFailures):
		return exitUsage
	default:
		fmt.Fprintln(p.stderr, "postern:", err)
		return exitUsage
	}
}

// serves reports whether the command is that of a server.
func (p program) serves() bool { return len(p.args) > 0 && p.args[0] == "serve" }

// newParser returns the parser of a command line.
func newParser(cli any, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(cli, append(options,
		kong.Name("postern"),
		kong.Description("An identity server whose sign-in flows are proven safe before they run."),
		kong.Vars{"version": "postern " + version, "stacks": strings.Join(stackNames(), ", "), "by": "the id or the name", "key": "name", "member": "a member"},
		kong.PostBuild(fillHelp),
	)...)
}

// commandOf returns the command that a usage error is about.
func commandOf(err error) string {
	if usage, ok := errors.AsType[*kong.ParseError](err); ok {
		if selected := usage.Context.Selected(); selected != nil {
			return selected.FullPath()
		}
	}
	return "postern"
}

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(p program) error {
	_, err := fmt.Fprintln(p.stdout, "postern", version)
	return err
}
