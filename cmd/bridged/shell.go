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
	"golang.org/x/term"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/config"
	"bridged/internal/shell"
)

// shellCommand returns a command that runs in a shell, with the flags of all such
// commands. An output that is closed ends it where it prints: "| head" is no failure.
func shellCommand(name, help string, do func(ctx context.Context, s *shell.Shell, args []string) error, arguments ...argument) *command {
	c := newCommand(name, help, nil, arguments...)
	asJSON := c.flags.Bool("json", false, "Print JSON, one object a line.")
	return c.callsBridge(func(e *environment, api *client.Client, args []string) error {
		signal.Ignore(syscall.SIGPIPE) // which would end the program where writing fails
		if warning := config.ZoneWarning(e.environ); warning != "" {
			fmt.Fprintln(e.stderr, "bridged: "+shell.Printable(warning))
		}
		variables, columns := env.ToMap(e.environ), terminalColumns(e)
		err := do(e.ctx, &shell.Shell{
			API: api, Out: e.stdout, Notes: e.stderr, Width: columns, JSON: *asJSON, Now: time.Now,
			Color: columns > 0 && variables["NO_COLOR"] == "" && variables["TERM"] != "dumb",
		}, args)
		if errors.Is(err, syscall.EPIPE) {
			return nil
		}
		return shell.Explain(err)
	})
}

// terminalColumns returns the width of the terminal that the output goes to, 0 for none.
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

const chatNames = "a JID, a phone number, its exact name, or an @username."

var chatTypes = []bridge.ChatType{bridge.ChatsAll, bridge.ChatsGroup, bridge.ChatsIndividual}

func addType(c *command, kind *bridge.ChatType, help string) {
	*kind = bridge.ChatsAll
	c.flags.Func("type", help, func(value string) error {
		*kind = bridge.ChatType(value)
		if slices.Contains(chatTypes, *kind) {
			return nil
		}
		return misused(`--type must be one of "all","group","individual" but got %q`, value)
	})
	c.flags.Lookup("type").DefValue = string(bridge.ChatsAll)
}

// addMessageType adds the flag of a kind of message, which beside it may be one of chats where
// chats is not nil: the two have no value in common.
func addMessageType(c *command, filter *bridge.MessageFilter, chats *bridge.ChatType) {
	help := "`TYPE` Only messages of this kind: media, image, video, audio, document, sticker, link, or a messageType of the API"
	if chats != nil {
		help += "; or only those in groups, or in chats with people: group, individual"
		*chats = bridge.ChatsAll
	}
	c.flags.Func("type", help+".", func(value string) (err error) {
		kind := bridge.ChatType(value)
		if chats != nil && slices.Contains(chatTypes, kind) {
			*chats = kind
			return nil
		}
		if filter.Type, err = bridge.ParseMessageType(value); err != nil {
			return misused("--type %v", err)
		}
		return nil
	})
}

func addPastFlags(c *command, since, before *string, ids *bool) {
	c.flags.StringVar(since, "since", "", "`TIME` From then on: how long ago (90m, 3d), or a moment (2026-11-21, '2026-11-21 08:15').")
	c.flags.StringVar(before, "before", "", "`TIME` Before then.")
	c.flags.BoolVar(ids, "ids", false, "With the ids of messages, and JIDs.")
}

func chatsCommand() *command {
	var q shell.Chats
	c := shellCommand("chats", "List chats.", func(ctx context.Context, s *shell.Shell, args []string) error {
		q.Q = strings.Join(args, "")
		return s.Chats(ctx, q)
	}, argument{"text", "A part of the name, or of the JID.", true})
	addType(c, &q.Type, "Only groups, or only chats with people: group, individual.")
	c.flags.BoolVar(&q.Unread, "unread", false, "Only chats with something unread.")
	c.addLimit(&q.Limit, 50, "How many at most; 0 is all.")
	return c
}

func messagesCommand() *command {
	var q shell.Messages
	c := shellCommand("messages", "List the newest messages of a chat.", func(ctx context.Context, s *shell.Shell, args []string) error {
		q.Chat = args[0]
		return s.Messages(ctx, q)
	}, argument{name: "chat", help: "The chat: " + chatNames})
	addPastFlags(c, &q.Since, &q.Before, &q.IDs)
	addMessageType(c, &q.Filter, nil)
	c.addLimit(&q.Limit, 20, "How many at most, the newest ones; 0 is all.")
	return c
}

