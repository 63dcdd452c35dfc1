package main

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bridged/internal/bridge"
	"bridged/internal/shell"
)

// addOutgoing adds the flags of all commands that send a message.
func addOutgoing(flags *pflag.FlagSet, to *shell.Outgoing) {
	flags.StringVar(&to.ReplyTo, "reply-to", "", "The `ID` of the message of that chat to answer")
	addKey(flags, &to.Key)
	addSendAt(flags, &to.SendAt)
	addDuration(flags, &to.Wait, "wait", "Wait this `DURATION`, such as 30s, until a phone has received the message, and fail if none has")
}

const toHelp = "\n\n<to> is " + chatNames

func (e *environment) sendCommand() *cobra.Command {
	var q shell.Send
	var isDocument bool
	const help = "Send a text or a file, once." + toHelp + "\n<text> is the text, or the file's caption." + stdinHelp
	c := e.shellCommand("send <to> [<text>]", help, func(ctx context.Context, s *shell.Shell, args []string) (err error) {
		if isDocument && q.As != "" && q.As != shell.As(bridge.MediaDocument) {
			return shell.Usage("--document is the same as --as document: give one of them")
		}
		if isDocument {
			q.As = shell.As(bridge.MediaDocument)
		}
		q.To = args[0]
		if len(args) == 2 || q.File+q.URL == "" {
			if q.Text, err = textIn(args[1:], "there is no text to send: put it after the chat, or pipe it in"); err != nil {
				return err
			}
		}
		return s.Send(ctx, q)
	})
	flags := c.Flags()
	flags.StringVarP(&q.File, "file", "f", "", "A `FILE` to send")
	flags.StringVar(&q.URL, "url", "", "The public `URL` of a file that the bridge fetches and sends; needs --as")
	addChoice(flags, &q.As, "as", "Send the file as this `TYPE`; by default its bytes decide", shell.Forms()...)
	flags.BoolVar(&isDocument, "document", false, "Send the file as a document, unchanged: the same as --as document")
	flags.BoolVar(&q.Convert, "convert", false, "Convert a video into one that the apps play")
	flags.BoolVar(&q.GIF, "gif", false, "Let the apps repeat a video without its sound. Animated GIFs become such videos without this")
	flags.BoolVar(&q.ViewOnce, "view-once", false, "Let the recipients see a picture, a video or a voice note once")
	flags.StringVar(&q.FileName, "file-name", "", "The `NAME` of a document for its reader; its own by default")
	flags.StringArrayVar(&q.Mentions, "mention", nil, "Notify this `PERSON` of the chat. May be repeated")
	flags.BoolVar(&q.MentionAll, "mention-all", false, "Notify all members of a group")
	addSwitch(flags, &q.LinkPreview, "link-preview", "Show a preview of the first link in the text, or none with =false; LINK_PREVIEWS decides by default")
	addOutgoing(flags, &q.Outgoing)
	return example(c, `bridged send +15557654321 "The report is ready."`, `bridged send +15557654321 "Here it is." --file report.pdf`,
		"bridged send +15557654321 --url https://example.com/photo.jpg --as image")
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
	flags.StringVar(key, "key", "", "The Idempotency-`KEY`: the same command with the same key is done once. By default every command has its own")
}

func (e *environment) albumCommand() *cobra.Command {
	var a shell.Album
	const help = "Send pictures and videos as an album, once." + toHelp + "\n<file> is a file, or the public URL of one. Names tell videos from pictures."
	c := e.shellCommand("album <to> <file>...", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		a.To, a.Files = args[0], args[1:]
		return s.SendAlbum(ctx, a)
	})
	flags := c.Flags()
	flags.StringVar(&a.Caption, "caption", "", "The `TEXT` under the first picture or video")
	flags.BoolVar(&a.Convert, "convert", false, "Convert videos into ones that the apps play")
	flags.StringVar(&a.ReplyTo, "reply-to", "", "The `ID` of the message of that chat to answer")
	addSendAt(flags, &a.SendAt)
	addKey(flags, &a.Key)
	return example(c, "bridged album +15557654321 https://example.com/front.jpg https://example.com/back.jpg", "bridged album +15557654321 front.jpg back.jpg running.mp4 --caption Engine")
}

func (e *environment) placeCommand() *cobra.Command {
	var p shell.Place
	c := e.shellCommand("place <to>", "Send a location."+toHelp, func(ctx context.Context, s *shell.Shell, args []string) error {
		p.To = args[0]
		return s.Place(ctx, p)
	})
	c.Flags().StringVar(&p.At, "at", "", "The `PLACE`: latitude and longitude in degrees, or a geo: address")
	required(c, "at")
	c.Flags().StringVar(&p.Name, "name", "", "The `NAME` of the place")
	c.Flags().StringVar(&p.Address, "street", "", "The `ADDRESS` of the place")
	addOutgoing(c.Flags(), &p.Outgoing)
	return example(c, `bridged place +15557654321 --at 52.5163,13.3777 --name "Brandenburger Tor"`)
}

