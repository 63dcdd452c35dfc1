package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"bridged/internal/config"
	"bridged/internal/shell"
)

const (
	about = `Give one WhatsApp account an HTTP/JSON interface.

Without a command, bridged runs the bridge. The configuration is read from environment variables; see
docs/operations.md.`
	versionHelp = "Print the versions of bridged, Go and whatsmeow."
	envFileFlag = "env-file"
)

// runner runs a command with its arguments.
type runner func(args []string) error

// commandLineError is the error of a command line that has to be changed.
type commandLineError string

func (e commandLineError) Error() string { return string(e) }

func misused(format string, args ...any) error { return commandLineError(fmt.Sprintf(format, args...)) }

// newRoot returns the program's command with all others. It runs the bridge.
func (e *environment) newRoot() *cobra.Command {
	root := e.newCommand("bridged", about, e.serve)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(explainFlag)
	root.PersistentFlags().String(envFileFlag, "",
		"A `FILE` with variables; those of the environment win. By default .env in the working directory, if only you can read it")
	showVersion, serve := root.Flags().Bool("version", false, versionHelp), root.RunE
	root.RunE = func(c *cobra.Command, args []string) error {
		if *showVersion {
			return e.printVersion()
		}
		return serve(c, args)
	}
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Run a bridge:", []*cobra.Command{e.serveCommand(), e.pairCommand(), e.doctorCommand(), e.demoCommand()}},
		{"Use a running bridge:", []*cobra.Command{
			e.chatsCommand(), e.messagesCommand(), e.searchCommand(), e.mediaCommand(), e.contactsCommand(), e.groupsCommand(),
			e.sendCommand(), e.forwardCommand(), e.reactCommand(), e.editCommand(), e.tailCommand(), e.importChatCommand(), e.importsCommand(),
			e.tokenCommand(), e.mcpCommand(),
		}},
		{"Maintain it:", []*cobra.Command{e.backupCommand(), e.reindexCommand(), e.healthcheckCommand(), e.versionCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.title
			root.AddCommand(c)
		}
	}
	for _, c := range []*cobra.Command{e.documentTextCommand(), e.becomeFFmpegCommand(), e.manCommand(root)} {
		c.Hidden = true
		root.AddCommand(c)
	}
	root.SetHelpCommand(helpCommand(root))
	return root
}

// newCommand returns a command. Its arguments are in its usage, as in "media <chat> [<file>]", and
// the first line of its help is a sentence for the list of commands.
func (e *environment) newCommand(usage, help string, do runner) *cobra.Command {
	summary, _, _ := strings.Cut(help, "\n")
	return &cobra.Command{Use: usage, Short: summary, Long: help, Args: checkArguments, RunE: func(c *cobra.Command, args []string) error {
		e.isStarted = true
		if err := e.readEnvFile(c); err != nil {
			return err
		}
		err := do(args)
		if faults, are := errors.AsType[config.Faults](err); are && e.envFile != "" {
			return append(faults, fmt.Sprintf("%s was read, too, and set %d variables", e.envFile, e.fromFile))
		}
		return err
	}}
}

// newGroup returns a command that only has others.
func newGroup(name, help string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: name, Short: help, Args: checkArguments, RunE: func(*cobra.Command, []string) error { return nil }}
	c.AddCommand(commands...)
	return c
}

// checkArguments checks the number of a command's arguments. The only arguments of a group are its
// commands, which cobra has found already if they exist.
func checkArguments(c *cobra.Command, given []string) error {
	var names []string
	for _, of := range c.Commands() {
		names = append(names, of.Name())
	}
	arguments := strings.Fields(c.Use)[1:]
	switch {
	case len(given) > len(arguments):
		return misused("unexpected argument %s%s", given[len(arguments)], didYouMean(given[len(arguments)], names...))
	case len(names) > 0 && c.HasParent():
		return misused(`expected one of "%s"`, strings.Join(names, `", "`))
	}
	for _, argument := range arguments[len(given):] {
		if strings.HasPrefix(argument, "<") {
			return misused("expected %q", argument)
		}
	}
	return nil
}

func didYouMean(typed string, known ...string) string {
	if meant := config.NearestWithin(2, typed, known...); meant != "" {
		return fmt.Sprintf(", did you mean %q?", meant)
	}
	return ""
}

// explainFlag turns an error of a flag into a sentence.
func explainFlag(c *cobra.Command, err error) error {
	if own, is := errors.AsType[commandLineError](err); is {
		return own
	}
	hint := ""
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		hint = didYouMean("--"+unknown.GetSpecifiedName(), known...)
	}
	return misused("%v%s", err, hint)
}

// helpCommand returns the command that prints the help of others. Cobra's own succeeds for a
// command that does not exist.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{Use: "help [<command>]", Short: "Print the help of a command.", RunE: func(_ *cobra.Command, args []string) error {
		c, rest, err := root.Find(args)
		if err == nil && len(rest) > 0 {
			err = checkArguments(c, rest)
		}
		if err != nil {
			return err
		}
		c.InitDefaultHelpFlag()
		return c.Help()
	}}
}

// manCommand writes the manual pages of all commands, for those who package bridged.
func (e *environment) manCommand(root *cobra.Command) *cobra.Command {
	return withoutEnvFile(e.newCommand("man <directory>", "Write the manual pages of all commands into a directory.", func(args []string) error {
		root.DisableAutoGenTag = true
		return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "bridged " + version}, args[0])
	}))
}

const noEnvFile = "reads no .env"

// withoutEnvFile makes c read a file with variables only if its flag names one.
func withoutEnvFile(c *cobra.Command) *cobra.Command {
	c.Annotations = map[string]string{noEnvFile: ""}
	return c
}

// readEnvFile adds the variables of the file that a command's flag names, or of .env.
func (e *environment) readEnvFile(c *cobra.Command) (err error) {
	file := c.Flag(envFileFlag)
	if _, without := c.Annotations[noEnvFile]; without && !file.Changed {
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