func searchCommand() *command {
	var q shell.Search
	var mine, accents bool
	c := shellCommand("search", "Search for messages.", func(ctx context.Context, s *shell.Shell, args []string) error {
		q.Q = strings.Join(args, "")
		if mine {
			q.Filter.FromMe = &mine
		}
		if accents {
			q.Fold = bridge.FoldAccents
		}
		return s.Search(ctx, q)
	}, argument{"text", "What to search for; may be left out with --chat, --from, --mine or a --type of messages.", true})
	addPastFlags(c, &q.Since, &q.Before, &q.IDs)
	c.flags.StringVar(&q.Chat, "chat", "", "`CHAT` Only in this chat: "+chatNames)
	c.flags.StringVar(&q.From, "from", "", "`PERSON` Only by this person: "+chatNames)
	c.flags.BoolVar(&mine, "mine", false, "Only what the account wrote.")
	c.flags.BoolVar(&accents, "ignore-accents", false, "Find letters with and without accents alike.")
	addMessageType(c, &q.Filter, &q.Type)
	c.addLimit(&q.Limit, 20, "How many at most; 0 is all.")
	return c
}

func sendCommand() *command {
	var q shell.Send
	c := shellCommand("send", "Send a text or a file, once.", func(ctx context.Context, s *shell.Shell, args []string) (err error) {
		q.To = args[0]
		if len(args) == 2 || q.File == "" {
			if q.Text, err = textIn(args[1:], "there is no text to send: give it behind the chat, or pipe it in"); err != nil {
				return err
			}
		}
		return s.Send(ctx, q)
	},
		argument{name: "to", help: "Where to: a JID, a phone number, a chat's exact name, or an @username."},
		argument{"text", "The text, or the file's caption; - or nothing reads it from standard input.", true})
	c.flags.StringVarP(&q.File, "file", "f", "", "`FILE` A file to send.")
	c.flags.BoolVar(&q.Document, "document", false, "Send the file as a document, unchanged.")
	c.flags.StringVar(&q.ReplyTo, "reply-to", "", "`ID` The id of the message of that chat to answer.")
	addKey(c, &q.Key)
	c.addDuration(&q.Wait, "wait", "`DURATION` Wait so long for a phone to take it, as in 30s, and fail if none does.")
	return c
}

// textIn returns the text that is given as the last argument, or comes in where there is none.
func textIn(rest []string, otherwise string) (string, error) {
	if len(rest) > 0 && rest[0] != "-" {
		return rest[0], nil
	}
	if isTerminal(os.Stdin) {
		return "", shell.Usage("%s", otherwise)
	}
	return shell.ReadText(os.Stdin)
}

func addKey(c *command, key *string) {
	c.flags.StringVar(key, "key", "", "`KEY` The Idempotency-Key: the same command with the same key sends once. One is made up by default.")
}

// aMessage names a message by two arguments.
var aMessage = []argument{
	{name: "chat", help: "The chat of the message: " + chatNames},
	{name: "message", help: "The message's id, which bridged messages <chat> --ids shows."},
}

func mediaCommand() *command {
	var q shell.Media
	c := shellCommand("media", "Download the file of a message.", func(ctx context.Context, s *shell.Shell, args []string) error {
		q.Chat, q.Message = args[0], args[1]
		return s.Media(ctx, q)
	}, aMessage...)
	c.flags.StringVarP(&q.Output, "output", "o", "", "`PATH` Where to: a file, a directory, or - for standard output. By default a file of its own name in the working directory.")
	c.flags.BoolVar(&q.Force, "force", false, "Replace a file that is there.")
	return c
}

// changeCommand returns a command that does something with a message, once.
func changeCommand(name, help string, do func(ctx context.Context, s *shell.Shell, on shell.Target, rest []string) error, more argument) *command {
	var on shell.Target
	c := shellCommand(name, help, func(ctx context.Context, s *shell.Shell, args []string) error {
		on.Chat, on.Message = args[0], args[1]
		return do(ctx, s, on, args[2:])
	}, append(slices.Clone(aMessage), more)...)
	addKey(c, &on.Key)
	return c
}

func reactCommand() *command {
	return changeCommand("react", "React to a message.", func(ctx context.Context, s *shell.Shell, on shell.Target, rest []string) error {
		return s.React(ctx, on, rest[0])
	}, argument{name: "emoji", help: "One emoji; '' removes the reaction."})
}

func forwardCommand() *command {
	return changeCommand("forward", "Forward a message.", func(ctx context.Context, s *shell.Shell, of shell.Target, rest []string) error {
		return s.Forward(ctx, of, rest[0])
	}, argument{name: "to", help: "Where to: " + chatNames})
}

func editCommand() *command {
	return changeCommand("edit", "Edit an own message.", func(ctx context.Context, s *shell.Shell, of shell.Target, rest []string) error {
		text, err := textIn(rest, "there is no new text: give it behind the message, or pipe it in")
		if err != nil {
			return err
		}
		return s.Edit(ctx, of, text)
	}, argument{"text", "The new text, or caption; - or nothing reads it from standard input.", true})
}

