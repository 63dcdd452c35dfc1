package wa

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

const (
	// sendBudget is how long one send may take in all, reconnections included;
	// a file's upload has uploadBudget beside it.
	sendBudget = 60 * time.Second
	// sendAnswer is how long the network may take to acknowledge one try.
	sendAnswer = 10 * time.Second
)

// Send composes a message, stores it as pending with the id it will have,
// and hands it to the network.
//
// Errors: [bridge.CodeNotConnected] while the socket is not open,
// [bridge.CodeNotOnNetwork], [bridge.CodeNotInGroup], [bridge.CodeRateLimited],
// [bridge.CodeReachoutRestricted], [bridge.CodeSendRefused] and
// [bridge.CodeMediaGone] when the message did not and will not go out,
// [bridge.CodeSendTimeout] when nobody knows yet: then it stays pending.
//
// A caller that goes away must not end ctx, because a message that has begun
// to leave cannot be called back. Its end is the end of the program.
func (m *Manager) Send(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
	l, err := m.open()
	if err != nil {
		return bridge.Sent{}, err
	}
	ctx, cancel := m.sendContext(ctx, budgetOf(out.Content))
	defer cancel()
	to, err := m.destination(ctx, l, out.To)
	if err != nil {
		return bridge.Sent{}, err
	}
	chat := m.store.Canonical(toBridge(to))
	if reaction, ok := out.Content.(bridge.Reaction); ok {
		return m.react(ctx, l, to, chat, reaction, out.Key)
	}
	msg, row, err := m.draft(ctx, l, chat, out)
	if err != nil {
		return bridge.Sent{}, err
	}
	facts := []bridge.Fact{row}
	if key := out.Key; key != nil {
		facts = append(facts, bridge.SendKey{Key: key.Key, Route: key.Route, BodyHash: key.BodyHash, Chat: chat, MsgID: row.ID})
	}
	if err := m.store.Save(ctx, facts...); err != nil {
		return bridge.Sent{}, err
	}
	ctx, cancel = m.sendContext(ctx, sendBudget) // what an upload did not need is not for waiting
	defer cancel()
	return m.transmit(ctx, to, row, msg, out.Key != nil)
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
	ctx, cancel := m.sendContext(ctx, sendBudget)
	defer cancel()
	to, err := m.destination(ctx, l, row.Chat)
	if err != nil {
		return bridge.Sent{}, err
	}
	sent, err := m.transmit(ctx, to, row, msg, true)
	if errors.Is(err, errPanicked) {
		// It failed so the first time, and the same call would fail so always.
		return sent, bridge.Invalid("the message cannot be put into the network's form and did not leave: " +
			"change it, or forward another, with a new Idempotency-Key").Because(err)
	}
	return sent, err
}

// sendContext bounds one send by its budget and the manager's end.
func (m *Manager) sendContext(ctx context.Context, budget time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	stop := context.AfterFunc(m.background, cancel)
	return ctx, func() { stop(); cancel() }
}

// ownMessage is the row of a message that is about to leave. Its content is
// the text as the caller sent it, whatever the wire form makes of mentions.
func (m *Manager) ownMessage(msg *waE2E.Message, chat bridge.JID, id string, out bridge.Outgoing) bridge.Message {
	pn, _ := m.own()
	row := describe(msg, source{sender: pn, fromMe: true}, chat, id, bridge.At(time.Now().Truncate(time.Second)))
	pending := bridge.DeliveryPending
	row.Status = &pending
	if user := m.Status().User; user != nil {
		row.PushName = user.PushName
	}
	if text, ok := out.Content.(bridge.Text); ok {
		row.Content = text.Text
	}
	return row
}

// transmit sends until the network answers or the budget is spent. A try
// whose fate is unknown is repeated with the same id, unless a receipt has
// told it in the meantime.
func (m *Manager) transmit(ctx context.Context, to types.JID, row bridge.Message, msg *waE2E.Message, hasKey bool) (bridge.Sent, error) {
	left := false // whether a try may have reached the network
	for {
		resp, err := m.try(ctx, to, row.ID, msg)
		if err == nil {
			return m.sent(row, resp), nil
		}
		again, ambiguous := uncertain(err)
		left = left || ambiguous
		if !again {
			refusal := m.refusalOf(err, row.Chat)
			m.fail(row)
			return bridge.Sent{}, refusal
		}
		m.log.Warn().Str("msg_id", row.ID).Str("error", redact(err.Error())).Msg("send interrupted")
		if left && m.isOut(ctx, row) {
			m.traffic.sent.Add(1)
			return bridge.Sent{ID: row.ID, Chat: row.Chat, Timestamp: row.Timestamp}, nil
		}
		if m.waitOpen(ctx) != nil {
			return bridge.Sent{}, m.abandoned(ctx, row, err, left, hasKey)
		}
	}
}

