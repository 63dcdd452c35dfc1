package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/shell"
)

// chatStateCommands returns the commands that change how the account's devices show a chat.
func (e *environment) chatStateCommands() []*cobra.Command {
	return []*cobra.Command{
		e.readCommand(),
		e.updateChatCommand("unread", "Mark a chat as unread.", client.ChatChange{Unread: new(true)}, "Marked %s as unread."),
		e.updateChatCommand("archive", "Archive a chat, which also unpins it.", client.ChatChange{Archived: new(true)}, "Archived %s."),
		e.updateChatCommand("unarchive", "Take a chat out of the archive.", client.ChatChange{Archived: new(false)}, "Took %s out of the archive."),
		e.updateChatCommand("pin", "Pin a chat, which also takes it out of the archive.", client.ChatChange{Pinned: new(true)}, "Pinned %s."),
		e.updateChatCommand("unpin", "Unpin a chat.", client.ChatChange{Pinned: new(false)}, "Unpinned %s."),
		e.muteCommand(),
		e.updateChatCommand("unmute", "Unmute a chat.", client.ChatChange{MutedUntil: new(bridge.Time{})}, "Unmuted %s."),
	}
}

// updateChatCommand returns a command that makes one change. did is a sentence with a verb for the chat.
func (e *environment) updateChatCommand(name, summary string, change client.ChatChange, did string) *cobra.Command {
	var key string
	c := e.shellCommand(name+" <chat>", summary+chatHelp, func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.UpdateChat(ctx, args[0], key, change, did)
	})
	addKey(c.Flags(), &key)
	return example(c, "bridged "+name+" +15557654321")
}

func (e *environment) readCommand() *cobra.Command {
	var what shell.Target
	var quiet bool
	const help = "Mark a chat as read, so that the authors get blue ticks." + chatHelp + "\n<message> is the id of the last message that was read; by default the newest."
	c := e.shellCommand("read <chat> [<message>]", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		if what.Chat = args[0]; len(args) > 1 {
			what.Message = args[1]
		}
		return s.MarkRead(ctx, what, !quiet)
	})
	c.Flags().BoolVar(&quiet, "no-receipts", false, "Mark it as read on the account's devices only")
	addKey(c.Flags(), &what.Key)
	return example(c, "bridged read +15557654321")
}

func (e *environment) muteCommand() *cobra.Command {
	var key string
	var length time.Duration
	c := e.shellCommand("mute <chat>", "Mute a chat, forever or for some time."+chatHelp, func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.Mute(ctx, args[0], key, length)
	})
	addDuration(c.Flags(), &length, "for", "How long, as a `DURATION` such as 8h or 7d; forever by default")
	addKey(c.Flags(), &key)
	return example(c, "bridged mute +15557654321 --for 8h")
}

func (e *environment) blockCommand(name string, block bool) *cobra.Command {
	var key string
	summary := "Block a person."
	if !block {
		summary = "Unblock a person."
	}
	help := summary + "\n\n<person> is " + chatNames + "\nbridged contacts --blocked lists whom the account blocks."
	c := e.shellCommand(name+" <person>", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.Block(ctx, args[0], key, block)
	})
	addKey(c.Flags(), &key)
	return example(c, "bridged "+name+" +15557654321")
}

func (e *environment) historyCommand() *cobra.Command {
	var count int
	const help = "Ask the phone for older messages of a chat.\n\nThe phone answers when it is online. Repeat the command once the messages are stored." + chatHelp
	c := e.shellCommand("history <chat>", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.RequestHistory(ctx, args[0], count)
	})
	c.Flags().IntVar(&count, "count", 50, "At most this `NUMBER` of messages, up to 500")
	return example(c, "bridged history +15557654321 --count 100")
}
