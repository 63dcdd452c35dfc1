package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"bridged/internal/config"
	"bridged/internal/shell"
)

// command is a command of the program, or a group of commands. Its flags are pflag's: a
// library that looks methods up by name would keep all methods of all packages in the
// executable.
type command struct {
	name, help string
	arguments  []argument
	required   []string // flags
	flags      *pflag.FlagSet
	run        runner
	commands   []*command
	asGiven    bool // it takes all arguments as they are
	// apart is that of a command which needs no variables, or must not use those of a bridge: it
	// reads no file, unless a flag names one.
	apart bool
}

// argument is one that a command takes by its place.
type argument struct {
	name, help string
	optional   bool
}

func (a argument) String() string {
	if a.optional {
		return "[<" + a.name + ">]"
	}
	return "<" + a.name + ">"
}

type group struct {
	title    string
	commands []*command
}

const (
	about       = "One WhatsApp account as an HTTP/JSON interface. Configuration is read from the environment; see docs/operations.md."
	versionHelp = "Print the versions of bridged, Go and whatsmeow."
	helpColumns = 80
	envFileFlag = "env-file"
	envFileHelp = "`FILE` A file with variables, which the environment's own override"
)

// runner runs a command with its arguments.
type runner func(e *environment, args []string) error

func newCommand(name, help string, do runner, arguments ...argument) *command {
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() {} // errors go to the caller
	flags.SetOutput(io.Discard)
	flags.BoolP("help", "h", false, "Show context-sensitive help.")
	flags.Bool("version", false, versionHelp)
	flags.String(envFileFlag, "", envFileHelp+"; .env in the working directory by default, if nobody else may read it.")
	return &command{name: name, help: help, arguments: arguments, flags: flags, run: do}
}

type commandLineError string

func (e commandLineError) Error() string { return string(e) }

func misused(format string, args ...any) error { return commandLineError(fmt.Sprintf(format, args...)) }

// dispatch runs the command that args begin with, the bridge without one. "help pair" is
// "pair --help".
func (e *environment) dispatch(args []string) error {
	groups := commands()
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		root := newCommand("bridged", about, serveCommand().run)
		if args[0] == "--help" || args[0] == "-h" {
			return e.printUsage("bridged <command> [flags]", root, groups)
		}
		return e.execute("bridged", root, args)
	}
	top := &command{commands: []*command{documentTextCommand(), becomeFFmpegCommand()}}
	for _, g := range groups {
		top.commands = append(top.commands, g.commands...)
	}
	path, c := "bridged", top
	for len(args) > 0 && len(c.commands) > 0 && !strings.HasPrefix(args[0], "-") {
		next := slices.IndexFunc(c.commands, func(of *command) bool { return of.name == args[0] })
		if next < 0 {
			return misused("unexpected argument %s%s", args[0], didYouMean(args[0], c.names()...))
		}
		path, c, args = path+" "+args[0], c.commands[next], args[1:]
	}
	if c == top {
		return e.execute(path, serveCommand(), nil)
	}
	return e.execute(path, c, args)
}

func (c *command) names() (names []string) {
	for _, of := range c.commands {
		names = append(names, of.name)
	}
	return names
}

func didYouMean(typed string, known ...string) string {
	if meant := config.NearestWithin(2, typed, known...); meant != "" {
		return fmt.Sprintf(", did you mean %q?", meant)
	}
	return ""
}

func (e *environment) execute(path string, c *command, args []string) error {
	if c.asGiven {
		return c.run(e, args)
	}
	err := c.flags.Parse(args)
	switch {
	case c.flags.Changed("help"):
		return e.printUsage(c.usageLine(path), c, nil)
	case c.flags.Changed("version"):
		return e.printVersion()
	case err != nil:
		return c.explain(err)
	case len(c.commands) > 0:
		return misused(`expected one of "%s"`, strings.Join(c.names(), `", "`))
	}
	given := c.flags.Args()
	if len(given) > len(c.arguments) {
		return misused("unexpected argument %s", given[len(c.arguments)])
	}
	for _, argument := range c.arguments[len(given):] {
		if !argument.optional {
			return misused("expected %q", argument.String())
		}
	}
	for _, name := range c.required {
		if !c.flags.Changed(name) {
			return misused("missing flags: --%s", c.flagWithValue(c.flags.Lookup(name)))
		}
	}
	if err := e.readEnvFile(c); err != nil {
		return err
	}
	err = c.run(e, given)
	if faults, are := errors.AsType[config.Faults](err); are && e.envFile != "" {
		return append(faults, fmt.Sprintf("%s was read, too, and set %d variables", e.envFile, e.fromFile))
	}
	return err
}

