package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/config"
	"bridged/internal/shell"
)

// shellCommand returns a command that runs in a shell. It succeeds if its output is closed early, as
// "| head" does.
func (e *environment) shellCommand(usage, help string, do func(ctx context.Context, s *shell.Shell, args []string) error) *cobra.Command {
	var asJSON bool
	c := e.bridgeCommand(usage, help, func(api *client.Client, args []string) error {
		signal.Ignore(syscall.SIGPIPE) // would end the program when writing fails
		if warning := config.ZoneWarning(e.environ); warning != "" {
			fmt.Fprintln(e.stderr, "bridged: "+shell.Printable(warning))
		}
		variables, columns := env.ToMap(e.environ), terminalColumns(e)
		err := do(e.ctx, &shell.Shell{
			API: api, Out: e.stdout, Notes: e.stderr, Width: columns, JSON: asJSON, Now: time.Now,
			Color: columns > 0 && variables["NO_COLOR"] == "" && variables["TERM"] != "dumb",
		}, args)
		if errors.Is(err, syscall.EPIPE) {
			return nil
		}
		return shell.Explain(err)
	})
	addJSON(c.Flags(), &asJSON)
	return c
}

// terminalColumns returns the width of the terminal that the output goes to, or 0 if it goes
// elsewhere.
func terminalColumns(e *environment) int {
	file, ok := e.stdout.(*os.File)
	if !ok || !isTerminal(file) {
		return 0
	}
	if columns, err := strconv.Atoi(env.ToMap(e.environ)["COLUMNS"]); err == nil && columns >= 40 {
		return columns
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil || columns <= 0 {
		return 80
	}
	return max(columns, 40)
}

const (
	chatNames = "a JID, a phone number, an exact name or an @username."
	chatHelp  = "\n\n<chat> is " + chatNames
	// messageHelp describes the two arguments that identify a message.
	messageHelp = chatHelp + "\n<message> is the message's id, which bridged messages <chat> --ids shows."
	stdinHelp   = " Without it, or if it is -, it is read from standard input."
)

var chatTypes = []bridge.ChatType{bridge.ChatsAll, bridge.ChatsGroup, bridge.ChatsIndividual}

// addMessageType adds the flag for a type of message. If chats is not nil, the flag also accepts a
// type of chat: the two have no value in common.
func addMessageType(flags *pflag.FlagSet, filter *bridge.MessageFilter, chats *bridge.ChatType) {
	help := "Only messages of this `TYPE`: media, image, video, audio, document, sticker, link, or a messageType of the API"
	if chats != nil {
		help += "; or only messages in groups, or in chats with people: group, individual"
		*chats = bridge.ChatsAll
	}
	flags.Func("type", help, func(value string) (err error) {
		kind := bridge.ChatType(value)
		if chats != nil && slices.Contains(chatTypes, kind) {
			*chats = kind
			return nil
		}
		if filter.Type, err = bridge.ParseMessageType(value); err != nil {
			return err
		}
		return nil
	})
}

func addPastFlags(flags *pflag.FlagSet, since, before *string, ids *bool) {
	flags.StringVar(since, "since", "", "Only from this `TIME` on: a duration before now (90m, 3d), or a moment (2026-11-21, '2026-11-21 08:15')")
	flags.StringVar(before, "before", "", "Only before this `TIME`")
	flags.BoolVar(ids, "ids", false, "Also print ids of messages and JIDs")
}

func (e *environment) chatsCommand() *cobra.Command {
	var q shell.Chats
	c := e.shellCommand("chats [<text>]", "List chats.\n\n<text> is a part of the name or of the JID.", func(ctx context.Context, s *shell.Shell, args []string) error {
		q.Q = strings.Join(args, "")
		return s.Chats(ctx, q)
	})
	q.Type = bridge.ChatsAll
	addChoice(c.Flags(), &q.Type, "type", "The `TYPE` of chats", chatTypes...)
	c.Flags().BoolVar(&q.Unread, "unread", false, "Only chats with something unread")
	addLimit(c.Flags(), &q.Limit, 50)
	return c
}

func (e *environment) messagesCommand() *cobra.Command {
	var q shell.Messages
	c := e.shellCommand("messages <chat>", "List the newest messages of a chat."+chatHelp, func(ctx context.Context, s *shell.Shell, args []string) error {
		q.Chat = args[0]
		return s.Messages(ctx, q)
	})
	addPastFlags(c.Flags(), &q.Since, &q.Before, &q.IDs)
	addMessageType(c.Flags(), &q.Filter, nil)
	addLimit(c.Flags(), &q.Limit, 20)
	return c
}

func (e *environment) searchCommand() *cobra.Command {
	var q shell.Search
	var mine, accents bool
	const help = "Search for messages.\n\n<text> may be omitted with --chat, --from, --mine or a --type of messages."
	c := e.shellCommand("search [<text>]", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		q.Q = strings.Join(args, "")
		if mine {
			q.Filter.FromMe = &mine
		}
		if accents {
			q.Fold = bridge.FoldAccents
		}
		return s.Search(ctx, q)
	})
	addPastFlags(c.Flags(), &q.Since, &q.Before, &q.IDs)
	c.Flags().StringVar(&q.Chat, "chat", "", "Only in this `CHAT`: "+chatNames)
	c.Flags().StringVar(&q.From, "from", "", "Only from this `PERSON`: "+chatNames)
	c.Flags().BoolVar(&mine, "mine", false, "Only messages that the account wrote")
	c.Flags().BoolVar(&accents, "ignore-accents", false, "Find letters with and without accents alike")
	addMessageType(c.Flags(), &q.Filter, &q.Type)
	addLimit(c.Flags(), &q.Limit, 20)
	return c
}

