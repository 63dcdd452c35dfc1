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
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes: 1 is a failure, 2 a configuration that has to be changed.
const (
	exitFailure = 1
	exitConfig  = 2
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
	Serve       serveCommand       `cmd:"" default:"1" help:"Run the bridge (the default)."`
	Demo        demoCommand        `cmd:"" help:"Run the bridge on a simulated network, with people who write and answer."`
	Pair        pairCommand        `cmd:"" help:"Link the account: show a code and a QR code, and wait until the phone has used one."`
	Token       tokenCommand       `cmd:"" help:"Manage tokens with less power than BRIDGE_TOKEN, through the running bridge."`
	MCP         mcpCommand         `cmd:"" name:"mcp" help:"Serve one agent on standard input and output (Model Context Protocol), through the running bridge."`
	Healthcheck healthcheckCommand `cmd:"" help:"Ask the running bridge whether it is alive (for containers)."`
	Doctor      doctorCommand      `cmd:"" help:"Check version, configuration, account, disk, network and clock, and print what to report."`
	Backup      backupCommand      `cmd:"" help:"Copy chats, messages and settings into a new file, also while the bridge runs."`
	Reindex     reindexCommand     `cmd:"" help:"Rebuild the search index; the bridge must be stopped."`
	Compact     compactCommand     `cmd:"" help:"Rewrite the store without what earlier versions left of deleted messages; the bridge must be stopped."`
	Bench       benchCommand       `cmd:"" help:"Measure the bridge on this machine, with made-up messages and a simulated network."`
	Version     versionCommand     `cmd:"" help:"Print the versions of bridged, Go and whatsmeow."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the versions of bridged, Go and whatsmeow."`
}

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
		kong.Vars{"version": versionLine()},
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

// fail prints what went wrong and returns the exit code.
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
	return exitFailure
}