// withoutEnvFile makes c leave .env alone.
func (c *command) withoutEnvFile() *command {
	c.apart, c.flags.Lookup(envFileFlag).Usage = true, envFileHelp+"."
	return c
}

// readEnvFile adds the variables of the file that a command's flag names, or of .env.
func (e *environment) readEnvFile(c *command) (err error) {
	file := c.flags.Lookup(envFileFlag)
	if c.apart && !file.Changed {
		return nil
	}
	if file.Changed && file.Value.String() == "" {
		return misused("--%s: expected a value", envFileFlag)
	}
	own := len(e.environ)
	var warning string
	if e.environ, warning, err = config.WithEnvFile(e.environ, file.Value.String()); warning != "" {
		fmt.Fprintln(e.stderr, "bridged: "+shell.Printable(warning))
	}
	if e.fromFile = len(e.environ) - own; err == nil && e.fromFile > 0 {
		e.envFile = cmp.Or(file.Value.String(), config.EnvFile)
	}
	return err
}

// explain turns an error of pflag into our sentence.
func (c *command) explain(err error) error {
	switch err := err.(type) { // pflag wraps none of them
	case *pflag.NotExistError:
		name := "--" + err.GetSpecifiedName()
		if err.GetSpecifiedShortnames() != "" {
			name = "-" + err.GetSpecifiedName()
		}
		var known []string
		c.flags.VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		return misused("unknown flag %s%s", name, didYouMean(name, known...))
	case *pflag.ValueRequiredError:
		return misused("--%s: expected a value", err.GetFlag().Name)
	case *pflag.InvalidValueError:
		flag := err.GetFlag()
		if own, ok := errors.AsType[commandLineError](err); ok {
			return own
		}
		return misused("--%s: expected %s but got %q", flag.Name, flag.Value.Type(), err.GetValue())
	}
	return misused("%v", err)
}

func (c *command) usageLine(path string) string {
	if len(c.commands) > 0 {
		return path + " <command> [flags]"
	}
	for _, name := range c.required {
		path += " --" + c.flagWithValue(c.flags.Lookup(name))
	}
	for _, a := range c.arguments {
		path += " " + a.String()
	}
	return path + " [flags]"
}

// flagWithValue returns a flag with the name of its value, as in limit=50.
func (c *command) flagWithValue(f *pflag.Flag) string {
	value, _ := pflag.UnquoteUsage(f) // the name in backquotes, which the help begins with
	switch {
	case value == "":
		return f.Name
	case f.Name == "limit" || f.Name == "type":
		return f.Name + "=" + f.DefValue
	}
	return f.Name + "=" + value
}

// printUsage prints the help of a command, or of the program.
func (e *environment) printUsage(line string, c *command, groups []group) error {
	table := tabwriter.NewWriter(e.stdout, 0, 0, 4, ' ', 0)
	row := func(name, help string) {
		for i, text := range shell.Wrap(help, helpColumns-32) {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(table, "  %s\t%s\n", name, text)
		}
	}
	fmt.Fprintf(table, "Usage: %s\n\n%s\n", line, strings.Join(shell.Wrap(c.help, helpColumns), "\n"))
	if len(c.arguments) > 0 {
		fmt.Fprint(table, "\nArguments:\n")
	}
	for _, a := range c.arguments {
		row(a.String(), a.help)
	}
	fmt.Fprint(table, "\nFlags:\n")
	c.flags.VisitAll(func(f *pflag.Flag) {
		name := "    --" + c.flagWithValue(f)
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", --" + c.flagWithValue(f)
		}
		value, help := pflag.UnquoteUsage(f)
		row(name, strings.TrimPrefix(help, value+" "))
	})
	if len(c.commands) > 0 {
		groups = []group{{"Commands:", c.commands}}
	}
	for _, g := range groups {
		fmt.Fprintf(table, "\n%s\n", g.title)
		for _, of := range g.commands {
			row(of.name, of.help)
		}
	}
	if len(groups) > 0 {
		fmt.Fprintf(table, "\nRun \"%s --help\" for more information on a command.\n", strings.TrimSuffix(line, " [flags]"))
	}
	return table.Flush()
}
