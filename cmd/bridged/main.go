// Command bridged gives one WhatsApp account an HTTP/JSON interface.
//
// This package holds configuration, wiring and lifetime, and nothing else: it
// is the only one that sees all the others and the only one that reads
// environment variables.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"bridged/internal/bridge"
	"bridged/internal/shell"
)

// Exit codes: 1 is a failure, 2 a configuration or a command line that has to be
// changed, 3 a chat or a message that is not there.
const (
	exitFailure  = 1
	exitConfig   = 2
	exitNotFound = 3
)

func main() {
	privateFiles()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// commands describes the command line.
type commands struct {
	Serve  serveCommand  `cmd:"" default:"1" group:"run" help:"Run the bridge (the default)."`
	Pair   pairCommand   `cmd:"" group:"run" help:"Link the account: show a code and a QR code, and wait until the phone has used one."`
	Doctor doctorCommand `cmd:"" group:"run" help:"Check version, configuration, account, disk, network and clock, and print what to report."`
	Demo   demoCommand   `cmd:"" group:"run" help:"Run the bridge on a simulated network, with people who write and answer."`

	Chats    chatsCommand    `cmd:"" group:"use" help:"List chats."`
	Messages messagesCommand `cmd:"" group:"use" help:"List the newest messages of a chat."`
	Search   searchCommand   `cmd:"" group:"use" help:"Search for messages."`
	Send     sendCommand     `cmd:"" group:"use" help:"Send a text or a file, once."`
	Tail     tailCommand     `cmd:"" group:"use" help:"Print messages and other events as they come."`
	Token    tokenCommand    `cmd:"" group:"use" help:"Manage tokens with less power than BRIDGE_TOKEN, through the running bridge."`
	MCP      mcpCommand      `cmd:"" name:"mcp" group:"use" help:"Serve one agent on standard input and output (Model Context Protocol), through the running bridge."`

	Backup      backupCommand      `cmd:"" group:"keep" help:"Copy chats, messages and settings into a new file, also while the bridge runs."`
	Reindex     reindexCommand     `cmd:"" group:"keep" help:"Rebuild the search index; the bridge must be stopped."`
	Healthcheck healthcheckCommand `cmd:"" group:"keep" help:"Ask the running bridge whether it is alive (for containers)."`
	Version     versionCommand     `cmd:"" group:"keep" help:"Print the versions of bridged, Go and whatsmeow."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the versions of bridged, Go and whatsmeow."`
}

// groups are the headings of the commands in the help.
var groups = kong.ExplicitGroups([]kong.Group{
	{Key: "run", Title: "Run a bridge:"},
	{Key: "use", Title: "Use one that runs:"},
	{Key: "keep", Title: "Look after it:"},
})

// environment holds what a command sees of the world.
type environment struct {
	ctx     context.Context
	environ []string
	stdout  io.Writer
	stderr  io.Writer
}

// run runs the whole program, for tests as for main, and returns its exit code.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	var cli commands
	exited, exitCode := false, 0
	parser, err := kong.New(&cli, kong.Name("bridged"),
		kong.Description("One WhatsApp account as an HTTP/JSON interface. Configuration is read from the environment; see docs/operations.md."),
		kong.Vars{"version": versionLine()}, groups, kong.ConfigureHelp(kong.HelpOptions{NoExpandSubcommands: true, Compact: true}),
		kong.Writers(stdout, stderr), kong.Exit(func(code int) { exited, exitCode = true, code }))
	if err != nil {
		return fail(stderr, err)
	}
	parsed, err := parser.Parse(helpFlag(args))
	if exited { // --help, --version
		return exitCode
	}
	if err != nil {
		fmt.Fprintf(stderr, "bridged: %s\nTry: bridged help\n", printable(err.Error()))
		return exitConfig
	}
	if err := parsed.Run(&environment{ctx, environ, stdout, stderr}); err != nil {
		return fail(stderr, err)
	}
	return 0
}

// helpFlag turns "help pair" into "pair --help".
func helpFlag(args []string) []string {
	if len(args) > 0 && args[0] == "help" {
		return append(slices.Clone(args[1:]), "--help")
	}
	return args
}

// fail prints what went wrong, with a hint where there is one, and returns the
// exit code.
func fail(stderr io.Writer, err error) int {
	var faults configFaults
	if errors.As(err, &faults) {
		fmt.Fprintln(stderr, "bridged: the configuration has to be changed:")
		for _, fault := range faults {
			fmt.Fprintf(stderr, "  %s\n", printable(fault))
		}
		return exitConfig
	}
	fmt.Fprintln(stderr, "bridged: "+printableLines(err.Error()))
	var hinted *shell.Error
	if errors.As(err, &hinted) {
		for hint := range strings.Lines(hinted.Hint) {
			fmt.Fprintf(stderr, "  %s\n", printable(strings.TrimSuffix(hint, "\n")))
		}
	}
	var usage *shell.UsageError
	switch {
	case errors.As(err, &usage):
		return exitConfig
	case hinted != nil && bridge.CodeOf(err) == bridge.CodeNotFound:
		return exitNotFound
	}
	return exitFailure
}
