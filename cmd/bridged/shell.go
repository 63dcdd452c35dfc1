package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/caarlos0/env/v11"
	"golang.org/x/term"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/config"
	"bridged/internal/shell"
)

// shellFlags are what the commands for people have in common.
type shellFlags struct {
	address, tokenFile string
	json               bool
}

func addShellFlags(c *command) *shellFlags {
	f := new(shellFlags)
	c.flags.StringVar(&f.address, "address", "", "`URL` The bridge's address, such as https://bridge.example.com; BRIDGE_URL and LISTEN_ADDR name it otherwise.")
	c.flags.StringVar(&f.tokenFile, "token-file", "", "`FILE` A file with the token; BRIDGE_TOKEN and BRIDGE_TOKEN_FILE hold it otherwise.")
	c.flags.BoolVar(&f.json, "json", false, "Print JSON, one object a line.")
	return f
}

// run does a command in a shell. An output that is closed ends it where it
// prints: "| head" is no failure.
func (f *shellFlags) run(e *environment, do func(context.Context, *shell.Shell) error) error {
	api, err := f.client(e.environ)
	if err != nil {
		return err
	}
	defer api.Close()
	signal.Ignore(syscall.SIGPIPE) // which would end the program where writing fails
	columns := terminalColumns(e)
	s := &shell.Shell{
		API: api, Out: e.stdout, Notes: e.stderr, Width: columns, JSON: f.json, Now: time.Now,
		Color: columns > 0 && env.ToMap(e.environ)["NO_COLOR"] == "" && env.ToMap(e.environ)["TERM"] != "dumb",
	}
	err = do(e.ctx, s)
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return shell.Explain(err)
}

// client returns a client of the bridge that the flags or the environment name.
func (f *shellFlags) client(environ []string) (*client.Client, error) {
	if f.tokenFile != "" {
		environ = append(slices.Clone(environ), "BRIDGE_TOKEN=", "BRIDGE_TOKEN_FILE="+f.tokenFile)
	}
	base := cmp.Or(f.address, env.ToMap(environ)["BRIDGE_URL"])
	if base == "" {
		return newClient(environ)
	}
	c, err := config.Part(environ, (*config.Config).CheckToken, func(_ *config.Config, faults *config.Faults) {
		if !isWebAddress(base) {
			*faults = append(*faults, "BRIDGE_URL, or --address, must be an http:// or https:// address, such as https://bridge.example.com")
		}
	})
	if err != nil {
		return nil, err
	}
	return client.New(base, c.Token), nil
}

// terminalColumns returns how wide the terminal is that the output goes to, 0 for
// none.
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

const chatHelp = "The chat: a JID, a phone number, its exact name, or an @username."

// chatsCommand lists chats.
func chatsCommand() *command {
	c := newCommand("chats", "List chats.", argument{"text", "A part of the name, or of the JID.", true})
	f := addShellFlags(c)
	var q shell.Chats
	kind := chatType(c, "Only groups, or only chats with people: group, individual.")
	c.flags.BoolVar(&q.Unread, "unread", false, "Only chats with something unread.")
	c.flags.IntVarP(&q.Limit, "limit", "n", 50, "How many at most; 0 is all.")
	c.run = func(e *environment, args []string) error {
		q.Q, q.Type = strings.Join(args, ""), bridge.ChatType(kind.value)
		return f.run(e, func(ctx context.Context, s *shell.Shell) error { return s.Chats(ctx, q) })
	}
	return c
}

// chatType adds the flag for kinds of chats.
func chatType(c *command, help string) *choiceFlag {
	kind := &choiceFlag{"all", []string{"all", "group", "individual"}}
	c.flags.Var(kind, "type", help)
	return kind
}

// addPastFlags adds what chooses messages by time and number.
func addPastFlags(c *command, since, before *string, ids *bool) {
	c.flags.StringVar(since, "since", "", "`TIME` From then on: how long ago (90m, 3d), or a moment (2026-11-21, '2026-11-21 08:15').")
	c.flags.StringVar(before, "before", "", "`TIME` Before then.")
	c.flags.BoolVar(ids, "ids", false, "With the ids of messages, and JIDs.")
}

