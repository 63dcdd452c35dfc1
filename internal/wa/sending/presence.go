package sending

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// presenceTimeout limits the writing of a presence stanza.
const presenceTimeout = 5 * time.Second

// presence shows the account as typing. It shows the account as available only while it types, so
// that the phone keeps ringing for new messages.
type presence struct {
	idle   types.Presence // shown while the account does not type
	active atomic.Int32   // number of chats in which the account types

	mu sync.Mutex // guards the fields from here on; held while stanzas are written
	// These describe one connection and are void when it ends.
	on     presenter
	socket any
	until  map[types.JID]time.Time
	timer  *time.Timer // calls expire
	ended  bool        // the timer is not set again
}

// presenter is the interface of a connection that presence needs.
type presenter interface {
	// connection returns the identity of the socket, and false if no socket is logged in.
	connection() (socket any, ok bool)
	showPresence(ctx context.Context, presence types.Presence) error
	showChatState(ctx context.Context, to types.JID, state bridge.TypingState) error
}

// newPresence returns the presence of an account that does not type. If available is set, it is
// always available.
func newPresence(available bool) *presence {
	p := &presence{idle: types.PresenceUnavailable}
	if available {
		p.idle = types.PresenceAvailable
	}
	p.timer = time.AfterFunc(time.Hour, p.expire)
	p.timer.Stop() // until the account types
	return p
}

// show shows a typing state in a chat and returns until when it is shown. Without a state it ends
// typing, and makes the account unavailable unless it types elsewhere.
func (p *presence) show(ctx context.Context, on presenter, to types.JID, state bridge.TypingState) (time.Time, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.schedule()
	socket, ok := on.connection()
	if !ok {
		return time.Time{}, whatsmeow.ErrNotConnected
	}
	if socket != p.socket {
		p.on, p.socket, p.until = on, socket, make(map[types.JID]time.Time)
	}
	ctx, cancel := context.WithTimeout(ctx, presenceTimeout)
	defer cancel()
	switch state {
	case bridge.TypingText, bridge.TypingVoice:
		return p.begin(ctx, to, state)
	case bridge.TypingPaused:
		return time.Time{}, p.end(ctx, to)
	}
	return time.Time{}, p.becomeIdle(ctx)
}

// schedule sets the timer to the next end of typing. The caller holds mu.
func (p *presence) schedule() {
	p.active.Store(int32(len(p.until)))
	p.timer.Stop()
	if len(p.until) > 0 && !p.ended {
		p.timer.Reset(time.Until(slices.MinFunc(slices.Collect(maps.Values(p.until)), time.Time.Compare)))
	}
}

// stop disables the timer. Anything shown ends with the connection.
func (p *presence) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.timer.Stop()
}

func (p *presence) begin(ctx context.Context, to types.JID, state bridge.TypingState) (time.Time, error) {
	if len(p.until) == 0 {
		if err := p.on.showPresence(ctx, types.PresenceAvailable); err != nil {
			return time.Time{}, err
		}
	}
	until := time.Now().Add(bridge.TypingTime)
	p.until[to] = until // also if the next step fails: then it is undone
	return until, p.on.showChatState(ctx, to, state)
}

// end stops typing in a chat, if the account types there.
func (p *presence) end(ctx context.Context, to types.JID) error {
	if _, types := p.until[to]; !types {
		return nil
	}
	delete(p.until, to)
	return errors.Join(p.on.showChatState(ctx, to, bridge.TypingPaused), p.becomeIdle(ctx))
}

// becomeIdle makes the account unavailable, unless it types or is always available.
func (p *presence) becomeIdle(ctx context.Context) error {
	if len(p.until) > 0 {
		return nil
	}
	return p.on.showPresence(ctx, p.idle)
}

// expire ends typing that has lasted its time. A lost connection ends it anyway.
func (p *presence) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.schedule()
	if len(p.until) == 0 {
		return
	}
	if socket, ok := p.on.connection(); !ok || socket != p.socket {
		p.on, p.socket, p.until = nil, nil, nil
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), presenceTimeout)
	defer cancel()
	now := time.Now()
	for to, until := range p.until {
		if !until.After(now) {
			_ = p.end(ctx, to) // a connection that fails ends it anyway
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

// Type shows the account as typing or recording in a chat, or ends that, and returns until when
// it is shown. It fails with [bridge.CodeNotConnected] and with the errors of destination.
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
	until, err := s.presence.show(ctx, c, c.typingTo(ctx, to), state)
	switch {
	case errors.Is(err, whatsmeow.ErrNoPushName):
		return bridge.Time{}, bridge.NotConnected("presence needs the account's name, which is not known yet: try again in a moment").Because(err)
	case err != nil:
		return bridge.Time{}, bridge.NotConnected("the connection was lost: try again in a moment").Because(err)
	case until.IsZero():
		return bridge.Time{}, nil
	}
	return bridge.At(until), nil
}

// typingTo returns the JID that presence uses for a chat.
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
	if _, err := s.presence.show(ctx, c, c.typingTo(ctx, convert.WireJID(chat)), bridge.TypingPaused); err != nil {
		s.o.Log.Debug().Str("error", bridge.Redact(err.Error())).Msg("cannot send the end of typing")
	}
}

// RestPresence makes the account unavailable, unless it types or is always available.
func (c *Client) RestPresence(ctx context.Context) error {
	_, err := c.s.presence.show(ctx, c, types.EmptyJID, "")
	return err
}
