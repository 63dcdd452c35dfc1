package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/caarlos0/env/v11"
	"golang.org/x/term"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/shell"
)

// shellFlags are what the commands for people have in common.
type shellFlags struct {
	Address   string `placeholder:"URL" help:"The bridge's address, such as https://bridge.example.com; BRIDGE_URL and LISTEN_ADDR name it otherwise."`
	TokenFile string `placeholder:"FILE" help:"A file with the token; BRIDGE_TOKEN and BRIDGE_TOKEN_FILE hold it otherwise."`
	JSON      bool   `name:"json" help:"Print JSON, one object a line."`
}

// run does a command in a shell. An output that is closed ends it where it
// prints: "| head" is no failure.
func (f shellFlags) run(e *environment, do func(context.Context, *shell.Shell) error) error {
	api, err := f.client(e.environ)
	if err != nil {
		return err
	}
	defer api.Close()
	signal.Ignore(syscall.SIGPIPE) // which would end the program where writing fails
	columns := terminalColumns(e)
	s := &shell.Shell{
		API: api, Out: e.stdout, Notes: e.stderr, Width: columns, JSON: f.JSON, Now: time.Now,
		Color: columns > 0 && env.ToMap(e.environ)["NO_COLOR"] == "" && env.ToMap(e.environ)["TERM"] != "dumb",
	}
	err = do(e.ctx, s)
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return shell.Explain(err)
}

// client returns a client of the bridge that the flags or the environment name.
func (f shellFlags) client(environ []string) (*client.Client, error) {
	c, _ := parseConfig(environ)
	var faults configFaults
	if f.TokenFile != "" {
		c.Token, c.TokenFile = "", f.TokenFile
	}
	c.checkToken(&faults)
	base := f.Address
	if base == "" {
		base = env.ToMap(environ)["BRIDGE_URL"]
	}
	if base == "" {
		if c.checkListenAddr(&faults); len(faults) == 0 {
			base = "http://" + dialable(c.ListenAddr)
		}
	} else if !isWebAddress(base) {
		faults.add("BRIDGE_URL, or --address, must be an http:// or https:// address, such as https://bridge.example.com")
	}
	if len(faults) > 0 {
		return nil, faults
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

// chatsCommand lists chats.
type chatsCommand struct {
	shellFlags
	Q      string `arg:"" optional:"" name:"text" help:"A part of the name, or of the JID."`
	Type   string `enum:"all,group,individual" default:"all" help:"Only groups, or only chats with people: group, individual."`
	Unread bool   `help:"Only chats with something unread."`
	Limit  int    `short:"n" default:"50" help:"How many at most; 0 is all."`
}

// Run prints them.
func (k chatsCommand) Run(e *environment) error {
	return k.run(e, func(ctx context.Context, s *shell.Shell) error {
		return s.Chats(ctx, shell.Chats{Q: k.Q, Type: bridge.ChatType(k.Type), Unread: k.Unread, Limit: k.Limit})
	})
}

// pastFlags choose messages by time and number.
type pastFlags struct {
	Since  string `placeholder:"TIME" help:"From then on: how long ago (90m, 3d), or a moment (2026-11-21, '2026-11-21 08:15')."`
	Before string `placeholder:"TIME" help:"Before then."`
	IDs    bool   `name:"ids" help:"With the ids of messages, and JIDs."`
}

// messagesCommand lists messages of a chat.
type messagesCommand struct {
	shellFlags
	pastFlags
	Chat  string `arg:"" help:"The chat: a JID, a phone number, its exact name, or an @username."`
	Limit int    `short:"n" default:"20" help:"How many at most, the newest ones; 0 is all."`
}

// Run prints them.
func (k messagesCommand) Run(e *environment) error {
	return k.run(e, func(ctx context.Context, s *shell.Shell) error {
		return s.Messages(ctx, shell.Messages{Chat: k.Chat, Since: k.Since, Before: k.Before, Limit: k.Limit, IDs: k.IDs})
	})
}

// searchCommand searches for messages.
type searchCommand struct {
	shellFlags
	pastFlags
	Q     string `arg:"" name:"text" help:"What to search for."`
	Chat  string `help:"Only in this chat: a JID, a phone number, its exact name, or an @username."`
	Type  string `enum:"all,group,individual" default:"all" help:"Only in groups, or only in chats with people: group, individual."`
	Limit int    `short:"n" default:"20" help:"How many at most; 0 is all."`
}

// Run prints what is found.
func (k searchCommand) Run(e *environment) error {
	return k.run(e, func(ctx context.Context, s *shell.Shell) error {
		return s.Search(ctx, shell.Search{Q: k.Q, Chat: k.Chat, Type: bridge.ChatType(k.Type), Since: k.Since, Before: k.Before, Limit: k.Limit, IDs: k.IDs})
	})
}

// sendCommand sends a message.
type sendCommand struct {
	shellFlags
	To      string        `arg:"" help:"Where to: a JID, a phone number, a chat's exact name, or an @username."`
	Text    *string       `arg:"" optional:"" help:"The text, or the file's caption; - or nothing reads it from standard input."`
	File    string        `short:"f" placeholder:"FILE" help:"A file to send."`
	ReplyTo string        `placeholder:"ID" help:"The id of the message of that chat to answer."`
	Key     string        `placeholder:"KEY" help:"The Idempotency-Key: the same command with the same key sends once. One is made up by default."`
	Wait    time.Duration `placeholder:"DURATION" help:"Wait so long for a phone to take it, as in 30s, and fail if none does."`
}

// Run sends it.
func (k sendCommand) Run(e *environment) error {
	text := ""
	switch {
	case k.Text != nil && *k.Text != "-":
		text = *k.Text
	case k.Text == nil && k.File != "":
	case isTerminal(os.Stdin):
		return shell.Usage("there is no text to send: give it behind the chat, or pipe it in")
	default:
		var err error
		if text, err = shell.ReadText(os.Stdin); err != nil {
			return err
		}
	}
	return k.run(e, func(ctx context.Context, s *shell.Shell) error {
		return s.Send(ctx, shell.Send{To: k.To, Text: text, File: k.File, ReplyTo: k.ReplyTo, Key: k.Key, Wait: k.Wait})
	})
}

// tailCommand follows the log of events.
type tailCommand struct {
	shellFlags
	Chat  string   `help:"Only of this chat: a JID, a phone number, its exact name, or an @username."`
	Types []string `placeholder:"TYPE,…" default:"message.created" help:"Types of events; message.created by default, all for every type."`
	Since string   `placeholder:"TIME" help:"From then on: how long ago (90m, 3d), a moment, or behind an event's number; 0 is all that is kept. Now by default."`
}

// Run prints events until it is interrupted, or nobody reads its output any more.
func (k tailCommand) Run(e *environment) error {
	types := k.Types
	if len(types) == 1 && types[0] == "all" {
		types = nil
	}
	return k.run(e, func(ctx context.Context, s *shell.Shell) error {
		read, unread := context.WithCancel(ctx)
		defer unread()
		defer watchOutput(read, e.stdout, unread)()
		err := s.Tail(read, shell.Tail{Chat: k.Chat, Types: types, Since: k.Since})
		if read.Err() != nil && ctx.Err() == nil {
			return nil
		}
		return err
	})
}
