package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/media"
)

// deliveryTime is how long a send may take besides the fetch of a file: three
// minutes, and fifteen for the upload. The account's own limits are shorter and
// say better what happened.
const deliveryTime = 18 * time.Minute

// draft is a message as a request describes it: checked, but with nothing
// looked up yet.
type draft struct {
	bridge.Outgoing

	quote  reference                                     // the stored message to quote; zero for none
	lookUp func(context.Context) (bridge.Content, error) // returns content that refers to a stored message
	file   *media.Request                                // content to fetch, once the account is open
	about  *changed                                      // set where it changes a stored message
}

// reference names a stored message.
type reference struct {
	chat bridge.JID
	id   string
}

// addressee is the body of a sending route.
type addressee interface {
	// address returns the chat to send to and the message to quote, if any.
	address() (to bridge.JID, quote reference, err error)
}

// send decodes the body of a sending route, lets content check it and complete
// the draft, and sends the draft once.
func send[T addressee](s *server, w http.ResponseWriter, r *http.Request, content func(req T, d *draft) error) error {
	var req T
	body, err := s.bodies.decode(w, r, &req)
	if err != nil {
		return err
	}
	var d draft
	if d.To, d.quote, err = req.address(); err != nil {
		return err
	}
	if err := content(req, &d); err != nil {
		return err
	}
	return s.sendOnce(w, r, body, d)
}

// sendOnce sends a draft, unless its key says that an earlier call did. The
// order is that of all refusals: the key and its replay, which need no socket;
// what the message refers to; the socket; the send. The account stores the
// message's id and the key before anything leaves, so that a repeated call finds
// them.
func (s *server) sendOnce(w http.ResponseWriter, r *http.Request, body []byte, d draft) error {
	key, err := s.sendKey(r, body)
	if err != nil {
		return err
	}
	return s.sendUnder(w, r, key, d)
}

// sendUnder does what sendOnce does, under a key that is found already; nil is
// none.
func (s *server) sendUnder(w http.ResponseWriter, r *http.Request, key *bridge.SendKey, d draft) error {
	if err := s.see(r.Context(), d.To); err != nil {
		return err
	}
	if key != nil {
		if err := s.keys.claim(*key); err != nil {
			return err
		}
		defer s.keys.release(*key)
		earlier, found, err := s.earlier(r.Context(), *key)
		switch {
		case err != nil:
			return err
		case found && d.about != nil && earlier.TakenAt.IsZero():
			d.about.again(key, earlier)
		case found && d.about != nil:
			return s.replay(w, r, d.about.answer(bridge.Sent{ID: earlier.MsgID, Chat: earlier.Chat, Timestamp: earlier.TakenAt}))
		case found:
			return s.repeat(w, r, earlier)
		}
	}
	if err := s.compose(r.Context(), &d); err != nil {
		return err
	}
	if err := s.account.Ready(); err != nil {
		return err
	}
	d.Key = key
	return s.finish(w, r, remedyFor(r, d.about), func(ctx context.Context) (bridge.Sent, error) {
		sent, err := s.deliver(ctx, r, d)
		return d.about.answer(sent), err
	})
}

// compose looks up the stored messages that a draft refers to.
func (s *server) compose(ctx context.Context, d *draft) (err error) {
	if d.lookUp != nil {
		if d.Content, err = d.lookUp(ctx); err != nil {
			return err
		}
	}
	if d.quote == (reference{}) {
		return nil
	}
	quoted, err := s.message(ctx, d.quote.chat, d.quote.id)
	if err != nil {
		return err
	}
	if quoted.DeletedAt != nil {
		return bridge.Invalid("the quoted message was deleted and cannot be quoted")
	}
	d.Quote = &quoted
	return nil
}

// deliver fetches the file of a draft, if it has one, and sends it.
func (s *server) deliver(ctx context.Context, r *http.Request, d draft) (bridge.Sent, error) {
	if d.file != nil {
		file, cleanup, err := s.preparer.Prepare(ctx, *d.file)
		defer cleanup()
		if err != nil {
			return bridge.Sent{}, err
		}
		if err := endOfToken(r); err != nil { // the fetch took its time
			return bridge.Sent{}, err
		}
		d.Content = file
	}
	return s.account.Send(ctx, d.Outgoing)
}

// finish runs a send in a context of its own and answers what became of it, with
// the remedy where nobody knows.
func (s *server) finish(w http.ResponseWriter, r *http.Request, remedy string, send func(context.Context) (bridge.Sent, error)) error {
	sent, err := s.run(r, remedy, send)
	if err != nil {
		return err
	}
	return s.answerSent(w, r, sent)
}

// run runs a send, or another call that leaves the machine, in a context of its own.
func (s *server) run(r *http.Request, remedy string, send func(context.Context) (bridge.Sent, error)) (bridge.Sent, error) {
	ctx, cancel := s.sendContext(r)
	defer cancel()
	sent, err := send(ctx)
	switch {
	case err == nil:
		return sent, nil
	case errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), errStopping):
		// The cause without its identity: the request's context has ended too,
		// and the answer would be that of a caller who hung up.
		err = bridge.NotConnected("the service is stopping and the message was not confirmed; when it is back, %s", remedy).
			Because(errors.New(err.Error()))
	case bridge.CodeOf(err) == bridge.CodeSendTimeout, ctx.Err() != nil && bridge.CodeOf(err) == bridge.CodeInternal:
		err = bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm the message in time, and it may still arrive; %s", remedy).
			Because(err)
	}
	return bridge.Sent{}, err
}

// errStopping is the cause of the end of sends at the program's end.
var errStopping = errors.New("the service is stopping")

// sendContext returns the context of a send, which ends with its time or the
// program. It outlives the caller, because a message that has begun to leave
// cannot be called back.
func (s *server) sendContext(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), s.sendTime)
	ctx, stop := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(s.lifetime, func() { stop(errStopping) })
	return ctx, func() {
		unhook()
		stop(nil)
		cancel()
	}
}

// remedyFor returns what to do where nobody knows whether a message arrived, or
// the change of one.
func remedyFor(r *http.Request, about *changed) string {
	if about != nil {
		return "repeat the call: what is about a message that is there cannot be doubled"
	}
	if hookOf(r.Context()) != nil {
		return "have it delivered again: a delivery that has an id is sent once"
	}
	if r.Header.Get("Idempotency-Key") != "" {
		return "repeat the call with the same Idempotency-Key"
	}
	return "look in the chat whether it arrived before you send it again, and send with an Idempotency-Key next time, " +
		"which makes repeating a call safe"
}

// answerSent answers a sending route.
func (s *server) answerSent(w http.ResponseWriter, r *http.Request, sent bridge.Sent) error {
	if hookOf(r.Context()) != nil {
		return s.answerHook(w, r, hookAnswer{Sent: true, MsgID: &sent.ID}, "")
	}
	return s.answer(w, r, struct {
		OK        bool        `json:"ok"`
		MsgID     string      `json:"msgId"`
		Timestamp bridge.Time `json:"timestamp"`
		ChatJID   bridge.JID  `json:"chatJid"`
	}{true, sent.ID, sent.Timestamp, s.canonical(sent.Chat)})
}
