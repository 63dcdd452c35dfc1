package wa

import (
	"context"
	"errors"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// uploadBudget is how long the file of a send may take beside it.
const uploadBudget = 15 * time.Minute

// Send composes a message, stores it as pending with the id it will have,
// and hands it to the network.
//
// Errors: [bridge.CodeNotConnected] while the socket is not open,
// [bridge.CodeNotOnNetwork], [bridge.CodeNotInGroup], [bridge.CodeRateLimited],
// [bridge.CodeReachoutRestricted], [bridge.CodeNewChatsLimited],
// [bridge.CodeSendRefused] and [bridge.CodeMediaGone] when the message did not and will not go out,
// [bridge.CodeSendTimeout] when nobody knows yet: then it stays pending.
//
// A caller that goes away must not end ctx, because a message that has begun
// to leave cannot be called back. Its end is the end of the program.
func (m *Manager) Send(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
	l, err := m.open()
	if err != nil {
		return bridge.Sent{}, err
	}
	began, upload := time.Now(), time.Duration(0)
	if _, isFile := out.Content.(bridge.File); isFile {
		upload = uploadBudget
	}
	ctx, cancel := m.within(ctx, upload+m.waits.most())
	defer cancel()
	composing, cancel := context.WithTimeout(ctx, upload+m.waits.budget)
	defer cancel()
	if err := l.refuseNewChat(composing, out.To); err != nil {
		return bridge.Sent{}, err
	}
	if err := l.mayBegin(composing, out.To); err != nil {
		return bridge.Sent{}, err
	}
	to, err := l.destination(composing, out.To)
	if err != nil {
		return bridge.Sent{}, err
	}
	chat := m.store.Canonical(convert.JID(to))
	if isChange(out.Content) {
		return m.change(ctx, l, to, chat, out)
	}
	msg, row, err := l.draft(composing, chat, out)
	if err != nil {
		return bridge.Sent{}, err
	}
	facts := l.withNewChat(composing, chat, withKey(out.Key, bridge.Sent{ID: row.ID, Chat: chat}, row)...)
	if err := m.store.Save(composing, facts...); err != nil {
		return bridge.Sent{}, err
	}
	if upload > 0 { // what it did not need is not for waiting
		began = time.Now()
	}
	return m.transmit(ctx, m.newDelivery(ctx, to, row, msg, began), row, out.Key != nil)
}

// Resend hands a stored own message to the network once more, with the same
// id, which the apps show once.
func (m *Manager) Resend(ctx context.Context, row bridge.Message) (bridge.Sent, error) {
	l, err := m.open()
	if err != nil {
		return bridge.Sent{}, err
	}
	if len(row.Raw) == 0 {
		return bridge.Sent{}, bridge.Invalid("the message was deleted in the meantime: it is not sent again")
	}
	msg := new(waE2E.Message)
	if err := proto.Unmarshal(row.Raw, msg); err != nil {
		return bridge.Sent{}, err
	}
	began := time.Now()
	ctx, cancel := m.within(ctx, m.waits.most())
	defer cancel()
	asking, cancel := context.WithTimeout(ctx, m.waits.budget)
	defer cancel()
	if err := l.refuseNewChat(asking, row.Chat); err != nil {
		return bridge.Sent{}, err
	}
	if err := m.store.Save(asking, l.withNewChat(asking, row.Chat)...); err != nil {
		return bridge.Sent{}, err
	}
	to, err := l.destination(asking, row.Chat)
	if err != nil {
		return bridge.Sent{}, err
	}
	sent, err := m.transmit(ctx, m.newDelivery(ctx, to, row, msg, began), row, true)
	if errors.Is(err, errPanicked) {
		// It failed so the first time, and the same call would fail so always.
		return sent, bridge.Invalid("the message cannot be put into the network's form and did not leave: " +
			"change it, or forward another, with a new Idempotency-Key").Because(err)
	}
	return sent, err
}

// newDelivery returns the delivery of a stored message.
func (m *Manager) newDelivery(ctx context.Context, to types.JID, row bridge.Message, msg *waE2E.Message, began time.Time) *delivery {
	return &delivery{to: to, id: row.ID, msg: msg, began: began,
		isOut: func() bool { return m.isOut(ctx, row) }, gone: func() bool { return m.isDeleted(row) }}
}

// within returns the context of one send, which ends after the longest time
// that it may take or with the manager.
func (m *Manager) within(ctx context.Context, longest time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	stop := context.AfterFunc(m.background, cancel)
	return ctx, func() { stop(); cancel() }
}

// isStopping reports whether the program has ended a send, and not its budget.
func isStopping(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// withKey adds the Idempotency-Key, if there is one, to what is stored of a
// send.
func withKey(key *bridge.SendKey, sent bridge.Sent, facts ...bridge.Fact) []bridge.Fact {
	if key == nil {
		return facts
	}
	return append(facts, bridge.SendKey{Key: key.Key, Route: key.Route, BodyHash: key.BodyHash, Chat: sent.Chat, MsgID: sent.ID})
}

// transmit delivers a stored message and stores what became of it.
func (m *Manager) transmit(ctx context.Context, d *delivery, row bridge.Message, hasKey bool) (bridge.Sent, error) {
	at, err := m.deliver(ctx, d)
	var lost *unanswered
	switch {
	case err == nil:
		return m.sent(row, at), nil
	case errors.Is(err, errOut):
		m.traffic.sent.Add(1)
		m.stopTyping(row.Chat)
		return bridge.Sent{ID: row.ID, Chat: row.Chat, Timestamp: row.Timestamp}, nil
	case errors.As(err, &lost):
		return bridge.Sent{}, m.abandoned(ctx, row, lost, hasKey)
	}
	refusal := m.refusalOf(err, row.Chat)
	m.fail(row)
	return bridge.Sent{}, refusal
}

// isOut reports whether a recipient's receipt has come for a message.
func (m *Manager) isOut(ctx context.Context, row bridge.Message) bool {
	now, err := m.store.Message(context.WithoutCancel(ctx), row.Chat, row.ID)
	return err == nil && now.Status != nil && *now.Status != bridge.DeliveryPending && *now.Status != bridge.DeliveryFailed
}

// isDeleted reports whether a message was deleted since it was composed.
func (m *Manager) isDeleted(row bridge.Message) bool {
	now, err := m.store.Message(m.background, row.Chat, row.ID)
	return err != nil || now.DeletedAt != nil
}

// sent notes the network's acknowledgement. The message is out: a store that
// fails now does not make the send fail.
func (m *Manager) sent(row bridge.Message, acknowledged time.Time) bridge.Sent {
	m.traffic.sent.Add(1)
	at := row.Timestamp
	if !acknowledged.IsZero() {
		at = bridge.At(acknowledged)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.background), saveTimeout)
	defer cancel()
	result := bridge.SendResult{Chat: row.Chat, ID: row.ID, Status: bridge.DeliverySent, Timestamp: at}
	if err := m.store.Save(ctx, result); err != nil {
		m.log.Error().Err(err).Str("msg_id", row.ID).Msg("message sent, but its status was not stored")
	}
	m.log.Info().Str("chat", row.Chat.Redacted()).Str("msg_id", row.ID).Str("type", row.MessageType).Msg("message sent")
	m.stopTyping(row.Chat)
	return bridge.Sent{ID: row.ID, Chat: row.Chat, Timestamp: at}
}

// fail stores that a message did not leave.
func (m *Manager) fail(row bridge.Message) {
	m.traffic.failed.Add(1)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.background), saveTimeout)
	defer cancel()
	if err := m.store.Save(ctx, bridge.SendResult{Chat: row.Chat, ID: row.ID, Status: bridge.DeliveryFailed}); err != nil {
		m.log.Error().Err(err).Str("msg_id", row.ID).Msg("status of a send not stored")
	}
}

// abandoned ends a send without an answer of the network. What never left is
// failed. What may have left stays pending: its key, or a receipt, will tell.
func (m *Manager) abandoned(ctx context.Context, row bridge.Message, lost *unanswered, hasKey bool) error {
	stopping := isStopping(ctx)
	if !lost.left || stopping && !hasKey {
		m.fail(row)
	}
	switch {
	case stopping:
		return shuttingDown(lost.cause)
	case !lost.left:
		return bridge.NotConnected("the connection was lost before the message left: try again").Because(lost.cause)
	}
	return bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm the message in time; it may arrive all the same: "+
		"repeat the request with the same Idempotency-Key, or look at the message's status").Because(lost.cause)
}

func shuttingDown(cause error) error {
	return bridge.NotConnected("bridged is shutting down; the message was not confirmed").Because(cause)
}
