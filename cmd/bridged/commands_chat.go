package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/shell"
)

// chatStateCommands returns the commands that change how the account's devices show a chat.
func (e *environment) chatStateCommands() []*cobra.Command {
	return []*cobra.Command{
		readCommand(e),
		updateChatCommand(e, "unread", "Mark a chat as unread.", client.ChatChange{Unread: new(true)}, "Marked %s as unread."),
		updateChatCommand(e, "archive", "Archive a chat, which also unpins it.", client.ChatChange{Archived: new(true)}, "Archived %s."),
		updateChatCommand(e, "unarchive", "Take a chat out of the archive.", client.ChatChange{Archived: new(false)}, "Took %s out of the archive."),
		pinCommand(e, true),
		pinCommand(e, false),
		muteCommand(e),
		updateChatCommand(e, "unmute", "Unmute a chat.", client.ChatChange{MutedUntil: new(bridge.Time{})}, "Unmuted %s."),
	}
}

// updateChatCommand returns a command that makes one change. did is a sentence with a verb for the chat.
func updateChatCommand(e *environment, name, summary string, change client.ChatChange, did string) *cobra.Command {
	return example(e.keyedCommand(name+" <chat>", summary+chatHelp, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		return s.UpdateChat(ctx, args[0], key, change, did)
	}), "bridged "+name+" +15557654321")
}

func readCommand(e *environment) *cobra.Command {
	var quiet bool
	const help = "Mark a chat as read, so that the authors get blue ticks." + chatHelp + "\n<message> is the id of the last message that was read; by default the newest."
	c := e.keyedCommand("read <chat> [<message>]", help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		return s.MarkRead(ctx, shell.Target{Chat: args[0], Message: strings.Join(args[1:], ""), Key: key}, !quiet)
	})
	c.Flags().BoolVar(&quiet, "no-receipts", false, "Mark it as read on the account's devices only")
	return example(c, "bridged read +15557654321")
}

// pinCommand returns the command that pins a chat or a message, or the one that unpins it.
func pinCommand(e *environment, pins bool) *cobra.Command {
	var length string
	name, did := "pin", "Pinned %s."
	summary := "Pin a chat, which also takes it out of the archive, or pin one of its messages for everybody."
	if !pins {
		name, did, summary = "unpin", "Unpinned %s.", "Unpin a chat, or one of its messages for everybody."
	}
	c := e.keyedCommand(name+" <chat> [<message>]", summary+chatHelp+"\n<message> is the id of a message.", func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		switch {
		case len(args) == 2 && pins:
			return s.PinMessage(ctx, shell.Target{Chat: args[0], Message: args[1], Key: key}, length)
		case len(args) == 2:
			return s.UnpinMessage(ctx, shell.Target{Chat: args[0], Message: args[1], Key: key})
		case length != "":
			return shell.Usage("--for is for messages: a chat is pinned until it is unpinned")
		}
		return s.UpdateChat(ctx, args[0], key, client.ChatChange{Pinned: &pins}, did)
	})
	of := "bridged " + name + " +15557654321 3EB0A1B2C3D4E5F60718"
	if pins {
		addChoice(c.Flags(), &length, "for", "For how long a message is pinned, as a `DURATION`; 7d by default", "24h", "7d", "30d")
		of += " --for 24h"
	}
	return example(c, "bridged "+name+" +15557654321", of)
}

// starCommands returns the commands that star a message and that remove the star.
func starCommands(e *environment) []*cobra.Command {
	command := func(name, summary string, do func(*shell.Shell, context.Context, shell.Target) error) *cobra.Command {
		return example(e.keyedCommand(name+" <chat> <message>", summary+messageHelp, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
			return do(s, ctx, shell.Target{Chat: args[0], Message: args[1], Key: key})
		}), "bridged "+name+" +15557654321 3EB0A1B2C3D4E5F60718")
	}
	return []*cobra.Command{
		command("star", "Star a message on the account's devices. bridged search --starred lists such messages.", (*shell.Shell).Star),
		command("unstar", "Remove the star of a message.", (*shell.Shell).Unstar),
	}
}

func voteCommand(e *environment) *cobra.Command {
	var withdraw bool
	const help = "Vote in a poll, instead of an earlier vote." + messageHelp + "\n<option> is the name of an option."
	c := e.keyedCommand("vote <chat> <message> [<option>...]", help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		if options := args[2:]; withdraw == (len(options) > 0) {
			return shell.Usage("name the options to vote for, or withdraw the vote with --withdraw")
		}
		return s.Vote(ctx, shell.Target{Chat: args[0], Message: args[1], Key: key}, args[2:])
	})
	c.Flags().BoolVar(&withdraw, "withdraw", false, "Withdraw the vote")
	return example(c, "bridged vote 120363000000000001@g.us 3EB0A1B2C3D4E5F60718 Saturday")
}

