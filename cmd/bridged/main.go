// Command bridged gives one WhatsApp account an HTTP/JSON interface.
//
// This package holds wiring, lifetime and the commands, and nothing else.
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

	"bridged/internal/bridge"
	"bridged/internal/config"
	"bridged/internal/shell"
)

// Exit codes: 1 is a failure, 2 a configuration or a command line that has to be
// changed, 3 something that does not exist: a chat, a message, a file, a number on WhatsApp.
const (
	exitFailure  = 1
	exitConfig   = 2
	exitNotFound = 3
)

func main() {
	privateFiles()
	ctx, stop := signal.NotifyContext(context.Background(), endingSignals()...)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// endingSignals returns the signals on which the program ends in order. SIGHUP is one of
// them unless the program was started to ignore it, as nohup does.
func endingSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

func commands() []group {
	return []group{
		{"Run a bridge:", []*command{serveCommand(), pairCommand(), doctorCommand(), demoCommand()}},
		{"Use one that runs:", []*command{
			chatsCommand(), messagesCommand(), searchCommand(), mediaCommand(), contactsCommand(), groupsCommand(),
			sendCommand(), forwardCommand(), reactCommand(), editCommand(), tailCommand(), importChatCommand(), importsCommand(), tokenCommand(), mcpCommand(),
		}},
		{"Look after it:", []*command{backupCommand(), reindexCommand(), healthcheckCommand(), versionCommand()}},
	}
}

// environment is the world as a command sees it.
type environment struct {
	ctx     context.Context
	environ []string
	stdout  io.Writer
	stderr  io.Writer

	envFile  string // the file with variables that was read; empty for none
	fromFile int    // how many of them are from it
}

// run runs the whole program, for tests as for main, and returns its exit code.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	e := &environment{ctx: ctx, environ: environ, stdout: stdout, stderr: stderr}
	if err := e.dispatch(args); err != nil {
		return fail(stderr, err)
	}
	return 0
}

// fail prints an error with its hint, and returns the exit code.
func fail(stderr io.Writer, err error) int {
	if faults, ok := errors.AsType[config.Faults](err); ok {
		fmt.Fprintln(stderr, "bridged: the configuration has to be changed:")
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
	_, isLine := errors.AsType[commandLineError](err)
	if isLine {
		fmt.Fprintln(stderr, "Try: bridged help")
	}
	return exitCode(err)
}

// exitCode returns the exit code of an error, as docs/shell.md lists them.
func exitCode(err error) int {
	_, isLine := errors.AsType[commandLineError](err)
	_, isUsage := errors.AsType[*shell.UsageError](err)
	_, isHinted := errors.AsType[*shell.Error](err)
	code := bridge.CodeOf(err)
	switch {
	case isLine, isUsage, code == bridge.CodeInvalid:
		return exitConfig
	case isHinted && (code == bridge.CodeNotFound || code == bridge.CodeNotOnNetwork), shell.IsMissingFile(err):
		return exitNotFound
	}
	return exitFailure
}
