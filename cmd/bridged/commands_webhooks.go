package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bridged/internal/bridge"
	"bridged/internal/shell"
)

const webhookHelp = "\n\n<id> is the number of the webhook, from bridged webhooks list."

func (e *environment) webhooksCommand() *cobra.Command {
	list := e.shellCommand("list", "List the webhooks.", func(ctx context.Context, s *shell.Shell, _ []string) error { return s.Webhooks(ctx) })
	one := func(name, help string, do func(s *shell.Shell, ctx context.Context, id string) error) *cobra.Command {
		return example(e.shellCommand(name+" <id>", help+webhookHelp, func(ctx context.Context, s *shell.Shell, args []string) error { return do(s, ctx, args[0]) }), "bridged webhooks "+name+" 3")
	}
	return newGroup("webhooks", "Manage webhooks, to which the bridge posts events.",
		example(list, "bridged webhooks list"), one("show", "Show a webhook.", (*shell.Shell).Webhook), e.createWebhookCommand(), e.updateWebhookCommand(),
		one("delete", "Delete a webhook.", (*shell.Shell).DeleteWebhook),
		one("test", "Post a test event to a webhook, and fail if its receiver does not accept it.", (*shell.Shell).TestWebhook),
		e.deliveriesCommand(), e.redeliverCommand())
}

// addWebhookSettings adds the flags that new and existing webhooks have.
func addWebhookSettings(flags *pflag.FlagSet, w *shell.WebhookSettings) {
	addList(flags, &w.Types, "types", "The `TYPES` of events, separated by commas; all for every type")
	offer(flags, "types", append(bridge.EventTypes(), "all"))
	addRepeated(flags, &w.Chats, "chat", "Only events of this `CHAT`, or of all; may be repeated")
	addRepeated(flags, &w.ExcludeChats, "exclude-chat", "No events of this `CHAT`, or none excludes no chat; may be repeated")
	addOptionalChoice(flags, &w.Change.ChatType, "chat-type", "Only events of chats of this `TYPE`", chatTypes...)
	addChoice(flags, &w.Messages, "messages", "Only events of these `MESSAGES`", shell.MessagesOf...)
	addOptionalChoice(flags, &w.Change.Format, "format", "The `FORMAT` of the posts", bridge.WebhookFormats()...)
	flags.StringVar(&w.Options, "format-options", "", "Settings of the format, as `JSON`")
	flags.StringVar(&w.SecretFile, "secret-file", "", "A `FILE` with the secret that signs the posts; by default the bridge makes one")
	addSwitch(flags, &w.Change.AllowPrivate, "allow-private", "Permit private addresses that are in WEBHOOK_ALLOW_PRIVATE")
	addSwitch(flags, &w.Change.Enabled, "enabled", "Post events, or stop with =false")
	flags.BoolVar(&w.Change.DryRun, "dry-run", false, "Only ask whether the bridge would accept it")
}

func (e *environment) createWebhookCommand() *cobra.Command {
	var w shell.WebhookSettings
	const help = "Create a webhook and print its secret, which is shown once.\n\n<url> is the address of the receiver."
	c := e.shellCommand("create <url>", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		w.Change.URL = &args[0]
		return s.CreateWebhook(ctx, w)
	})
	addWebhookSettings(c.Flags(), &w)
	c.Flags().StringVar(&w.Since, "since", "", "Also post events from this `TIME` on, or after an event's number. By default only future ones")
	return example(c, "bridged webhooks create https://example.com/events --types message.created --messages others")
}

func (e *environment) updateWebhookCommand() *cobra.Command {
	var w shell.WebhookSettings
	c := e.shellCommand("update <id>", "Change a webhook. What no flag names stays as it is."+webhookHelp, func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.UpdateWebhook(ctx, args[0], w)
	})
	addWebhookSettings(c.Flags(), &w)
	addText(c.Flags(), &w.Change.URL, "url", "The `URL` of the receiver")
	c.Flags().BoolVar(&w.Change.RotateSecret, "rotate-secret", false, "Make a new secret and print it")
	return example(c, "bridged webhooks update 3 --enabled=false")
}

func (e *environment) deliveriesCommand() *cobra.Command {
	var status bridge.DeliveryState
	var limit int
	c := e.shellCommand("deliveries <id>", "List deliveries of a webhook, the newest first."+webhookHelp, func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.Deliveries(ctx, args[0], status, limit)
	})
	addChoice(c.Flags(), &status, "status", "Only deliveries of this `STATUS`", bridge.WebhookPending, bridge.WebhookDelivered, bridge.WebhookDead)
	addLimit(c.Flags(), &limit, 50)
	return example(c, "bridged webhooks deliveries 3 --status dead")
}

func (e *environment) redeliverCommand() *cobra.Command {
	var dead bool
	const help = "Post a delivery again." + webhookHelp + "\n<delivery> is the number of the delivery, from bridged webhooks deliveries <id>."
	c := e.shellCommand("redeliver <id> [<delivery>]", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		if dead == (len(args) == 2) {
			return shell.Usage("name a delivery, or all dead ones with --dead")
		}
		return s.Redeliver(ctx, args[0], append(args, "")[1])
	})
	c.Flags().BoolVar(&dead, "dead", false, "Post all dead deliveries again")
	return example(c, "bridged webhooks redeliver 3 41")
}
