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
	// readTimeout limits MarkRead, receiptTimeout the answers to one page.
	readTimeout    = 60 * time.Second
	receiptTimeout = 10 * time.Second
	// confirmTries is how often a repeatable request is sent.
	confirmTries = 2
)

// MarkRead sends read receipts for the messages up to upTo (all, if it is empty), once for each
// message, and marks the chat as read on the account's other devices. It fails with
// [bridge.CodeNotConnected] and [bridge.CodeSendTimeout]. Confirmed receipts are stored.
func (s *Sender) MarkRead(ctx context.Context, chat bridge.Chat, upTo string) error {
	ctx, cancel := s.Within(ctx, readTimeout)
	defer cancel()
	if err := s.sendUnread(ctx, chat.JID, upTo); err != nil {
		return err
	}
	if last := chat.LastMessage; chat.UnreadCount > 0 && (upTo == "" || last != nil && last.ID == upTo) {
		s.markChat(ctx, chat)
	}
	return nil
}

// sendUnread sends receipts page by page and stores them. Calls run one at a time: confirmations
// are identified by the first message's id, so two calls could take each other's.
func (s *Sender) sendUnread(ctx context.Context, chat bridge.JID, upTo string) error {
	if err := s.reading.Acquire(ctx, 1); errors.Is(err, context.Canceled) {
		return err
	} else if err != nil {
		return bridge.NotConnected("the network has not yet confirmed the receipts of other calls: try again in a moment").Because(err)
	}
	defer s.reading.Release(1)
	for {
		page, err := s.o.Store.Unread(ctx, chat, upTo)
		if err != nil {
			return err
		}
		if err := s.sendRead(ctx, chat, page.Messages); err != nil {
			return err
		}
		if err := s.o.Store.Save(ctx, bridge.ChatRead{Chat: chat, Seq: page.UpTo}); err != nil || !page.More {
			return err
		}
	}
}

// sendRead sends receipts until the network has confirmed all of them.
func (s *Sender) sendRead(ctx context.Context, chat bridge.JID, messages []bridge.UnreadMessage) error {
	if len(messages) == 0 {
		_, err := s.o.Connection()
		return err
	}
	return s.untilConfirmed(ctx, chat, "that the chat was read", "no read receipt is sent twice", func(c *Client) error {
		return c.sendReceipts(ctx, chat, messages)
	})
}

// untilConfirmed repeats a repeatable request until the network has confirmed it.
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

// isUnconfirmed reports whether a request may have been lost with the connection.
func isUnconfirmed(err error) bool {
	again, _ := Uncertain(err)
	return again || bridge.CodeOf(err) == bridge.CodeNotConnected
}

// sendReceipts sends receipts, each for several messages of one author, and waits for the
// answers. It needs the privacy settings, because they decide whether others see receipts.
func (c *Client) sendReceipts(ctx context.Context, chat bridge.JID, messages []bridge.UnreadMessage) error {
	ctx, cancel := context.WithTimeout(ctx, receiptTimeout)
	defer cancel()
	if _, err := c.TryFetchPrivacySettings(ctx, false); err != nil {
		return bridge.NotConnected("bridged cannot read the account's privacy settings, which read receipts depend on: try again in a moment").Because(err)
	}
	to := convert.WireJID(c.wireForm(ctx, chat, chat))
	var answers []<-chan *waBinary.Node
	for _, r := range receiptsOf(messages) {
		answers = append(answers, c.AwaitResponse(r.ids[0]))
		if err := c.MarkRead(ctx, r.ids, time.Now(), to, convert.WireJID(c.wireForm(ctx, chat, r.author))); err != nil {
			return err
		}
	}
	if !c.IsConnected() { // its end was reported already
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

// readReceipt is one receipt, for messages of one author.
type readReceipt struct {
	author bridge.JID
	ids    []types.MessageID
}

// receiptsOf groups messages by author, in the order of arrival.
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

// markChat marks a chat as read in the state that the account's devices share. Some devices only
// use this, and only this removes a mark as unread. An error is only logged.
func (s *Sender) markChat(ctx context.Context, chat bridge.Chat) {
	c, err := s.o.Connection()
	if err == nil {
		err = c.changeState(ctx, chat, bridge.ChatPatch{Unread: new(false)})
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.o.Log.Warn().Str("chat", chat.JID.Redacted()).Str("error", bridge.Redact(err.Error())).Msg("cannot mark a chat as read on the other devices")
	}
}

// WireID returns the id of a stored message on the network for the id that callers use.
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
