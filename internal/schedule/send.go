package schedule

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

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
	rows, err := s.stored(ctx, m)
	switch {
	case err == nil && areOut(rows):
		return bridge.Sent{ID: m.ID, Chat: rows[0].Chat, Timestamp: rows[0].Timestamp}, nil
	case err == nil && m.Draft.Album != nil:
		sent, err := s.o.Account.ResendAlbum(ctx, rows)
		return sent.Sent, sent.Rest(err, sendRest)
	case err == nil:
		return s.o.Account.Resend(ctx, rows[0])
	case bridge.CodeOf(err) != bridge.CodeNotFound:
		return bridge.Sent{}, err
	}
	out, err := s.compose(ctx, m, by)
	if err != nil {
		return bridge.Sent{}, err
	}
	out.Key, out.By = key, by.Through(bridge.EntranceSchedule)
	if files, isAlbum := out.Content.(bridge.AlbumFiles); isAlbum {
		sent, err := s.o.Account.SendAlbum(ctx, bridge.OutgoingAlbum{To: out.To, Quote: out.Quote, Key: key, ID: out.ID, By: out.By, Items: itemsOf(files)})
		return sent.Sent, sent.Rest(err, sendRest)
	}
	return s.o.Account.Send(ctx, out)
}

const sendRest = "send it now to send the rest"

// itemsOf returns the items of an album whose files are stored here.
func itemsOf(files bridge.AlbumFiles) (items []bridge.AlbumItem) {
	for _, file := range files {
		items = append(items, func(context.Context) (bridge.File, func(), error) { return file, func() {}, nil })
	}
	return items
}

// stored returns a message that is in its chat, because its sending has begun, and the pictures and videos of an album
// after it.
func (s *Schedule) stored(ctx context.Context, m bridge.Scheduled) ([]bridge.Message, error) {
	row, err := s.o.Store.Message(ctx, m.Chat, m.ID)
	if err == nil && m.Draft.Album != nil {
		return s.o.Store.Album(ctx, row.Chat, row.ID)
	}
	return []bridge.Message{row}, err
}

// areOut reports whether the network has accepted messages.
func areOut(rows []bridge.Message) bool {
	return !slices.ContainsFunc(rows, func(row bridge.Message) bool {
		return row.Status == nil || *row.Status == bridge.DeliveryPending || *row.Status == bridge.DeliveryFailed
	})
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
	for i := range d.Files() {
		if _, err := os.Stat(s.files.path(fileName(m.ID, i))); errors.Is(err, fs.ErrNotExist) {
			return out, bridge.NotFound("the file of the message is not stored here: backups do not contain it; cancel the message and schedule it again")
		}
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
	case bridge.AlbumFiles:
		for i := range content {
			content[i].Path = s.files.path(fileName(m.ID, i))
		}
	case bridge.Text:
		if d.Preview && s.o.Preview != nil {
			content.Preview = s.o.Preview(ctx, content.Text)
			out.Content = content
		}
	}
	return out, nil
}
