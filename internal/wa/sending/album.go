package sending

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// SendAlbum prepares and uploads the files of an album one after the other, stores all its messages as
// pending in one transaction, and sends them in order. Before that transaction nothing is stored, and
// nothing is sent. After a refusal or without an answer, the rest is not sent and marked as failed:
// [Sender.ResendAlbum] sends it. It returns the errors of [Sender.Send] and of the items.
func (s *Sender) SendAlbum(ctx context.Context, album bridge.OutgoingAlbum) (bridge.SentAlbum, error) {
	c, err := s.o.Connection()
	if err != nil {
		return bridge.SentAlbum{}, err
	}
	ctx, cancel := s.Within(ctx, bridge.AlbumTimeout)
	defer cancel()
	to, chat, err := c.open(ctx, album.To)
	if err != nil {
		return bridge.SentAlbum{}, err
	}
	messages, rows, err := c.draftAlbum(ctx, to, chat, album)
	if err != nil {
		return bridge.SentAlbum{}, err
	}
	facts := withKey(album.Key, bridge.Sent{ID: rows[0].ID, Chat: chat})
	for _, row := range rows {
		facts = append(facts, row)
	}
	facts = append(c.withNewChat(ctx, chat, facts...), convert.BegunTimer(chat, messages[0])...)
	if err := s.o.Store.Save(ctx, facts...); err != nil {
		return bridge.SentAlbum{}, err
	}
	return s.sendAlbum(rows, func(i int) (bridge.Sent, error) {
		return s.transmit(ctx, s.newDelivery(ctx, to, rows[i], messages[i], time.Now()), rows[i], album.Key != nil || album.ID != "")
	})
}

// ResendAlbum sends those messages of an album that the network has not accepted again, under their ids. The
// first of the rows announces the album.
func (s *Sender) ResendAlbum(ctx context.Context, rows []bridge.Message) (bridge.SentAlbum, error) {
	ctx, cancel := s.Within(ctx, bridge.AlbumTimeout)
	defer cancel()
	return s.sendAlbum(rows, func(i int) (bridge.Sent, error) {
		if !rows[i].MayResend() {
			return bridge.Sent{ID: rows[i].ID, Chat: rows[i].Chat, Timestamp: rows[i].Timestamp}, nil
		}
		return s.Resend(ctx, rows[i])
	})
}

// sendAlbum sends the messages of an album in order. After an error it marks the rest as failed.
func (s *Sender) sendAlbum(rows []bridge.Message, send func(int) (bridge.Sent, error)) (album bridge.SentAlbum, err error) {
	for i := range rows {
		sent, err := send(i)
		if err != nil {
			for _, rest := range rows[i+1:] {
				if rest.MayResend() {
					s.fail(rest)
				}
			}
			return album, unfinished(i, len(rows), err)
		}
		if i == 0 {
			album.Sent = sent
			continue
		}
		album.Items = append(album.Items, sent)
	}
	return album, nil
}

// unfinished says how much of an album was sent before an error.
func unfinished(sent, all int, err error) error {
	var known *bridge.Error
	if sent == 0 || !errors.As(err, &known) {
		return err
	}
	explained := *known
	explained.Msg = fmt.Sprintf("the network accepted %d of the %d pictures and videos of the album, and then: %s", sent-1, all-1, known.Msg)
	return explained.Because(err)
}

// draftAlbum returns the messages of an album and their rows. The first one announces it.
func (c *Client) draftAlbum(ctx context.Context, to types.JID, chat bridge.JID, album bridge.OutgoingAlbum) (messages []*waE2E.Message, rows []bridge.Message, err error) {
	defer c.s.recovered("composing", &err)
	for i, prepare := range album.Items {
		item, err := c.uploadItem(ctx, prepare)
		if err != nil {
			return nil, nil, bridge.Within(fmt.Sprintf("items[%d]", i), err)
		}
		messages = append(messages, item)
	}
	info, err := c.contextFor(ctx, chat, bridge.Outgoing{})
	if err != nil {
		return nil, nil, err
	}
	parent, id := convert.AlbumMessage(messages), cmp.Or(album.ID, c.GenerateMessageID())
	for _, item := range messages {
		convert.SetContext(item, info)
		convert.SetAlbum(item, convert.JID(to), id)
	}
	if info, err = c.contextFor(ctx, chat, bridge.Outgoing{Quote: album.Quote}); err != nil {
		return nil, nil, err
	}
	convert.SetContext(parent, info)
	convert.SetSecret(parent)
	messages = append([]*waE2E.Message{parent}, messages...)
	for i, msg := range messages {
		if i > 0 {
			id = c.GenerateMessageID()
		}
		row := convert.OwnMessage(msg, c.s.ownPN(), c.s.o.PushName(), chat, id, nil)
		row.By = album.By
		rows = append(rows, row)
	}
	return messages, rows, nil
}

// uploadItem prepares a picture or a video of an album, uploads it and removes its file.
func (c *Client) uploadItem(ctx context.Context, prepare bridge.AlbumItem) (*waE2E.Message, error) {
	file, cleanup, err := prepare(ctx)
	defer cleanup()
	if err != nil {
		return nil, err
	}
	uploading, cancel := context.WithTimeout(ctx, uploadBudget)
	defer cancel()
	uploaded, err := c.s.o.CDN.Upload(uploading, c.MediaConn, file)
	if err != nil {
		return nil, err
	}
	return convert.UploadedMessage(file, uploaded), nil
}
