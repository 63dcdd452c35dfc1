package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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

// newRoot returns the program's command with all others. It runs the bridge.
func (e *environment) newRoot() *cobra.Command {
	root := e.newCommand("bridged", about, e.serve)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Args = nil // cobra suggests a command for an unknown one
	root.PersistentFlags().String(envFileFlag, "",
		"A `FILE` with variables; those of the environment win. By default .env in the working directory, if only you can read it")
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().Bool("version", false, versionHelp)
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Run a bridge:", []*cobra.Command{e.serveCommand(), e.pairCommand(), e.doctorCommand(), e.demoCommand()}},
		{"Read:", []*cobra.Command{
			e.chatsCommand(), e.messagesCommand(), e.searchCommand(), exportCommand(e), e.mediaCommand(), e.pictureCommand(), e.transcribeCommand(),
			e.contactsCommand(), profileCommand(e), e.groupsCommand(), e.callsCommand(), e.eventsCommand(), e.tailCommand(),
		}},
		{"Send:", []*cobra.Command{
			e.sendCommand(), e.albumCommand(), e.placeCommand(), e.pollCommand(), voteCommand(e), e.contactCommand(), e.forwardCommand(), e.reactCommand(), e.editCommand(),
			e.deleteCommand(), e.typingCommand(), e.scheduledCommand(),
		}},
		{"Change chats:", slices.Concat(e.chatStateCommands(), starCommands(e), clearCommands(e), []*cobra.Command{
			timerCommand(e), blockCommand(e, "block", true), blockCommand(e, "unblock", false), saveCommand(e), unsaveCommand(e), e.groupCommand(), historyCommand(e), e.importChatCommand(), e.importsCommand(),
			accountCommand(e), labelsCommand(e), labelCommand(e, "label", "Label a chat or a message.", true), labelCommand(e, "unlabel", "Remove a label from a chat or a message.", false),
		})},
		{"Connect other programs:", []*cobra.Command{e.webhooksCommand(), e.hooksCommand(), e.tokenCommand(), e.mcpCommand(), e.chatwootCommand()}},
		{"Maintain it:", []*cobra.Command{e.statusCommand(), e.configCommand(), e.reconnectCommand(), e.logoutCommand(), e.backupCommand(), e.restoreCommand(), e.reindexCommand(), e.healthcheckCommand(), e.versionCommand(), manCommand(e, root)}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.title
			root.AddCommand(c)
		}
	}
	for _, c := range []*cobra.Command{e.documentTextCommand(), e.becomeFFmpegCommand()} {
		c.Hidden = true
		root.AddCommand(c)
	}
	completer{e}.complete(root)
	return root
}

// newCommand returns a command. Its arguments are in its usage, as in "media <chat> [<file>]", and
// the first line of its help is a sentence for the list of commands.
func (e *environment) newCommand(usage, help string, do func(args []string) error) *cobra.Command {
	summary, _, _ := strings.Cut(help, "\n")
	return &cobra.Command{Use: usage, Short: summary, Long: help, Args: checkArguments, RunE: func(c *cobra.Command, args []string) error {
		e.isStarted = true
		if err := e.readEnvFile(c); err != nil {
			return err
		}
		err := do(args)
		if faults, are := errors.AsType[config.Faults](err); are && len(e.file.Set) > 0 {
			return append(faults, fmt.Sprintf("%s was read, too, and set %d variables", e.file.Name, len(e.file.Set)))
		}
		return err
	}}
}

// newGroup returns a command that only has others.
func newGroup(name, help string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: name, Short: help, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(commands...)
	return c
}

// example gives a command's help examples of its use.
func example(c *cobra.Command, lines ...string) *cobra.Command {
	c.Example = "  " + strings.Join(lines, "\n  ")
	return c
}

// checkArguments checks the number of a command's arguments against its usage, whose last argument may be
// repeated if it ends in "...".
func checkArguments(c *cobra.Command, given []string) error {
	arguments := strings.Fields(c.Use)[1:]
	if len(given) > len(arguments) && !strings.Contains(c.Use, "...") {
		return fmt.Errorf("unexpected argument %s", given[len(arguments)])
	}
	for _, argument := range arguments[min(len(given), len(arguments)):] {
		if strings.HasPrefix(argument, "<") {
			return fmt.Errorf("expected %q", strings.TrimSuffix(argument, "..."))
		}
	}
	return nil
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
		return shell.Usage("--%s: expected a value", envFileFlag)
	}
	if e.environ, e.file, err = config.WithEnvFile(e.environ, file.Value.String()); e.file.Warning != "" {
		fmt.Fprintln(e.stderr, "bridged: "+shell.Printable(e.file.Warning))
	}
	return err
}