// isOut says whether a recipient's receipt has come for a message whose
// acknowledgement has not.
func (m *Manager) isOut(ctx context.Context, row bridge.Message) bool {
	now, err := m.store.Message(context.WithoutCancel(ctx), row.Chat, row.ID)
	return err == nil && now.Status != nil && *now.Status != bridge.DeliveryPending && *now.Status != bridge.DeliveryFailed
}

// errPanicked is a send that ended in a panic. The message's row is failed
// then like any other that did not leave; a receipt would prove otherwise.
var errPanicked = errors.New("the send panicked")

// recovered turns a panic of the caller into an error, and logs its place. The
// panic's value stays out of the log unless the runtime made it: it may hold
// content.
func (m *Manager) recovered(doing string, err *error) {
	r := recover()
	if r == nil {
		return
	}
	cause := fmt.Sprintf("%T", r)
	if fault, ok := r.(runtime.Error); ok {
		cause = fault.Error()
	}
	m.log.Error().Str("panic", redact(cause)).Bytes("stack", debug.Stack()).Msg(doing + " a message panicked")
	*err = fmt.Errorf("%w: %s", errPanicked, cause)
}

// try is one call of whatsmeow's SendMessage, under the Signal lock.
func (m *Manager) try(ctx context.Context, to types.JID, id string, msg *waE2E.Message) (resp whatsmeow.SendResponse, err error) {
	defer m.recovered("sending", &err)
	l, err := m.open()
	if err != nil {
		return whatsmeow.SendResponse{}, whatsmeow.ErrNotConnected
	}
	if !l.loggedIn() { // the status may be behind: do not encrypt for nothing
		return whatsmeow.SendResponse{}, whatsmeow.ErrNotConnected
	}
	holding, end := l.lock.forSend(ctx)
	defer end()
	if m.beforeTry != nil {
		m.beforeTry()
	}
	resp, err = l.cli.SendMessage(holding, to, proto.Clone(msg).(*waE2E.Message), whatsmeow.SendRequestExtra{ID: id, Timeout: sendAnswer})
	switch {
	case err == nil:
		err = l.reached(ctx, to)
	case errors.Is(context.Cause(holding), errHeldTooLong):
		err = errHeldTooLong
	case !mayHaveLeft(holding):
		err = fmt.Errorf("%w: %w", errNothingLeft, err)
	}
	return resp, err
}

// errNothingLeft marks the failure of a try before its message was encrypted.
var errNothingLeft = errors.New("nothing was sent")

// errNoKeys is a message that the network accepted, but with nothing in it for
// its recipient.
var errNoKeys = errors.New("the message was not encrypted for the recipient's phone")

// reached makes sure that a message between two was encrypted for the
// recipient's phone. whatsmeow leaves out devices whose keys it could not get
// and says so in its log alone. In groups such devices ask for the message by
// themselves.
func (l *link) reached(ctx context.Context, to types.JID) error {
	phone := to
	if to.Server == types.DefaultUserServer {
		lid, err := l.cli.Store.LIDs.GetLIDForPN(ctx, to)
		if err != nil {
			return nil // the message is out: a store that fails now changes nothing
		}
		phone = lid
	}
	if phone.Server != types.HiddenUserServer {
		return nil
	}
	if known, err := l.cli.Store.ContainsSession(ctx, phone.SignalAddress()); err == nil && !known {
		return errNoKeys
	}
	return nil
}

// sent notes the network's acknowledgement. The message is out: a store that
// fails now does not make the send fail.
func (m *Manager) sent(row bridge.Message, resp whatsmeow.SendResponse) bridge.Sent {
	m.traffic.sent.Add(1)
	at := row.Timestamp
	if !resp.Timestamp.IsZero() {
		at = bridge.At(resp.Timestamp)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.background), saveTimeout)
	defer cancel()
	result := bridge.SendResult{Chat: row.Chat, ID: row.ID, Status: bridge.DeliverySent, Timestamp: at}
	if err := m.store.Save(ctx, result); err != nil {
		m.log.Error().Err(err).Str("msg_id", row.ID).Msg("message sent, but its status was not stored")
	}
	m.log.Info().Str("chat", redact(string(row.Chat))).Str("msg_id", row.ID).Str("type", row.MessageType).Msg("message sent")
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
func (m *Manager) abandoned(ctx context.Context, row bridge.Message, cause error, left, hasKey bool) error {
	stopping := isStopping(ctx)
	if !left || stopping && !hasKey {
		m.fail(row)
	}
	switch {
	case stopping:
		return shuttingDown(cause)
	case !left:
		return bridge.NotConnected("the connection was lost before the message left: try again").Because(cause)
	}
	return bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm the message in time; it may arrive all the same: "+
		"repeat the request with the same Idempotency-Key, or look at the message's status").Because(cause)
}

