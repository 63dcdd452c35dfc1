package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bridged/internal/shell"
)

// addSendAt adds the flag for the time of a message.
func addSendAt(flags *pflag.FlagSet, at *string) {
	flags.StringVar(at, "send-at", "", "Send it at this `TIME`: a duration from now (90m, 3d), a time of day (08:15), or a date with a time ('2026-11-21 08:15')")
}

const scheduledHelp = "\n\n<message> is the message's id, which bridged scheduled list shows."

func (e *environment) scheduledCommand() *cobra.Command {
	var chat, at, key string
	var limit int
	list := e.shellCommand("list", "List the messages that are sent later, and those that could not be sent, the next one first.", func(ctx context.Context, s *shell.Shell, _ []string) error {
		return s.Scheduled(ctx, chat, limit)
	})
	list.Flags().StringVar(&chat, "chat", "", "Only to this `CHAT`: "+chatNames)
	addLimit(list.Flags(), &limit, 50)
	example(list, "bridged scheduled list")
	change := e.shellCommand("change <message> [<text>]", "Change the time or the text of a scheduled message."+scheduledHelp+
		"\n<text> is the new text or caption.", func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.ChangeScheduled(ctx, args[0], at, strings.Join(args[1:], ""))
	})
	addSendAt(change.Flags(), &at)
	example(change, "bridged scheduled change 3EB0C0FFEE0123456789 --send-at 90m")
	cancel := e.shellCommand("cancel <message>", "Erase a scheduled message."+scheduledHelp, func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.CancelScheduled(ctx, args[0])
	})
	example(cancel, "bridged scheduled cancel 3EB0C0FFEE0123456789")
	now := e.shellCommand("now <message>", "Send a scheduled message now, also one that was missed, held or refused."+scheduledHelp, func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.SendScheduled(ctx, args[0], key)
	})
	addKey(now.Flags(), &key)
	example(now, "bridged scheduled now 3EB0C0FFEE0123456789")
	return newGroup("scheduled", "List messages that are sent later, change, cancel and send them.", list, change, cancel, now)
}