// messagesCommand lists messages.
func messagesCommand() *command {
	c := newCommand("messages", "List the newest messages of a chat.", argument{name: "chat", help: chatHelp})
	f := addShellFlags(c)
	var q shell.Messages
	addPastFlags(c, &q.Since, &q.Before, &q.IDs)
	c.flags.IntVarP(&q.Limit, "limit", "n", 20, "How many at most, the newest ones; 0 is all.")
	c.run = func(e *environment, args []string) error {
		q.Chat = args[0]
		return f.run(e, func(ctx context.Context, s *shell.Shell) error { return s.Messages(ctx, q) })
	}
	return c
}

// searchCommand searches for messages.
func searchCommand() *command {
	c := newCommand("search", "Search for messages.", argument{name: "text", help: "What to search for."})
	f := addShellFlags(c)
	var q shell.Search
	addPastFlags(c, &q.Since, &q.Before, &q.IDs)
	c.flags.StringVar(&q.Chat, "chat", "", "Only in this chat: a JID, a phone number, its exact name, or an @username.")
	kind := chatType(c, "Only in groups, or only in chats with people: group, individual.")
	c.flags.IntVarP(&q.Limit, "limit", "n", 20, "How many at most; 0 is all.")
	c.run = func(e *environment, args []string) error {
		q.Q, q.Type = args[0], bridge.ChatType(kind.value)
		return f.run(e, func(ctx context.Context, s *shell.Shell) error { return s.Search(ctx, q) })
	}
	return c
}

// sendCommand sends a message.
func sendCommand() *command {
	c := newCommand("send", "Send a text or a file, once.",
		argument{name: "to", help: "Where to: a JID, a phone number, a chat's exact name, or an @username."},
		argument{"text", "The text, or the file's caption; - or nothing reads it from standard input.", true})
	f := addShellFlags(c)
	var q shell.Send
	c.flags.StringVarP(&q.File, "file", "f", "", "`FILE` A file to send.")
	c.flags.StringVar(&q.ReplyTo, "reply-to", "", "`ID` The id of the message of that chat to answer.")
	c.flags.StringVar(&q.Key, "key", "", "`KEY` The Idempotency-Key: the same command with the same key sends once. One is made up by default.")
	c.flags.DurationVar(&q.Wait, "wait", 0, "`DURATION` Wait so long for a phone to take it, as in 30s, and fail if none does.")
	c.run = func(e *environment, args []string) (err error) {
		q.To = args[0]
		switch {
		case len(args) == 2 && args[1] != "-":
			q.Text = args[1]
		case len(args) == 1 && q.File != "":
		case isTerminal(os.Stdin):
			return shell.Usage("there is no text to send: give it behind the chat, or pipe it in")
		default:
			if q.Text, err = shell.ReadText(os.Stdin); err != nil {
				return err
			}
		}
		return f.run(e, func(ctx context.Context, s *shell.Shell) error { return s.Send(ctx, q) })
	}
	return c
}

// tailCommand follows the log of events, until it is interrupted, or until its
// output is read no more.
func tailCommand() *command {
	c := newCommand("tail", "Print messages and other events as they come.")
	f := addShellFlags(c)
	var q shell.Tail
	c.flags.StringVar(&q.Chat, "chat", "", "Only of this chat: a JID, a phone number, its exact name, or an @username.")
	c.flags.StringSliceVar(&q.Types, "types", []string{"message.created"}, "`TYPE,…` Types of events; message.created by default, all for every type.")
	c.flags.StringVar(&q.Since, "since", "", "`TIME` From then on: how long ago (90m, 3d), a moment, or behind an event's number; 0 is all that is kept. Now by default.")
	c.run = func(e *environment, _ []string) error {
		if len(q.Types) == 1 && q.Types[0] == "all" {
			q.Types = nil
		}
		return f.run(e, func(ctx context.Context, s *shell.Shell) error {
			read, unread := context.WithCancel(ctx)
			defer unread()
			defer watchOutput(read, e.stdout, unread)()
			err := s.Tail(read, q)
			if read.Err() != nil && ctx.Err() == nil {
				return nil
			}
			return err
		})
	}
	return c
}