func muteCommand(e *environment) *cobra.Command {
	var length time.Duration
	c := e.keyedCommand("mute <chat>", "Mute a chat, forever or for some time."+chatHelp, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		return s.Mute(ctx, args[0], key, length)
	})
	addDuration(c.Flags(), &length, "for", "How long, as a `DURATION` such as 8h or 7d; forever by default")
	return example(c, "bridged mute +15557654321 --for 8h")
}

// clearCommands returns the commands that clear a chat and that delete it.
func clearCommands(e *environment) []*cobra.Command {
	var keepStarred bool
	clear := eraseCommand(e, "clear", "Erase the messages of a chat on the account's devices.", "Erase the messages of %s here and on the account's devices?",
		func(ctx context.Context, s *shell.Shell, chat, key string) error {
			return s.ClearChat(ctx, chat, key, keepStarred)
		})
	clear.Flags().BoolVar(&keepStarred, "keep-starred", false, "Starred messages stay")
	return []*cobra.Command{clear, eraseCommand(e, "delete-chat", "Erase a chat on the account's devices. A group must be left first.",
		"Erase %s here and on the account's devices?",
		func(ctx context.Context, s *shell.Shell, chat, key string) error { return s.DeleteChat(ctx, chat, key) })}
}

func eraseCommand(e *environment, name, summary, question string, do func(ctx context.Context, s *shell.Shell, chat, key string) error) *cobra.Command {
	var yes bool
	c := e.keyedCommand(name+" <chat>", summary+chatHelp, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		if !yes {
			if err := confirm(ctx, s.Notes, fmt.Sprintf(question, args[0])); err != nil {
				return err
			}
		}
		return do(ctx, s, args[0], key)
	})
	c.Flags().BoolVar(&yes, "yes", false, "Do not ask")
	return example(c, "bridged "+name+" +15557654321 --yes")
}

func timerCommand(e *environment) *cobra.Command {
	const help = "Let new messages of a chat disappear." + chatHelp + "\n<time> is off, 24h, 7d or 90d."
	return example(e.keyedCommand("timer <chat> <time>", help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		seconds, known := timers[args[1]]
		if !known {
			return shell.Usage("the time must be one of off, 24h, 7d, 90d")
		}
		return s.SetTimer(ctx, args[0], key, seconds)
	}), "bridged timer +15557654321 7d")
}

func blockCommand(e *environment, name string, block bool) *cobra.Command {
	summary := "Block a person."
	if !block {
		summary = "Unblock a person."
	}
	help := summary + "\n\n<person> is " + chatNames + "\nbridged contacts --blocked lists whom the account blocks."
	return example(e.keyedCommand(name+" <person>", help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		return s.Block(ctx, args[0], key, block)
	}), "bridged "+name+" +15557654321")
}

// saveCommand returns the command that saves people in the address book, and unsaveCommand the one that
// removes them.
func saveCommand(e *environment) *cobra.Command {
	var name bridge.ContactName
	const help = "Save a person in the account's address book, on all of its devices.\n\n<person> is " + chatNames + "\nA number that is not known yet is looked up first."
	c := e.keyedCommand("save <person> <name>", help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		name.Full = args[1]
		if strings.TrimSpace(name.Full) == "" {
			return shell.Usage("the name is empty: use \"bridged unsave\" to remove a person from the address book")
		}
		return s.SaveName(ctx, args[0], key, name)
	})
	c.Flags().StringVar(&name.First, "first", "", "The first `NAME`; by default the first word")
	return example(c, `bridged save +15557654321 "Grace Hopper"`)
}

func unsaveCommand(e *environment) *cobra.Command {
	const help = "Remove a person from the account's address book.\n\n<person> is " + chatNames
	return example(e.keyedCommand("unsave <person>", help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		return s.SaveName(ctx, args[0], key, bridge.ContactName{})
	}), "bridged unsave +15557654321")
}

func historyCommand(e *environment) *cobra.Command {
	var count int
	const help = "Ask the phone for older messages of a chat.\n\nThe phone answers when it is online. Repeat the command once the messages are stored." + chatHelp
	c := e.shellCommand("history <chat>", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.RequestHistory(ctx, args[0], count)
	})
	c.Flags().IntVar(&count, "count", 50, "At most this `NUMBER` of messages, up to 500")
	return example(c, "bridged history +15557654321 --count 100")
}

func exportCommand(e *environment) *cobra.Command {
	var q shell.Export
	const help = "Save a whole chat as a file.\n\nThe txt format is what phones export, and bridged import-chat reads it." + chatHelp
	c := e.shellCommand("export <chat>", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		q.Chat = args[0]
		return s.Export(ctx, q)
	})
	flags := c.Flags()
	addChoice(flags, &q.Format, "format", "The `FORMAT`; jsonl by default", client.ExportFormats...)
	flags.BoolVar(&q.Files, "files", false, "Make a zip with the files of the messages")
	flags.StringVar(&q.Timezone, "timezone", "", "The time `ZONE` of the text, such as Europe/Berlin or +02:00; the bridge's by default")
	addPast(flags, &q.Since, &q.Before)
	addSaving(flags, &q.Saving)
	return example(c, "bridged export +15557654321 --format txt --files")
}