func contactsCommand() *command {
	var q shell.Contacts
	var numbers []string
	var c *command
	c = shellCommand("contacts", "List the people whom the account knows, or check numbers.", func(ctx context.Context, s *shell.Shell, args []string) error {
		if c.flags.Changed("check") {
			if len(numbers) == 0 {
				return shell.Usage("--check: expected a number")
			}
			if len(args) > 0 || q.Saved || q.Blocked {
				return shell.Usage("--check stands alone: it asks about numbers, not about contacts")
			}
			return s.Check(ctx, numbers)
		}
		q.Q = strings.Join(args, "")
		return s.Contacts(ctx, q)
	}, argument{"text", "A part of a name, of the @username, or of the number.", true})
	c.flags.BoolVar(&q.Saved, "saved", false, "Only people in the address book.")
	c.flags.BoolVar(&q.Blocked, "blocked", false, "Only people whom the account blocks.")
	c.flags.StringSliceVar(&numbers, "check", nil, "`NUMBER,…` Ask whether these numbers are on WhatsApp instead, and fail if one is not.")
	c.addLimit(&q.Limit, 50, "How many at most; 0 is all.")
	return c
}

func groupsCommand() *command {
	var limit int
	c := shellCommand("groups", "List groups, or show one with its members.", func(ctx context.Context, s *shell.Shell, args []string) error {
		if len(args) > 0 {
			return s.Group(ctx, args[0])
		}
		return s.Groups(ctx, limit)
	}, argument{"group", "The group to show: a JID, or its exact name.", true})
	c.addLimit(&limit, 50, "How many groups at most; 0 is all.")
	return c
}

// tailCommand follows the log until it is interrupted, or its output has no reader.
func tailCommand() *command {
	var q shell.Tail
	c := shellCommand("tail", "Print messages and other events as they come.", func(ctx context.Context, s *shell.Shell, _ []string) error {
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
	c.flags.StringVar(&q.Chat, "chat", "", "`CHAT` Only of this chat: "+chatNames)
	c.flags.StringSliceVar(&q.Types, "types", []string{"message.created"}, "`TYPE,…` Types of events; message.created by default, all for every type.")
	c.flags.StringVar(&q.Since, "since", "", "`TIME` From then on: how long ago (90m, 3d), a moment, or behind an event's number; 0 is all that is kept. Now by default.")
	return c
}

func importChatCommand() *command {
	var q shell.ImportChat
	c := shellCommand("import-chat", "Import a chat that the app on a phone has exported.", func(ctx context.Context, s *shell.Shell, args []string) error {
		q.File = args[0]
		return s.ImportChat(ctx, q)
	}, argument{name: "file", help: `The zip, or the text, that "Export chat" has made.`})
	c.flags.StringVar(&q.Chat, "chat", "", "`CHAT` Where to: a JID or a phone number, or the name of a new chat that is only for reading.")
	c.required = []string{"chat"}
	c.flags.StringArrayVar(&q.Names, "name", nil, "`PERSON` Who a name in it is, as in Sofia=15551234567: a JID, a phone number, or me. May be repeated.")
	c.flags.StringVar(&q.Timezone, "timezone", "", "`ZONE` The zone of the phone, such as Europe/Berlin or +02:00; the bridge's by default.")
	c.flags.Func("date-order", "`ORDER` The order of its dates, where that cannot be found out: DMY, MDY, YMD.", func(value string) error {
		if q.DateOrder = bridge.DateOrder(value); !slices.Contains(bridge.DateOrders, q.DateOrder) {
			return misused(`--date-order must be one of "DMY","MDY","YMD" but got %q`, value)
		}
		return nil
	})
	c.flags.BoolVar(&q.DryRun, "dry-run", false, "Only say what would become of it.")
	return c
}

func importsCommand() *command {
	c := newCommand("imports", "List imported chats, cancel imports and undo them.", nil)
	var limit int
	list := shellCommand("list", "List the imports, the newest first.", func(ctx context.Context, s *shell.Shell, _ []string) error {
		return s.Imports(ctx, limit)
	})
	list.flags.IntVarP(&limit, "limit", "n", 50, "How many at most; 0 is all.")
	end := func(name, help string, undo bool) *command {
		return shellCommand(name, help, func(ctx context.Context, s *shell.Shell, args []string) error {
			return s.EndImport(ctx, args[0], undo)
		}, argument{name: "id", help: "The id of the import, from bridged imports list."})
	}
	c.commands = []*command{
		list,
		end("undo", "Remove what an import has stored, except what received messages or other imports have, too.", true),
		end("cancel", "End an import that is running; what it has stored stays.", false),
	}
	return c
}