func (e *environment) sendCommand() *cobra.Command {
	var q shell.Send
	const help = "Send a text or a file, once.\n\n<to> is " + chatNames + "\n<text> is the text, or the file's caption." + stdinHelp
	c := e.shellCommand("send <to> [<text>]", help, func(ctx context.Context, s *shell.Shell, args []string) (err error) {
		q.To = args[0]
		if len(args) == 2 || q.File == "" {
			if q.Text, err = textIn(args[1:], "there is no text to send: put it after the chat, or pipe it in"); err != nil {
				return err
			}
		}
		return s.Send(ctx, q)
	})
	c.Flags().StringVarP(&q.File, "file", "f", "", "A `FILE` to send")
	c.Flags().BoolVar(&q.Document, "document", false, "Send the file as a document, unchanged")
	c.Flags().StringVar(&q.ReplyTo, "reply-to", "", "The `ID` of the message of that chat to answer")
	addKey(c.Flags(), &q.Key)
	addDuration(c.Flags(), &q.Wait, "wait", "Wait this `DURATION`, such as 30s, until a phone has received the message, and fail if none has")
	return c
}

// textIn returns the text in the last argument, or on standard input if the argument is missing.
func textIn(rest []string, otherwise string) (string, error) {
	if len(rest) > 0 && rest[0] != "-" {
		return rest[0], nil
	}
	if isTerminal(os.Stdin) {
		return "", shell.Usage("%s", otherwise)
	}
	return shell.ReadText(os.Stdin)
}

func addKey(flags *pflag.FlagSet, key *string) {
	flags.StringVar(key, "key", "", "The Idempotency-`KEY`: the same command with the same key sends once. By default every command has its own")
}

func (e *environment) mediaCommand() *cobra.Command {
	var q shell.Media
	c := e.shellCommand("media <chat> <message>", "Download the file of a message."+messageHelp, func(ctx context.Context, s *shell.Shell, args []string) error {
		q.Chat, q.Message = args[0], args[1]
		return s.Media(ctx, q)
	})
	c.Flags().StringVarP(&q.Output, "output", "o", "", "The `PATH` of a file or a directory, or - for standard output. By default the file goes into the working directory under its own name")
	c.Flags().BoolVar(&q.Force, "force", false, "Replace a file that exists")
	return c
}

// changeCommand returns a command that does something with a message, once. usage and help are for
// the argument after the message.
func (e *environment) changeCommand(usage, summary, help string, do func(ctx context.Context, s *shell.Shell, on shell.Target, rest []string) error) *cobra.Command {
	var on shell.Target
	name, argument, _ := strings.Cut(usage, " ")
	c := e.shellCommand(name+" <chat> <message> "+argument, summary+messageHelp+"\n"+help, func(ctx context.Context, s *shell.Shell, args []string) error {
		on.Chat, on.Message = args[0], args[1]
		return do(ctx, s, on, args[2:])
	})
	addKey(c.Flags(), &on.Key)
	return c
}

func (e *environment) reactCommand() *cobra.Command {
	return e.changeCommand("react <emoji>", "React to a message.", "<emoji> is one emoji; '' removes the reaction.",
		func(ctx context.Context, s *shell.Shell, on shell.Target, rest []string) error {
			return s.React(ctx, on, rest[0])
		})
}

func (e *environment) forwardCommand() *cobra.Command {
	return e.changeCommand("forward <to>", "Forward a message.", "<to> is the chat to forward it to.",
		func(ctx context.Context, s *shell.Shell, of shell.Target, rest []string) error {
			return s.Forward(ctx, of, rest[0])
		})
}

func (e *environment) editCommand() *cobra.Command {
	return e.changeCommand("edit [<text>]", "Edit one of the account's messages.", "<text> is the new text or caption."+stdinHelp,
		func(ctx context.Context, s *shell.Shell, of shell.Target, rest []string) error {
			text, err := textIn(rest, "there is no new text: put it after the message, or pipe it in")
			if err != nil {
				return err
			}
			return s.Edit(ctx, of, text)
		})
}