func profileCommand(e *environment) *cobra.Command {
	const help = "Show what a person shows about themselves: the about text, and the profile of a business.\n\n<person> is " + chatNames
	return example(e.shellCommand("profile <person>", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.Profile(ctx, args[0])
	}), "bridged profile +15557654321")
}

// accountCommand returns the commands that change what the account shows about itself.
func accountCommand(e *environment) *cobra.Command {
	return newGroup("account", "Change what the account shows about itself.", editAccountCommand(e), accountPictureCommand(e), privacyCommand(e))
}

func editAccountCommand(e *environment) *cobra.Command {
	var patch bridge.AccountPatch
	c := e.keyedCommand("edit", "Change the account's name and about text.", func(ctx context.Context, s *shell.Shell, _ []string, key string) error {
		return s.UpdateAccount(ctx, patch, key)
	})
	addText(c.Flags(), &patch.Name, "name", "The `NAME` that people see who have not saved the account")
	addText(c.Flags(), &patch.About, "about", "The about `TEXT`; '' removes it")
	return example(c, `bridged account edit --about "Open until six"`)
}

func accountPictureCommand(e *environment) *cobra.Command {
	var remove bool
	const help = "Change the account's picture.\n\n<file> is a JPEG, PNG, WebP, GIF or BMP; its centre becomes a square."
	c := e.keyedCommand("picture [<file>]", help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		switch {
		case remove == (len(args) == 1):
			return shell.Usage("give a file for the new picture, or --remove")
		case remove:
			return s.RemoveAccountPicture(ctx, key)
		}
		return s.SetAccountPicture(ctx, args[0], key)
	})
	c.Flags().BoolVar(&remove, "remove", false, "Remove the picture")
	return example(c, "bridged account picture --remove", "bridged account picture readers.png")
}

func privacyCommand(e *environment) *cobra.Command {
	const help = "Show the account's privacy settings, or change some of them.\n\nSettings are changed one after the other. Those with a list of people can only be changed on the phone."
	return example(e.keyedCommand("privacy [<setting>=<value>...]", help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		return s.Privacy(ctx, args, key)
	}), "bridged account privacy", "bridged account privacy lastSeen=contacts groupAdd=contacts")
}

const labelHelp = "\n\n<label> is its id or its name. Labels need WhatsApp Business on the phone."

func labelsCommand(e *environment) *cobra.Command {
	var created, changed bridge.LabelPatch
	var name string
	list := e.shellCommand("list", "List the account's labels.", func(ctx context.Context, s *shell.Shell, _ []string) error { return s.Labels(ctx) })
	create := e.keyedCommand("create <name>", "Create a label and print its id.", func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		name = args[0]
		created.Name = &name
		return s.CreateLabel(ctx, created, key)
	})
	addColor(create.Flags(), &created.Color)
	edit := e.keyedCommand("edit <label>", "Change the name or the colour of a label."+labelHelp, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		return s.UpdateLabel(ctx, args[0], changed, key)
	})
	addText(edit.Flags(), &changed.Name, "name", "The new `NAME`")
	addColor(edit.Flags(), &changed.Color)
	remove := e.keyedCommand("delete <label>", "Delete a label."+labelHelp, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		return s.DeleteLabel(ctx, args[0], key)
	})
	return newGroup("labels", "List, create, change and delete labels for chats and messages.",
		example(list, "bridged labels list"), example(create, "bridged labels create Paid --color 3"),
		example(edit, `bridged labels edit Paid --name "Paid in full"`), example(remove, "bridged labels delete Paid"))
}

func addColor(flags *pflag.FlagSet, color **int) {
	flags.Func("color", "The `NUMBER` of a colour of the apps, 0 to 19", func(value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n >= bridge.LabelColors {
			return fmt.Errorf("must be 0 to %d", bridge.LabelColors-1)
		}
		*color = &n
		return nil
	})
}

// labelCommand returns the command that labels chats and messages, or the one that removes labels.
func labelCommand(e *environment, name, summary string, labelled bool) *cobra.Command {
	help := summary + labelHelp + "\n<chat> is " + chatNames + "\n<message> is the message's id."
	c := e.keyedCommand(name+" <chat> <label> [<message>]", help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		return s.SetLabel(ctx, shell.Target{Chat: args[0], Message: strings.Join(args[2:], ""), Key: key}, args[1], labelled)
	})
	return example(c, "bridged "+name+" +15557654321 Paid", "bridged "+name+" +15557654321 Paid 3EB0A1B2C3D4E5F60718")
}
