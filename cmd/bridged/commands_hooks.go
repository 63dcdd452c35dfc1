package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bridged/internal/shell"
)

const hookHelp = "\n\n<id> is the number of the hook, from bridged hooks list."

func (e *environment) hooksCommand() *cobra.Command {
	list := e.shellCommand("list", "List the hooks.", func(ctx context.Context, s *shell.Shell, _ []string) error { return s.Hooks(ctx) })
	one := func(name, help string, do func(s *shell.Shell, ctx context.Context, id string) error) *cobra.Command {
		return example(e.shellCommand(name+" <id>", help+hookHelp, func(ctx context.Context, s *shell.Shell, args []string) error { return do(s, ctx, args[0]) }), "bridged hooks "+name+" 2")
	}
	return newGroup("hooks", "Manage hooks: addresses at which posts of other programs become messages.",
		example(list, "bridged hooks list"), one("show", "Show a hook.", (*shell.Shell).Hook), e.createHookCommand(), e.updateHookCommand(),
		one("delete", "Delete a hook. Its address no longer works.", (*shell.Shell).DeleteHook), e.previewHookCommand())
}

// addHookSettings adds the flags that new and existing hooks have.
func addHookSettings(flags *pflag.FlagSet, h *shell.HookSettings) {
	flags.StringVar(&h.Chat, "chat", "", "The `CHAT` to write to: "+chatNames)
	flags.StringVar(&h.Template, "template", "", "The `TEMPLATE`: the name of a built-in one, its source, or @ and a file with the source")
	flags.StringVar(&h.SecretFile, "secret-file", "", "A `FILE` with the secret that the posts are signed with")
	addSwitch(flags, &h.Change.Enabled, "enabled", "Accept posts, or stop with =false")
}

func (e *environment) createHookCommand() *cobra.Command {
	var h shell.HookSettings
	const help = "Create a hook and print its address, which is shown once.\n\n<name> says what the hook is for."
	c := e.shellCommand("create <name>", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		h.Change.Name = &args[0]
		return s.CreateHook(ctx, h)
	})
	addHookSettings(c.Flags(), &h)
	required(c, "chat")
	required(c, "template")
	return example(c, `bridged hooks create "Code review" --chat +15557654321 --template github`)
}

func (e *environment) updateHookCommand() *cobra.Command {
	var h shell.HookSettings
	var isUnsigned bool
	c := e.shellCommand("update <id>", "Change a hook. What no flag names stays as it is."+hookHelp, func(ctx context.Context, s *shell.Shell, args []string) error {
		if isUnsigned && h.SecretFile != "" {
			return shell.Usage("give --secret-file or --no-secret, not both")
		}
		if isUnsigned {
			h.Change.Secret = new("")
		}
		return s.UpdateHook(ctx, args[0], h)
	})
	addHookSettings(c.Flags(), &h)
	addText(c.Flags(), &h.Change.Name, "name", "What the hook is for, as a `NAME`")
	c.Flags().BoolVar(&isUnsigned, "no-secret", false, "Accept unsigned posts")
	c.Flags().BoolVar(&h.Change.RotateKey, "rotate-key", false, "Make a new address and print it")
	return example(c, "bridged hooks update 2 --enabled=false")
}

func (e *environment) previewHookCommand() *cobra.Command {
	var headers []string
	const help = "Print the message that a payload would become." + hookHelp + "\n<file> has the payload, as JSON." + stdinHelp
	c := e.shellCommand("preview <id> [<file>]", help, func(ctx context.Context, s *shell.Shell, args []string) (err error) {
		from := io.ReadCloser(os.Stdin)
		if len(args) == 2 && args[1] != "-" {
			if from, err = os.Open(args[1]); err != nil {
				return shell.FileError(err)
			}
			defer from.Close()
		}
		return s.PreviewHook(ctx, args[0], from, headers)
	})
	c.Flags().StringArrayVar(&headers, "header", nil, "A `HEADER` of the post, as NAME=VALUE. May be repeated")
	return example(c, "bridged hooks preview 2 payload.json --header X-GitHub-Event=push")
}