func (e *environment) contactsCommand() *cobra.Command {
	var q shell.Contacts
	var numbers []string
	var c *cobra.Command
	const help = "List the people whom the account knows, or check numbers.\n\n<text> is a part of a name, of the @username or of the number."
	c = e.shellCommand("contacts [<text>]", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		if c.Flags().Changed("check") {
			if len(numbers) == 0 {
				return shell.Usage("--check: expected a number")
			}
			if len(args) > 0 || q.Saved || q.Blocked {
				return shell.Usage("--check cannot be combined with a text, --saved or --blocked")
			}
			return s.Check(ctx, numbers)
		}
		q.Q = strings.Join(args, "")
		return s.Contacts(ctx, q)
	})
	c.Flags().BoolVar(&q.Saved, "saved", false, "Only people in the address book")
	c.Flags().BoolVar(&q.Blocked, "blocked", false, "Only people whom the account blocks")
	c.Flags().StringSliceVar(&numbers, "check", nil, "Ask whether these `NUMBERS`, with commas between, are on WhatsApp, and fail if one is not")
	addLimit(c.Flags(), &q.Limit, 50)
	return c
}

func (e *environment) groupsCommand() *cobra.Command {
	var limit int
	const help = "List groups, or show one with its members.\n\n<group> is the group to show: a JID or its exact name."
	c := e.shellCommand("groups [<group>]", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		if len(args) > 0 {
			return s.Group(ctx, args[0])
		}
		return s.Groups(ctx, limit)
	})
	addLimit(c.Flags(), &limit, 50)
	return c
}

// tailCommand follows the log until it is interrupted or its output is closed.
func (e *environment) tailCommand() *cobra.Command {
	var q shell.Tail
	c := e.shellCommand("tail", "Print messages and other events as they arrive.", func(ctx context.Context, s *shell.Shell, _ []string) error {
		if len(q.Types) == 1 && q.Types[0] == "all" {
			q.Types = nil
		}
		read, unread := context.WithCancel(ctx)
		var watch sync.WaitGroup
		watch.Go(func() { watchOutput(read, s.Out, unread) })
		err := s.Tail(read, q)
		isUnread := read.Err() != nil && ctx.Err() == nil
		unread()
		watch.Wait()
		if isUnread {
			return nil
		}
		return err
	})
	c.Flags().StringVar(&q.Chat, "chat", "", "Only events of this `CHAT`: "+chatNames)
	c.Flags().StringSliceVar(&q.Types, "types", []string{string(bridge.EventMessageCreated)}, "The `TYPES` of events, with commas between; all for every type")
	c.Flags().StringVar(&q.Since, "since", "", "From this `TIME` on: a duration before now (90m, 3d), a moment, or after an event's number; 0 prints the whole log. By default from now on")
	return c
}

func (e *environment) importChatCommand() *cobra.Command {
	var q shell.ImportChat
	const help = "Import a chat that was exported on a phone.\n\n<file> is the zip or the text that \"Export chat\" created."
	c := e.shellCommand("import-chat <file>", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		q.File = args[0]
		return s.ImportChat(ctx, q)
	})
	c.Flags().StringVar(&q.Chat, "chat", "", "The `CHAT` to import into: a JID, a phone number, or the name of a new chat that is only for reading")
	required(c, "chat")
	c.Flags().StringArrayVar(&q.Names, "name", nil, "Which `PERSON` a name in the export is, as in Sofia=15551234567: a JID, a phone number, or me. May be repeated")
	c.Flags().StringVar(&q.Timezone, "timezone", "", "The time `ZONE` of the phone, such as Europe/Berlin or +02:00; the bridge's by default")
	addChoice(c.Flags(), &q.DateOrder, "date-order", "The `ORDER` in its dates, if they are ambiguous", bridge.DateOrders...)
	c.Flags().BoolVar(&q.DryRun, "dry-run", false, "Only print what the import would do")
	return c
}

func (e *environment) importsCommand() *cobra.Command {
	var limit int
	list := e.shellCommand("list", "List the imports, the newest first.", func(ctx context.Context, s *shell.Shell, _ []string) error {
		return s.Imports(ctx, limit)
	})
	addLimit(list.Flags(), &limit, 50)
	end := func(name, help string, undo bool) *cobra.Command {
		return e.shellCommand(name+" <id>", help+"\n\n<id> is the id of the import, from bridged imports list.", func(ctx context.Context, s *shell.Shell, args []string) error {
			return s.EndImport(ctx, args[0], undo)
		})
	}
	return newGroup("imports", "List imported chats, cancel imports and undo them.", list,
		end("undo", "Remove the messages of an import, except those that were also received or imported again.", true),
		end("cancel", "Cancel an import that is running; messages that it has stored remain.", false))
}
