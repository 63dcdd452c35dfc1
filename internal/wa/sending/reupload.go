package sending

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// reupload is a pending request to the phone.
type reupload struct {
	row     bridge.Message
	answers chan phoneAnswer // answers beyond its capacity are dropped
}

// phoneAnswer is the path of the uploaded file at the media servers, or the reason why there is none.
type phoneAnswer struct {
	path string
	err  error
}

// reuploadTimeout limits the wait for the phone.
const reuploadTimeout = 30 * time.Second

// Reupload asks the phone to upload a message's file again, stores its new path and returns it. Concurrent calls for a
// message share one request. It fails with [bridge.CodeMediaGone] if the
// phone has lost the file, too, or does not answer.
func (s *Sender) Reupload(ctx context.Context, row bridge.Message) (string, error) {
	if row.Media == nil || len(row.Media.Ref.MediaKey) == 0 {
		return "", convert.MediaGone(errors.New("no media key"))
	}
	c, err := s.o.Connection()
	if err != nil {
		return "", err
	}
	asked := s.asking.DoChan("file "+row.ID, func() (any, error) { return c.askPhone(row) })
	select {
	case answer := <-asked:
		path, _ := answer.Val.(string)
		return path, answer.Err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Reuploaded processes the phone's answer. It stores the new path before it passes the answer to the waiting calls.
func (s *Sender) Reuploaded(e *events.MediaRetry) {
	pending, ok := s.reuploads.Load(convert.ID(e.MessageID))
	if !ok {
		return
	}
	r := pending.(*reupload)
	path, err := convert.NewPath(e, r.row.Media.Ref.MediaKey)
	if err == nil {
		ctx, cancel := context.WithTimeout(s.o.Background, saveTimeout)
		defer cancel()
		if err := s.o.Store.Save(ctx, bridge.MediaMoved{Chat: r.row.Chat, ID: r.row.ID, DirectPath: path}); err != nil {
			s.o.Log.Warn().Err(err).Str("msg_id", r.row.ID).Msg("cannot store the new path of a file")
		}
	}
	select {
	case r.answers <- phoneAnswer{path, err}:
	default:
	}
}

// askPhone asks for the file of a message under each of its names in turn. It tries the next name if the phone has not
// found the message, or has not answered in an equal share of reuploadTimeout.
func (c *Client) askPhone(row bridge.Message) (string, error) {
	ctx, cancel := context.WithTimeout(c.s.o.Background, reuploadTimeout)
	defer cancel()
	answers := make(chan phoneAnswer, 4)
	c.s.reuploads.Store(row.ID, &reupload{row, answers})
	defer c.s.reuploads.Delete(row.ID)
	names := c.requestNames(ctx, row)
	failure := convert.MediaGone(errors.New("the phone did not answer"))
	next := time.NewTimer(0)
	defer next.Stop()
	for asked, failed := 0, 0; ; {
		select {
		case <-next.C:
			if err := c.SendMediaRetryReceipt(ctx, &names[asked], row.Media.Ref.MediaKey); err != nil {
				return "", bridge.NotConnected("bridged could not ask the phone for the file: try again in a moment").Because(err)
			}
			if asked++; asked < len(names) {
				next.Reset(reuploadTimeout / time.Duration(len(names)))
			}
		case answer := <-answers:
			if answer.err == nil || bridge.CodeOf(answer.err) != bridge.CodeMediaGone {
				return answer.path, answer.err
			}
			failure = answer.err
			if failed++; failed == len(names) {
				return "", failure
			}
			if asked < len(names) {
				next.Reset(0)
			}
		case <-ctx.Done():
			return "", failure
		}
	}
}

// requestNames returns the names that the phone may have for a message, first the one under which it was received. The
// phone searches by the message's chat and, in groups, its sender, each of which may be a LID or a number.
func (c *Client) requestNames(ctx context.Context, row bridge.Message) []types.MessageInfo {
	person := row.Chat
	if row.Chat.IsGroup() {
		person = row.SenderJID
	}
	known := c.s.o.Store.Canonical(person)
	jids := []bridge.JID{c.wireForm(ctx, row.Chat, person), c.Hidden(ctx, known), known}
	var names []types.MessageInfo
	for i, jid := range jids {
		if slices.Contains(jids[:i], jid) {
			continue
		}
		chat, sender := row.Chat, jid
		if !row.Chat.IsGroup() {
			chat, sender = jid, row.SenderJID
		}
		names = append(names, types.MessageInfo{ID: convert.OnWire(&row), MessageSource: types.MessageSource{
			Chat: convert.WireJID(chat), Sender: convert.WireJID(sender), IsFromMe: row.FromMe, IsGroup: row.Chat.IsGroup(),
		}})
	}
	return names
}