// isStopping tells the end of the program from the end of the budget.
func isStopping(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

func shuttingDown(cause error) error {
	return bridge.NotConnected("bridged is shutting down; the message was not confirmed").Because(cause)
}

// retryPause is the least time between two tries of a send.
const retryPause = 100 * time.Millisecond

// waitOpen waits a moment, and then until the socket is open, or fails when
// ctx ends. The status alone does not tell: it may be behind the socket.
func (m *Manager) waitOpen(ctx context.Context) error {
	ticker := time.NewTicker(retryPause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		if l, err := m.open(); err == nil && l.loggedIn() {
			return ctx.Err()
		}
	}
}

// react sends a reaction. It is no message of its own: what is stored is the
// change of the one it names, after the network accepted it.
func (m *Manager) react(ctx context.Context, l *link, to types.JID, chat bridge.JID, r bridge.Reaction, key *bridge.SendKey) (bridge.Sent, error) {
	sender := m.wireForm(ctx, l, chat, r.Target.SenderJID)
	msg := l.cli.BuildReaction(to, toWA(sender), r.Target.ID, r.Emoji)
	id := l.cli.GenerateMessageID()
	for {
		resp, err := m.try(ctx, to, id, msg)
		if err == nil {
			m.traffic.sent.Add(1)
			sent := bridge.Sent{ID: id, Chat: chat, Timestamp: bridge.At(resp.Timestamp)}
			m.reacted(ctx, sent, r, key)
			return sent, nil
		}
		if again, _ := uncertain(err); !again {
			m.traffic.failed.Add(1)
			return bridge.Sent{}, m.refusalOf(err, chat)
		}
		switch {
		case m.waitOpen(ctx) == nil:
		case isStopping(ctx):
			return bridge.Sent{}, shuttingDown(err)
		default:
			return bridge.Sent{}, bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm the reaction in time: repeat the request, it cannot be doubled").Because(err)
		}
	}
}

// reacted stores a reaction that the network accepted, with the key that a
// repeated call is answered from.
func (m *Manager) reacted(ctx context.Context, sent bridge.Sent, r bridge.Reaction, key *bridge.SendKey) {
	pn, _ := m.own()
	facts := []bridge.Fact{bridge.ReactionChange{Chat: sent.Chat, Target: r.Target.ID, Sender: pn, Emoji: r.Emoji, Timestamp: bridge.At(time.Now())}}
	if key != nil {
		facts = append(facts, bridge.SendKey{Key: key.Key, Route: key.Route, BodyHash: key.BodyHash, Chat: sent.Chat, MsgID: sent.ID, ReactedAt: sent.Timestamp})
	}
	if err := m.store.Save(context.WithoutCancel(ctx), facts...); err != nil {
		m.log.Error().Err(err).Str("msg_id", r.Target.ID).Msg("reaction sent, but not stored")
	}
}

// messageForRetry answers a device that could not decrypt an own message:
// from the store, so also after a restart.
func (m *Manager) messageForRetry(_, to types.JID, id types.MessageID) *waE2E.Message {
	ctx, cancel := context.WithTimeout(m.background, saveTimeout)
	defer cancel()
	row, err := m.store.Message(ctx, toBridge(to), id)
	if err != nil || !row.FromMe || len(row.Raw) == 0 {
		if err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
			m.log.Error().Err(err).Str("msg_id", id).Msg("message for a retry not read")
		}
		return nil
	}
	msg := new(waE2E.Message)
	if err := proto.Unmarshal(row.Raw, msg); err != nil {
		m.log.Error().Err(err).Str("msg_id", id).Msg("stored message unreadable")
		return nil
	}
	return msg
}

// newSecret is the message secret that votes and reporting tokens need.
func newSecret() *waE2E.MessageContextInfo {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails (crypto/rand)
	return &waE2E.MessageContextInfo{MessageSecret: secret}
}

// uncertain says whether a try may be repeated with the same id, and whether
// the message may have left.
func uncertain(err error) (again, ambiguous bool) {
	var disconnected *whatsmeow.DisconnectedError
	left := !errors.Is(err, errNothingLeft)
	switch {
	case errors.Is(err, errHeldTooLong):
		return false, false
	case errors.Is(err, whatsmeow.ErrNotConnected):
		return true, false
	case errors.Is(err, whatsmeow.ErrMessageTimedOut), errors.As(err, &disconnected),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), isSocketError(err):
		return true, left
	}
	return false, false
}
