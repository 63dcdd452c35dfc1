package schedule

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"bridged/internal/bridge"
)

// SendNow sends a message now, whatever its status, with the rights of a token, and removes it. The key may be
// nil. If it fails, the message has the former status, and a message that waits is sent at its time.
func (s *Schedule) SendNow(ctx context.Context, id string, by bridge.Token, key *bridge.SendKey) (sent bridge.Sent, err error) {
	done, err := s.hold(id)
	if err != nil {
		return sent, err
	}
	defer s.Wake()
	defer done()
	var former bridge.Scheduled
	m, err := s.o.Store.ChangeScheduled(ctx, id, func(m *bridge.Scheduled) error {
		former = *m
		if m.Status == bridge.ScheduledWaiting { // after a crash it is tried again at its time
			m.Status = bridge.ScheduledSending
		}
		m.Begun = true
		return nil
	})
	if err != nil {
		return sent, err
	}
	if key != nil {
		key.Chat, key.MsgID = m.Chat, m.ID
		if err := s.o.Store.Save(ctx, *key); err != nil {
			return sent, err
		}
	}
	if sent, err = s.send(ctx, m, by, key); err == nil {
		s.sent(context.WithoutCancel(ctx), id)
		return sent, nil
	}
	_, storeErr := s.o.Store.ChangeScheduled(context.WithoutCancel(ctx), id, func(m *bridge.Scheduled) error {
		m.Status, m.Begun = former.Status, s.hasBegun(context.WithoutCancel(ctx), *m)
		if former.Status != bridge.ScheduledWaiting {
			m.Error = problemOf(err)
		}
		return nil
	})
	if storeErr != nil {
		s.o.Log.Error().Err(storeErr).Str("msg_id", id).Msg("cannot store the outcome of a scheduled message")
	}
	return sent, err
}

// send sends a message under its id, or again if an earlier try has begun.
func (s *Schedule) send(ctx context.Context, m bridge.Scheduled, by bridge.Token, key *bridge.SendKey) (bridge.Sent, error) {
	row, err := s.o.Store.Message(ctx, m.Chat, m.ID)
	switch {
	case err == nil && isOut(row):
		return bridge.Sent{ID: row.ID, Chat: row.Chat, Timestamp: row.Timestamp}, nil
	case err == nil:
		return s.o.Account.Resend(ctx, row)
	case bridge.CodeOf(err) != bridge.CodeNotFound:
		return bridge.Sent{}, err
	}
	out, err := s.compose(ctx, m, by)
	if err != nil {
		return bridge.Sent{}, err
	}
	out.Key = key
	return s.o.Account.Send(ctx, out)
}

// isOut reports whether the network has accepted a message.
func isOut(row bridge.Message) bool {
	return row.Status != nil && *row.Status != bridge.DeliveryPending && *row.Status != bridge.DeliveryFailed
}

// compose looks up what a message refers to, as it is now and as far as its token may see it.
func (s *Schedule) compose(ctx context.Context, m bridge.Scheduled, by bridge.Token) (bridge.Outgoing, error) {
	d := m.Draft
	out := bridge.Outgoing{To: m.Chat, ID: m.ID, Content: d.Content(), Mentions: d.Mentions, Unseen: d.Unseen}
	if d.Quote != nil {
		quoted, err := s.o.Store.MessageFor(ctx, by.Chats, d.Quote.Chat, d.Quote.ID)
		if err == nil {
			err = quoted.Answerable("quoted")
		}
		if err != nil {
			return out, err
		}
		out.Quote = &quoted
	}
	switch content := out.Content.(type) {
	case nil:
		source, err := s.o.Store.MessageFor(ctx, by.Chats, d.Forward.Chat, d.Forward.ID)
		if err == nil {
			err = source.Forwardable()
		}
		out.Content = bridge.Forward{Source: source}
		return out, err
	case bridge.File:
		content.Path = s.files.path(m.ID)
		out.Content = content
		if _, err := os.Stat(content.Path); errors.Is(err, fs.ErrNotExist) {
			return out, bridge.NotFound("the file of the message is not stored here: backups do not contain it; cancel the message and schedule it again")
		}
	case bridge.Text:
		if d.Preview && s.o.Preview != nil {
			content.Preview = s.o.Preview(ctx, content.Text)
			out.Content = content
		}
	}
	return out, nil
}
