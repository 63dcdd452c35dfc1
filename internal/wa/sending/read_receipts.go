package sending

import (
	"cmp"
	"context"
	"errors"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/session"
)

const (
	// maxReceiptIDs limits the messages of one receipt.
	maxReceiptIDs = 256
	// readTimeout bounds the reading of a chat, receiptTimeout the answers to one page.
	readTimeout    = 60 * time.Second
	receiptTimeout = 10 * time.Second
	// confirmTries counts how often what may be repeated is sent.
	confirmTries = 2
)

// MarkRead sends read receipts, each once, and marks the chat on the account's other
// devices, up to the message with an id; an empty one is up to the last. It fails with
// [bridge.CodeNotConnected] and [bridge.CodeSendTimeout]; confirmed receipts are stored.
func (s *Sender) MarkRead(ctx context.Context, chat bridge.Chat, upTo string) error {
	ctx, cancel := s.Within(ctx, readTimeout)
	defer cancel()
	if err := s.tellUnread(ctx, chat.JID, upTo); err != nil {
		return err
	}
	if last := chat.LastMessage; chat.UnreadCount > 0 && (upTo == "" || last != nil && last.ID == upTo) {
		s.markChat(ctx, chat)
	}
	return nil
}

// tellUnread sends receipts page by page and stores that, one call at a time: two would
// take each other's confirmations, which are known by the first message's id.
func (s *Sender) tellUnread(ctx context.Context, chat bridge.JID, upTo string) error {
	if err := s.reading.Acquire(ctx, 1); errors.Is(err, context.Canceled) {
		return err
	} else if err != nil {
		return bridge.NotConnected("the network was too slow to confirm what other calls have read: try again in a moment").Because(err)
	}
	defer s.reading.Release(1)
	for {
		page, err := s.o.Store.Unread(ctx, chat, upTo)
		if err != nil {
			return err
		}
		if err := s.tellRead(ctx, chat, page.Messages); err != nil {
			return err
		}
		if err := s.o.Store.Save(ctx, bridge.ChatRead{Chat: chat, Seq: page.UpTo}); err != nil || !page.More {
			return err
		}
	}
}

// tellRead sends receipts until the network has confirmed them all.
func (s *Sender) tellRead(ctx context.Context, chat bridge.JID, messages []bridge.UnreadMessage) error {
	if len(messages) == 0 {
		_, err := s.o.Connection()
		return err
	}
	return s.untilConfirmed(ctx, chat, "that the chat was read", "no read receipt is sent twice", func(c *Client) error {
		return c.sendReceipts(ctx, chat, messages)
	})
}

// untilConfirmed does something that may be repeated, until the network has confirmed it.
func (s *Sender) untilConfirmed(ctx context.Context, chat bridge.JID, what, safety string, do func(*Client) error) (err error) {
	d := &delivery{began: time.Now()}
	for range confirmTries {
		var c *Client
		if c, err = s.o.Connection(); err == nil {
			err = do(c)
		}
		if err == nil || !isUnconfirmed(err) {
			return err
		}
		s.o.Log.Warn().Str("chat", chat.Redacted()).Str("error", bridge.Redact(err.Error())).Msg("the network did not confirm " + what)
		if s.waitOpen(ctx, d) != nil {
			break
		}
	}
	if bridge.CodeOf(err) == bridge.CodeNotConnected {
		return err
	}
	if isStopping(ctx) {
		return bridge.NotConnected("bridged is shutting down, and the network did not confirm %s: repeat the request: %s", what, safety).Because(err)
	}
	return bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm %s: repeat the request: %s", what, safety).Because(err)
}

// isUnconfirmed reports whether something may have been lost with the connection.
func isUnconfirmed(err error) bool {
	again, _ := Uncertain(err)
	return again || bridge.CodeOf(err) == bridge.CodeNotConnected
}

// sendReceipts sends receipts, each for several messages of one author, and waits for the
// answers. It needs the privacy settings, which say whether others see receipts.
func (c *Client) sendReceipts(ctx context.Context, chat bridge.JID, messages []bridge.UnreadMessage) error {
	ctx, cancel := context.WithTimeout(ctx, receiptTimeout)
	defer cancel()
	if _, err := c.TryFetchPrivacySettings(ctx, false); err != nil {
		return bridge.NotConnected("the account's privacy settings, which read receipts depend on, cannot be read: try again in a moment").Because(err)
	}
	to := convert.WireJID(c.wireForm(ctx, chat, chat))
	var answers []<-chan *waBinary.Node
	for _, r := range receiptsOf(messages) {
		answers = append(answers, c.AwaitResponse(r.ids[0]))
		if err := c.MarkRead(ctx, r.ids, time.Now(), to, convert.WireJID(c.wireForm(ctx, chat, r.author))); err != nil {
			return err
		}
	}
	if !c.IsConnected() { // its end was announced already
		return session.LostAnswer(nil)
	}
	for _, answer := range answers {
		select {
		case node, ok := <-answer:
			if !ok || node.Tag != "ack" {
				return session.LostAnswer(node)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// readReceipt is one receipt: for messages of one author.
type readReceipt struct {
	author bridge.JID
	ids    []types.MessageID
}

// receiptsOf gathers messages by their author, in the order in which they came.
func receiptsOf(messages []bridge.UnreadMessage) (receipts []*readReceipt) {
	open := make(map[bridge.JID]*readReceipt)
	for _, m := range messages {
		r := open[m.SenderJID]
		if r == nil || len(r.ids) == maxReceiptIDs {
			r = &readReceipt{author: m.SenderJID}
			open[m.SenderJID], receipts = r, append(receipts, r)
		}
		r.ids = append(r.ids, cmp.Or(m.WireID, m.ID))
	}
	return receipts
}

// markChat marks a chat as read in the state that the account's devices share: some go by
// this alone, and nothing else takes back a mark as unread. Its failure is only logged.
func (s *Sender) markChat(ctx context.Context, chat bridge.Chat) {
	c, err := s.o.Connection()
	if err == nil {
		err = c.changeState(ctx, chat, bridge.ChatPatch{Unread: new(false)})
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.o.Log.Warn().Str("chat", chat.JID.Redacted()).Str("error", bridge.Redact(err.Error())).Msg("chat not marked as read on the other devices")
	}
}

// WireID returns the network's id of a stored message by its shown one.
func (s *Sender) WireID(ctx context.Context, chat bridge.JID, id string) string {
	if !convert.IsMadeUpID(id) {
		return id
	}
	stored, err := s.o.Store.Message(ctx, chat, id)
	if err != nil {
		return id
	}
	return convert.OnWire(&stored)
}
