package shell

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Target is a message to act on.
type Target struct {
	Chat    string
	Message string // its id
	Key     string // random if empty
}

// React sets the account's reaction on a message; an empty emoji removes it.
func (s *Shell) React(ctx context.Context, on Target, emoji string) error {
	did := "Reacted in"
	if emoji == "" {
		did = "Removed the reaction in"
	}
	return s.act(ctx, on, did, func(ctx context.Context, chat bridge.JID, message, key string) (client.Sent, error) {
		return s.API.Send(ctx, client.Reaction{Chat: chat, MsgID: message, Emoji: emoji}, key)
	})
}

// Forward sends a message on to another chat, at a time unless that is empty.
func (s *Shell) Forward(ctx context.Context, of Target, to, sendAt string) error {
	at, err := s.future("--send-at", sendAt)
	if err != nil {
		return err
	}
	chat, err := s.find(ctx, to)
	if err != nil {
		return err
	}
	return s.act(ctx, of, "Forwarded to", func(ctx context.Context, from bridge.JID, message, key string) (client.Sent, error) {
		return s.API.Send(ctx, Outgoing{at: at}.later(client.Forward{SourceChat: from, SourceMsgID: message, To: chat}), key)
	})
}

// Edit replaces the text of an own message, or the caption of its file.
func (s *Shell) Edit(ctx context.Context, of Target, text string) error {
	if strings.TrimSpace(text) == "" {
		return Usage("there is no new text")
	}
	return s.act(ctx, of, "Edited in", func(ctx context.Context, chat bridge.JID, message, key string) (client.Sent, error) {
		return s.API.Edit(ctx, chat, message, text, nil, key)
	})
}

// Delete deletes a message for everyone.
func (s *Shell) Delete(ctx context.Context, what Target) error {
	return s.act(ctx, what, "Deleted for everyone in", s.API.Delete)
}

// DeleteForMe deletes a message on the account's devices only.
func (s *Shell) DeleteForMe(ctx context.Context, what Target) error {
	return s.act(ctx, what, "Deleted for the account in", s.API.DeleteForMe)
}

// PinMessage pins a message for everybody, for a week if duration is empty.
func (s *Shell) PinMessage(ctx context.Context, what Target, duration string) error {
	return s.act(ctx, what, "Pinned in", func(ctx context.Context, chat bridge.JID, message, key string) (client.Sent, error) {
		return s.API.Pin(ctx, chat, message, cmp.Or(duration, "7d"), key)
	})
}

// UnpinMessage unpins a message for everybody.
func (s *Shell) UnpinMessage(ctx context.Context, what Target) error {
	return s.act(ctx, what, "Unpinned in", s.API.Unpin)
}

// Star stars a message on the account's devices.
func (s *Shell) Star(ctx context.Context, what Target) error {
	return s.act(ctx, what, "Starred in", s.API.Star)
}

// Unstar removes the star of a message.
func (s *Shell) Unstar(ctx context.Context, what Target) error {
	return s.act(ctx, what, "Removed the star in", s.API.Unstar)
}

// Vote replaces the account's vote in a poll, by the names of the options; none withdraw it.
func (s *Shell) Vote(ctx context.Context, in Target, options []string) error {
	did := "Voted in"
	if len(options) == 0 {
		did = "Withdrew the vote in"
	}
	return s.act(ctx, in, did, func(ctx context.Context, chat bridge.JID, message, key string) (client.Sent, error) {
		return s.API.Vote(ctx, chat, message, options, key)
	})
}

// act does something with a message once, repeats it after lost connections, and prints the id of the answer.
func (s *Shell) act(ctx context.Context, on Target, did string, do func(ctx context.Context, chat bridge.JID, message, key string) (client.Sent, error)) error {
	key, err := keyOr(on.Key)
	if err != nil {
		return err
	}
	chat, err := s.chatOf(ctx, on)
	if err != nil {
		return err
	}
	sent, err := once(ctx, s, key, func(ctx context.Context) (client.Sent, error) { return do(ctx, chat, on.Message, key) })
	if err != nil {
		return err
	}
	return s.printSent(did, sent)
}

// chatOf returns the chat of a message. It fails if the target has no message.
func (s *Shell) chatOf(ctx context.Context, on Target) (bridge.JID, error) {
	if strings.TrimSpace(on.Message) == "" {
		return "", Usage("name a message by its id, which bridged messages CHAT --ids shows")
	}
	return s.find(ctx, on.Chat)
}

// changeOnce makes a change once, repeats it after lost connections, and returns its result and the bridge's
// answer. key is random if it is empty.
func changeOnce[T any](ctx context.Context, s *Shell, key string, do func(api *client.Client, key string) (T, error)) (result T, answer client.Answer, err error) {
	if key, err = keyOr(key); err != nil {
		return result, answer, err
	}
	api := s.API.Answering(&answer)
	result, err = once(ctx, s, key, func(context.Context) (T, error) { return do(api, key) })
	return result, answer, err
}

// makeChange makes a change once and prints did, a sentence that says what was done.
func (s *Shell) makeChange(ctx context.Context, key, did string, do func(api *client.Client, key string) error) error {
	_, answer, err := changeOnce(ctx, s, key, func(api *client.Client, key string) (struct{}, error) { return struct{}{}, do(api, key) })
	if err != nil {
		return err
	}
	return s.printDone(answer, "%s", did)
}

// makeChangeOf finds a chat, a person or a group, and changes it in the same way as [Shell.makeChange]. did has a verb
// for its JID.
func (s *Shell) makeChangeOf(ctx context.Context, find func(context.Context, string) (bridge.JID, error), who, key, did string, do func(api *client.Client, jid bridge.JID, key string) error) error {
	jid, err := find(ctx, who)
	if err != nil {
		return err
	}
	return s.makeChange(ctx, key, fmt.Sprintf(did, jid), func(api *client.Client, key string) error { return do(api, jid, key) })
}

// printDone prints the bridge's answer as JSON, or a sentence about it.
func (s *Shell) printDone(answer client.Answer, format string, args ...any) error {
	if s.JSON {
		return s.printJSON(answer.Body)
	}
	return s.print("%s\n", Printable(fmt.Sprintf(format, args...)+earlier(answer)))
}

// earlier returns a sentence that says that a change had been made before, or "".
func earlier(answer client.Answer) string {
	if answer.Replayed {
		return " An earlier command with the same key had done it."
	}
	return ""
}
