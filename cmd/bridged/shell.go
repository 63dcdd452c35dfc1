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

// addMessageFilter adds the flags for a type of message and for starred ones. If chats is not nil, the flag also
// accepts a type of chat: the two have no value in common.
func addMessageFilter(flags *pflag.FlagSet, filter *bridge.MessageFilter, chats *bridge.ChatType) {
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
	types := []string{bridge.TypeMedia, "image", "video", "audio", "document", "sticker", bridge.TypeLink}
	if chats != nil {
		types = append(types, string(bridge.ChatsGroup), string(bridge.ChatsIndividual))
	}
	offer(flags, "type", types)
	flags.BoolFunc("starred", "Only messages that the account has starred", func(string) error {
		filter.Starred = new(true)
		return nil
	})
}

func addPast(flags *pflag.FlagSet, since, before *string) {
	flags.StringVar(since, "since", "", "Only from this `TIME` on: a duration before now (90m, 3d), or a date (2026-11-21, '2026-11-21 08:15')")
	flags.StringVar(before, "before", "", "Only before this `TIME`")
}

func addPastFlags(flags *pflag.FlagSet, since, before *string, ids *bool) {
	addPast(flags, since, before)
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
	c.Flags().StringVar(&q.Label, "label", "", "Only chats with this `LABEL`: its id or its name")
	addLimit(c.Flags(), &q.Limit, 50)
	return example(c, "bridged chats grace --unread")
}

func (e *environment) messagesCommand() *cobra.Command {
	var q shell.Messages
	var c *cobra.Command
	const help = "List the newest messages of a chat, or show one." + chatHelp + "\n<message> is the id of the message to show, which --ids shows."
	c = e.shellCommand("messages <chat> [<message>]", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		if q.Chat = args[0]; len(args) == 1 {
			return s.Messages(ctx, q)
		}
		if q.Since+q.Before != "" || !q.Filter.IsZero() || q.IDs || c.Flags().Changed("limit") {
			return shell.Usage("--since, --before, --type, --ids and --limit are for lists, not for one message")
		}
		return s.Message(ctx, shell.Target{Chat: args[0], Message: args[1]})
	})
	addPastFlags(c.Flags(), &q.Since, &q.Before, &q.IDs)
	addMessageFilter(c.Flags(), &q.Filter, nil)
	addLimit(c.Flags(), &q.Limit, 20)
	return example(c, "bridged messages +15557654321 --since 7d", "bridged messages 120363000000000001@g.us --type image", "bridged messages +15557654321 3EB0A1B2C3D4E5F60718")
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
	addMessageFilter(c.Flags(), &q.Filter, &q.Type)
	addLimit(c.Flags(), &q.Limit, 20)
	return example(c, "bridged search hotel --type document --since 30d")
}

func (e *environment) mediaCommand() *cobra.Command {
	var q shell.Media
	var isInfo bool
	c := e.shellCommand("media <chat> <message>", "Download the file of a message, or describe it."+messageHelp, func(ctx context.Context, s *shell.Shell, args []string) error {
		if isInfo && (q.Output != "" || q.Force) {
			return shell.Usage("--info downloads nothing, so it cannot be combined with --output or --force")
		}
		if isInfo {
			return s.MediaInfo(ctx, shell.Target{Chat: args[0], Message: args[1]})
		}
		q.Chat, q.Message = args[0], args[1]
		return s.Media(ctx, q)
	})
	addSaving(c.Flags(), &q.Saving)
	c.Flags().BoolVar(&isInfo, "info", false, "Describe the file instead of downloading it")
	return example(c, "bridged media +15557654321 3EB0A1B2C3D4E5F60718 --output photo.jpg", "bridged media +15557654321 3EB0A1B2C3D4E5F60718 --info")
}

func addSaving(flags *pflag.FlagSet, to *shell.Saving) {
	flags.StringVarP(&to.Output, "output", "o", "", "The `PATH` of a file or a directory, or - for standard output. By default the file goes into the working directory under its own name")
	flags.BoolVar(&to.Force, "force", false, "Replace a file that exists")
}

func (e *environment) pictureCommand() *cobra.Command {
	var saving shell.Saving
	size := bridge.PictureFull
	const help = "Download the picture of a person or a group.\n\n<who> is " + chatNames
	c := e.shellCommand("picture <who>", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.Picture(ctx, args[0], size, saving)
	})
	addSaving(c.Flags(), &saving)
	addChoice(c.Flags(), &size, "size", "The `SIZE` of the picture", bridge.PictureFull, bridge.PicturePreview)
	return example(c, "bridged picture +15557654321 --output grace.jpg", "bridged picture 120363000000000001@g.us --size preview")
}

func (e *environment) transcribeCommand() *cobra.Command {
	var wait time.Duration
	const help = "Print the transcript of a voice note or video, or request one." + messageHelp
	c := e.shellCommand("transcribe <chat> <message>", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.Transcribe(ctx, shell.Target{Chat: args[0], Message: args[1]}, wait)
	})
	addDuration(c.Flags(), &wait, "wait", "Wait this `DURATION`, such as 2m, for the transcript, and fail if there is none")
	return example(c, "bridged transcribe +15557654321 3EB0A1B2C3D4E5F60718")
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
	c.Flags().StringSliceVar(&numbers, "check", nil, "Ask whether these `NUMBERS`, separated by commas, are on WhatsApp, and fail if one is not")
	addLimit(c.Flags(), &q.Limit, 50)
	return example(c, "bridged contacts grace", `bridged contacts --check "+1 555 765-4321"`)
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
	return example(c, "bridged groups", "bridged groups 120363000000000001@g.us")
}

// tailCommand follows the log until it is interrupted or its output is closed.
func (e *environment) tailCommand() *cobra.Command {
	var q shell.Tail
	c := e.shellCommand("tail", "Print messages and other events as they arrive.", func(ctx context.Context, s *shell.Shell, _ []string) error {
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
	c.Flags().StringVar(&q.Chat, "chat", "", eventsOfChat)
	c.Flags().StringSliceVar(&q.Types, "types", []string{string(bridge.EventMessageCreated)}, "The `TYPES` of events, separated by commas; all for every type")
	offer(c.Flags(), "types", append(bridge.EventTypes(), "all"))
	c.Flags().StringVar(&q.Since, "since", "", "From this `TIME` on: a duration before now (90m, 3d), a date (2026-11-21, '2026-11-21 08:15'), or after an event's number; 0 prints the whole log. By default from now on")
	return example(c, "bridged tail --types all --since 1h")
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
	return example(c, "bridged import-chat export.zip --chat +15557654321 --timezone Europe/Madrid")
}

func (e *environment) importsCommand() *cobra.Command {
	var limit int
	list := e.shellCommand("list", "List the imports, the newest first.", func(ctx context.Context, s *shell.Shell, _ []string) error {
		return s.Imports(ctx, limit)
	})
	addLimit(list.Flags(), &limit, 50)
	example(list, "bridged imports list")
	end := func(name, help string, undo bool) *cobra.Command {
		return example(e.shellCommand(name+" <id>", help+"\n\n<id> is the id of the import, from bridged imports list.", func(ctx context.Context, s *shell.Shell, args []string) error {
			return s.EndImport(ctx, args[0], undo)
		}), "bridged imports "+name+" 8f2b6c0d1e3a4957")
	}
	return newGroup("imports", "List imported chats, cancel imports and undo them.", list,
		end("undo", "Remove the messages of an import, except those that were also received or imported again.", true),
		end("cancel", "Cancel an import that is running; messages that it has stored remain.", false))
}
