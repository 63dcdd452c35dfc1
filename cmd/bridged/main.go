// Command bridged gives one WhatsApp account an HTTP/JSON interface.
//
// This package reads the command line, connects the other packages, and starts and stops the program.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"bridged/internal/bridge"
	"bridged/internal/config"
	"bridged/internal/shell"
)

// The exit codes of the program.
const (
	exitFailure  = 1
	exitConfig   = 2 // the configuration or the command line must be changed
	exitNotFound = 3 // a chat, message, file or number on WhatsApp does not exist
)

func main() {
	privateFiles()
	cobra.MousetrapHelpText = "" // a double click on Windows starts the bridge
	ctx, stop := signal.NotifyContext(context.Background(), endingSignals()...)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// endingSignals returns the signals that make the program stop in order. SIGHUP is one of them, unless the
// program was started with SIGHUP ignored, as nohup does.
func endingSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// environment holds the parts of the process that commands use.
type environment struct {
	ctx     context.Context
	environ []string
	stdout  io.Writer
	stderr  io.Writer

	isStarted bool            // the command line is valid, and the command runs
	file      config.FileRead // the file whose variables were added to environ
}

// run runs the whole program and returns its exit code.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	e := &environment{ctx: ctx, environ: environ, stdout: stdout, stderr: stderr}
	root := e.newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	c, err := root.ExecuteC()
	if err != nil && !e.isStarted {
		sentence := strings.Join(strings.Fields(err.Error()), " ") // suggestions of commands are on lines of their own
		err = &shell.Error{Err: shell.Usage("%s", sentence), Hint: "see: " + c.CommandPath() + " --help"}
	}
	if err != nil {
		return printError(stderr, err)
	}
	return 0
}

// printError prints an error with its hint, and returns the exit code.
func printError(stderr io.Writer, err error) int {
	if faults, ok := errors.AsType[config.Faults](err); ok {
		fmt.Fprintln(stderr, "bridged: change the configuration:")
		for _, fault := range faults {
			fmt.Fprintf(stderr, "  %s\n", shell.Printable(fault))
		}
		return exitConfig
	}
	fmt.Fprintln(stderr, "bridged: "+shell.PrintableLines(err.Error()))
	if hinted, isHinted := errors.AsType[*shell.Error](err); isHinted {
		for hint := range strings.Lines(hinted.Hint) {
			fmt.Fprintf(stderr, "  %s\n", shell.Printable(strings.TrimSuffix(hint, "\n")))
		}
	}
	return exitCode(err)
}

// exitCode returns the exit code of an error, as docs/shell.md lists them.
func exitCode(err error) int {
	_, isUsage := errors.AsType[*shell.UsageError](err)
	_, isHinted := errors.AsType[*shell.Error](err)
	code := bridge.CodeOf(err)
	switch {
	case isUsage, code == bridge.CodeInvalid:
		return exitConfig
	case isHinted && (code == bridge.CodeNotFound || code == bridge.CodeNotOnNetwork), shell.IsMissingFile(err):
		return exitNotFound
	}
	return exitFailure
}
