package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/callers"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/hooks"
)

const (
	// hookRetry is the Retry-After of a delivery while the account is not open.
	hookRetry = 30 * time.Second
	// briefKeys is how long equal alerts count as retries. Repetitions of an alert are hours apart.
	briefKeys = 10 * time.Minute
	// keyExtension is added to the day after which keys are deleted, since code hosts retry for days.
	keyExtension = 6 * 24 * time.Hour
)

// receiveHook answers a delivery and stores its outcome.
func receiveHook(in *input) (any, error) {
	hook := callers.HookOf(in.ctx())
	if hook == nil {
		return nil, errNoRoute()
	}
	answer, err := deliverHook(in, *hook)
	if wentAway(in.r, err) {
		return nil, err // the sender will retry
	}
	problem := ""
	if err != nil {
		e, _ := front.Public(err)
		problem = e.Msg
	}
	if noteErr := in.noteDelivery(context.WithoutCancel(in.ctx()), *hook, problem); noteErr != nil {
		hlog.FromRequest(in.r).Warn().Err(noteErr).Msg("cannot store a delivery of a hook")
	}
	return answer, forSenders(err)
}

// noteDelivery stores the outcome of a delivery, equal ones once a minute.
func (s *server) noteDelivery(ctx context.Context, hook bridge.Hook, problem string) error {
	at, last, lastProblem := bridge.At(s.Now()), hook.LastFailedAt, ""
	if problem == "" {
		at, last = bridge.At(callers.ToTheMinute(at.Time, hook.CreatedAt)), hook.LastDeliveryAt
	}
	if hook.LastError != nil {
		lastProblem = *hook.LastError
	}
	if problem == lastProblem && last != nil && last.Truncate(time.Minute).Equal(at.Truncate(time.Minute)) {
		return nil
	}
	return s.Store.NoteDelivery(ctx, hook.ID, at, problem)
}

// forSenders removes the number of the chat from an error, because services show their users the answer.
func forSenders(err error) error {
	var e *bridge.Error
	if !errors.As(err, &e) {
		return err
	}
	wait := e.RetryAfter
	if wait == 0 && e.Code == bridge.CodeNotConnected {
		wait = hookRetry
	}
	return &bridge.Error{Code: e.Code, Msg: bridge.Redact(e.Msg), Err: err, RetryAfter: wait}
}

// deliverHook sends the text of a delivery once. It checks the sender, then the send gate, then the content.
func deliverHook(in *input, hook bridge.Hook) (any, error) {
	if err := in.deliveries.Take(hook.ID, in.Now()); err != nil {
		return nil, err
	}
	body, done, err := in.bodies.ReadBody(in.w, in.r, in.caller().Tree)
	if err != nil {
		return nil, err
	}
	defer done()
	var signed []byte
	if hook.Secret != "" {
		if signed, err = hooks.Verify(hook.Secret, in.r.Header, body, in.Now()); err != nil {
			return nil, err
		}
	}
	if err := in.sendGate(); err != nil {
		return nil, err
	}
	if hooks.IsPing(in.r.Header) {
		return notSent(hookAnswer{}, "a ping is only answered"), nil
	}
	text, identity, err := in.read(in.ctx(), hook, in.r.Header, body, signed)
	if err != nil {
		return nil, err
	}
	if text == "" {
		return notSent(hookAnswer{}, "the hook's template has nothing to say of this"), nil
	}
	hash := sha256.Sum256(body)
	if identity.IsSigned {
		hash = sha256.Sum256(signed)
	}
	done() // before the send, which may take long
	key, err := in.hookKey(in.ctx(), identity, hash[:])
	if err != nil {
		return nil, err
	}
	answer, err := sendUnder(in, key, draft{Outgoing: bridge.Outgoing{To: hook.Chat, Content: bridge.Text{Text: text}}})
	if bridge.CodeOf(err) == bridge.CodeIdempotencyMismatch && in.r.Header.Get("Idempotency-Key") == "" {
		err = bridge.Fail(bridge.CodeIdempotencyMismatch, "a delivery with this id had another body; each delivery needs an id of its own")
	}
	return answer, err
}

// read returns the text and the identity of a delivery; signed is nil without a signature.
func (s *server) read(ctx context.Context, hook bridge.Hook, header http.Header, body, signed []byte) (string, hooks.Identity, error) {
	template, err := hooks.Parse(hook.Template)
	if err != nil {
		return "", hooks.Identity{}, fmt.Errorf("the template of hook %d: %v", hook.ID, err)
	}
	payload, err := template.Payload(header, body)
	if err != nil {
		return "", hooks.Identity{}, err
	}
	text, err := s.templates.Render(ctx, template, payload, header)
	if signed != nil {
		return text, template.IdentifySigned(header, signed), err
	}
	return text, hooks.Identify(header, payload, body), err
}

// hookKey returns the idempotency key of a delivery; nil if it has no identity.
func (s *server) hookKey(ctx context.Context, identity hooks.Identity, hash []byte) (*bridge.SendKey, error) {
	if identity.ID == "" {
		return nil, nil
	}
	key := bridge.SendKey{Key: ownKey(ctx, identity.ID), Route: http.MethodPost + " /hooks/{hook}", BodyHash: hash, At: bridge.At(s.Now())}
	if identity.IsSigned {
		return &key, nil
	}
	if !identity.IsBrief {
		key.At = bridge.At(s.Now().Add(keyExtension))
		return &key, nil
	}
	now := s.Now().Truncate(briefKeys)
	before := key
	before.Key = fmt.Sprint(key.Key, " ", now.Add(-briefKeys).Unix())
	key.Key = fmt.Sprint(key.Key, " ", now.Unix())
	if _, found, err := s.Store.SendKey(ctx, before.Key); err != nil || found {
		return &before, err
	}
	return &key, nil
}

// hookAnswer answers a delivery. It names no chat.
type hookAnswer struct {
	OK        bool    `json:"ok"`
	Sent      bool    `json:"sent"`
	Duplicate bool    `json:"duplicate"`
	MsgID     *string `json:"msgId"` // for a duplicate, of the first delivery
	Reason    *string `json:"reason"`
}

// notSent returns the answer to a delivery that was not sent as a message.
func notSent(answer hookAnswer, reason string) hookAnswer {
	answer.OK, answer.Reason = true, &reason
	return answer
}