func (e *environment) pollCommand() *cobra.Command {
	var p shell.Poll
	const help = "Send a poll." + toHelp + "\nThere are two to twelve options."
	c := e.shellCommand("poll <to> <question> <option> <option>...", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		p.To, p.Question, p.Options = args[0], args[1], args[2:]
		return s.Poll(ctx, p)
	})
	c.Flags().IntVar(&p.Choices, "choices", 1, "How many options one person may choose; 0 is any `NUMBER`")
	addOutgoing(c.Flags(), &p.Outgoing)
	return example(c, `bridged poll 120363000000000001@g.us "When do we meet?" Friday Saturday Sunday --choices 2`)
}

func (e *environment) contactCommand() *cobra.Command {
	var q shell.Contact
	const help = "Send the cards of people." + toHelp + "\n<person> is whom the card is about: " + chatNames
	c := e.shellCommand("contact <to> [<person>...]", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		q.To, q.People = args[0], args[1:]
		return s.Contact(ctx, q)
	})
	flags := c.Flags()
	flags.StringVar(&q.VCards, "vcard", "", "A `FILE` with cards to send, as address books export them")
	flags.StringVar(&q.Name, "name", "", "The `NAME` on the card")
	flags.StringVar(&q.Email, "email", "", "The e-mail `ADDRESS` on the card")
	flags.StringVar(&q.Organization, "organization", "", "The `ORGANIZATION` on the card")
	flags.StringVar(&q.Title, "title", "", "The person's `TITLE` on the card")
	addOutgoing(flags, &q.Outgoing)
	return example(c, "bridged contact +15557654321 +447700900123 --name Charles")
}

// changeCommand returns a command that does something with a message, once. usage, help and value are for
// the argument after the message.
func (e *environment) changeCommand(usage, summary, help string, do func(ctx context.Context, s *shell.Shell, on shell.Target, rest []string) error, value string) *cobra.Command {
	name, argument, _ := strings.Cut(usage, " ")
	return example(e.keyedCommand(name+" <chat> <message> "+argument, summary+messageHelp+"\n"+help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		return do(ctx, s, shell.Target{Chat: args[0], Message: args[1], Key: key}, args[2:])
	}), "bridged "+name+" +15557654321 3EB0A1B2C3D4E5F60718 "+value)
}

func (e *environment) reactCommand() *cobra.Command {
	return e.changeCommand("react <emoji>", "React to a message.", "<emoji> is one emoji; '' removes the reaction.",
		func(ctx context.Context, s *shell.Shell, on shell.Target, rest []string) error {
			return s.React(ctx, on, rest[0])
		}, "👍")
}

func (e *environment) forwardCommand() *cobra.Command {
	var at string
	c := e.changeCommand("forward <to>", "Forward a message.", "<to> is the chat to forward it to.",
		func(ctx context.Context, s *shell.Shell, of shell.Target, rest []string) error {
			return s.Forward(ctx, of, rest[0], at)
		}, "+447700900123")
	addSendAt(c.Flags(), &at)
	return c
}

func (e *environment) editCommand() *cobra.Command {
	return e.changeCommand("edit [<text>]", "Edit one of the account's messages.", "<text> is the new text or caption."+stdinHelp,
		func(ctx context.Context, s *shell.Shell, of shell.Target, rest []string) error {
			text, err := textIn(rest, "there is no new text: put it after the message, or pipe it in")
			if err != nil {
				return err
			}
			return s.Edit(ctx, of, text)
		}, `"See you on Monday"`)
}

func (e *environment) deleteCommand() *cobra.Command {
	var forMe bool
	const help = "Delete a message for everyone." + messageHelp + "\nIt is one of the account's, or any of a group that the account administers."
	c := e.keyedCommand("delete <chat> <message>", help, func(ctx context.Context, s *shell.Shell, args []string, key string) error {
		what := shell.Target{Chat: args[0], Message: args[1], Key: key}
		if forMe {
			return s.DeleteForMe(ctx, what)
		}
		return s.Delete(ctx, what)
	})
	c.Flags().BoolVar(&forMe, "for-me", false, "Delete any message, on the account's own devices only")
	return example(c, "bridged delete +15557654321 3EB0A1B2C3D4E5F60718", "bridged delete +15557654321 3EB0A1B2C3D4E5F60718 --for-me")
}

func (e *environment) typingCommand() *cobra.Command {
	state := bridge.TypingText
	const help = "Show the account as typing in a chat for 25 seconds, or until it sends a message there." + chatHelp
	c := e.shellCommand("typing <chat>", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.ShowTyping(ctx, args[0], state)
	})
	addChoice(c.Flags(), &state, "state", "The `STATE` to show", bridge.TypingText, bridge.TypingVoice, bridge.TypingPaused)
	return example(c, "bridged typing +15557654321")
}
