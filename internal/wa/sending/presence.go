package sending

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// presenceTimeout bounds how long a stanza about presence may take to be written.
const presenceTimeout = 5 * time.Second

// presence shows the account as typing. Its goroutine, run, keeps the account available
// only while it types, so that the phone goes on ringing.
type presence struct {
	requests chan presenceRequest
	active   atomic.Int32 // chats in which the account types
}

// presenter is a connection as presence needs it.
type presenter interface {
	// connection identifies the socket; not ok while there is none that is logged in.
	connection() (socket any, ok bool)
	showPresence(ctx context.Context, presence types.Presence) error
	showChatState(ctx context.Context, to types.JID, state bridge.TypingState) error
}

// presenceRequest asks for a state in a chat; without one, to be unavailable unless the
// account types.
type presenceRequest struct {
	on      presenter
	to      types.JID
	state   bridge.TypingState
	answers chan presenceAnswer
}

type presenceAnswer struct {
	until time.Time // zero where the account does not type
	err   error
}

func newPresence() *presence { return &presence{requests: make(chan presenceRequest)} }

// ask hands a request to run.
func (p *presence) ask(ctx context.Context, r presenceRequest) (time.Time, error) {
	r.answers = make(chan presenceAnswer, 1)
	select {
	case p.requests <- r:
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
	select {
	case answer := <-r.answers:
		return answer.until, answer.err
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
}

// typing is what is shown on one connection, which takes it along when it ends.
type typing struct {
	on     presenter
	socket any
	until  map[types.JID]time.Time
}

func (p *presence) run(ctx context.Context) {
	var now typing
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Stop()
		if next, ok := now.next(); ok {
			timer.Reset(time.Until(next))
		}
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			now.expire(ctx, time.Now())
		case r := <-p.requests:
			until, err := now.take(ctx, r)
			r.answers <- presenceAnswer{until, err}
		}
		p.active.Store(int32(len(now.until)))
	}
}

// next returns when the account stops typing somewhere.
func (s *typing) next() (first time.Time, ok bool) {
	for _, until := range s.until {
		if !ok || until.Before(first) {
			first, ok = until, true
		}
	}
	return first, ok
}

// take serves a request, and returns until when the account types.
func (s *typing) take(ctx context.Context, r presenceRequest) (time.Time, error) {
	socket, ok := r.on.connection()
	if !ok {
		return time.Time{}, whatsmeow.ErrNotConnected
	}
	if socket != s.socket {
		*s = typing{on: r.on, socket: socket, until: make(map[types.JID]time.Time)}
	}
	ctx, cancel := context.WithTimeout(ctx, presenceTimeout)
	defer cancel()
	switch r.state {
	case bridge.TypingText, bridge.TypingVoice:
		return s.begin(ctx, r)
	case bridge.TypingPaused:
		return time.Time{}, s.end(ctx, r.to)
	}
	return time.Time{}, s.rest(ctx)
}

func (s *typing) begin(ctx context.Context, r presenceRequest) (time.Time, error) {
	if len(s.until) == 0 {
		if err := s.on.showPresence(ctx, types.PresenceAvailable); err != nil {
			return time.Time{}, err
		}
	}
	until := time.Now().Add(bridge.TypingTime)
	s.until[r.to] = until // also where the next fails: then it is taken back
	return until, s.on.showChatState(ctx, r.to, r.state)
}

// end stops typing in a chat, if the account does.
func (s *typing) end(ctx context.Context, to types.JID) error {
	if _, types := s.until[to]; !types {
		return nil
	}
	delete(s.until, to)
	return errors.Join(s.on.showChatState(ctx, to, bridge.TypingPaused), s.rest(ctx))
}

// rest makes the account unavailable, unless it types somewhere.
func (s *typing) rest(ctx context.Context) error {
	if len(s.until) > 0 {
		return nil
	}
	return s.on.showPresence(ctx, types.PresenceUnavailable)
}

// expire ends what has lasted its time. What a lost connection has shown is over.
func (s *typing) expire(ctx context.Context, now time.Time) {
	if socket, ok := s.on.connection(); !ok || socket != s.socket {
		*s = typing{}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, presenceTimeout)
	defer cancel()
	for to, until := range s.until {
		if !until.After(now) {
			_ = s.end(ctx, to) // a connection that fails takes it along
		}
	}
}

func (c *Client) connection() (any, bool) {
	return c.link.Socket(), c.LoggedIn()
}

func (c *Client) showPresence(ctx context.Context, presence types.Presence) error {
	return c.SendPresence(ctx, presence)
}

func (c *Client) showChatState(ctx context.Context, to types.JID, state bridge.TypingState) error {
	shown, media := types.ChatPresenceComposing, types.ChatPresenceMediaText
	switch state {
	case bridge.TypingVoice:
		media = types.ChatPresenceMediaAudio
	case bridge.TypingPaused:
		shown = types.ChatPresencePaused
	}
	return c.SendChatPresence(ctx, to, shown, media)
}

// Type shows the account as typing or recording in a chat, or no longer, and returns until
// when. It fails with [bridge.CodeNotConnected] and as destinations do.
func (s *Sender) Type(ctx context.Context, chat bridge.JID, state bridge.TypingState) (bridge.Time, error) {
	c, err := s.o.Connection()
	if err != nil {
		return bridge.Time{}, err
	}
	ctx, cancel := s.Within(ctx, s.Waits.Budget)
	defer cancel()
	to, err := c.destination(ctx, chat)
	if err != nil {
		return bridge.Time{}, err
	}
	until, err := s.presence.ask(ctx, presenceRequest{on: c, to: c.typingTo(ctx, to), state: state})
	switch {
	case errors.Is(err, whatsmeow.ErrNoPushName):
		return bridge.Time{}, bridge.NotConnected("the account's name is not known yet, without which it cannot be shown: try again in a moment").Because(err)
	case err != nil:
		return bridge.Time{}, bridge.NotConnected("the connection was lost: try again in a moment").Because(err)
	case until.IsZero():
		return bridge.Time{}, nil
	}
	return bridge.At(until), nil
}

// typingTo returns a chat in the one form in which presence knows it.
func (c *Client) typingTo(ctx context.Context, to types.JID) types.JID {
	return convert.WireJID(c.Hidden(ctx, c.s.o.Store.Canonical(convert.JID(to))))
}

func (s *Sender) stopTyping(chat bridge.JID) {
	c, err := s.o.Connection()
	if err != nil || s.presence.active.Load() == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(s.o.Background, presenceTimeout)
	defer cancel()
	if _, err := s.presence.ask(ctx, presenceRequest{on: c, to: c.typingTo(ctx, convert.WireJID(chat)), state: bridge.TypingPaused}); err != nil {
		s.o.Log.Debug().Str("error", bridge.Redact(err.Error())).Msg("end of typing not sent")
	}
}

// RestPresence makes the account unavailable, unless it types.
func (c *Client) RestPresence(ctx context.Context) error {
	_, err := c.s.presence.ask(ctx, presenceRequest{on: c})
	return err
}
