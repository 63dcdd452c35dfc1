package main

import (
	"context"

	"github.com/spf13/cobra"

	"bridged/internal/bridge"
	"bridged/internal/shell"
)

const eventsOfChat = "Only events of this `CHAT`: " + chatNames

func (e *environment) eventsCommand() *cobra.Command {
	var q shell.Events
	const help = "List events of the log, the oldest first. bridged tail follows it."
	c := e.shellCommand("events", help, func(ctx context.Context, s *shell.Shell, _ []string) error {
		return s.Events(ctx, q)
	})
	flags := c.Flags()
	flags.StringVar(&q.Chat, "chat", "", eventsOfChat)
	flags.StringSliceVar(&q.Types, "types", nil, "The `TYPES` of events, separated by commas; by default all")
	offer(flags, "types", bridge.EventTypes())
	flags.StringVar(&q.Since, "since", "", "From this `TIME` on: a duration before now (90m, 3d), a date (2026-11-21, '2026-11-21 08:15'), or after an event's number. By default from the start of the log")
	addDuration(flags, &q.Wait, "wait", "Wait this `DURATION`, such as 60s, for the first event if there is none")
	addLimit(flags, &q.Limit, 100)
	return example(c, "bridged events --since 1h --types message.created,message.updated")
}

func (e *environment) callsCommand() *cobra.Command {
	var q shell.Calls
	c := e.shellCommand("calls", "List calls to the account, the newest first, or reject one.", func(ctx context.Context, s *shell.Shell, _ []string) error {
		return s.Calls(ctx, q)
	})
	c.Flags().StringVar(&q.Chat, "chat", "", "Only calls of this `CHAT`: "+chatNames)
	c.Flags().StringVar(&q.Since, "since", "", "Only from this `TIME` on: a duration before now (90m, 3d), or a date (2026-11-21, '2026-11-21 08:15')")
	addLimit(c.Flags(), &q.Limit, 50)
	c.AddCommand(example(e.keyedCommand("reject <id>", "Reject a call while it rings.\n\n<id> is the id of the call, from bridged calls.", func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		return s.RejectCall(ctx, args[0], key)
	}), "bridged calls reject 8F2B6C0D1E3A4957B6C8D0E2F4A61357"))
	return example(c, "bridged calls --since 7d")
}
