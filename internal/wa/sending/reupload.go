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
	answers chan phoneAnswer // of the phone; unexpected answers are dropped
}

// phoneAnswer is the location of the uploaded file, or the reason why there is none.
type phoneAnswer struct {
	path string
	err  error
}

// reuploadWait limits the wait for the phone.
const reuploadWait = 30 * time.Second

// Reupload asks the phone to upload a message's file again and returns its new location, which is
// also stored. Concurrent callers share one request. It fails with [bridge.CodeMediaGone] if the
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

// Reuploaded processes the phone's answer. It stores the new location before it notifies the
// waiting calls.
func (s *Sender) Reuploaded(e *events.MediaRetry) {
	underWay, ok := s.reuploads.Load(convert.ID(e.MessageID))
	if !ok {
		return
	}
	r := underWay.(*reupload)
	path, err := convert.NewPlace(e, r.row.Media.Ref.MediaKey)
	if err == nil {
		ctx, cancel := context.WithTimeout(s.o.Background, saveTimeout)
		defer cancel()
		if err := s.o.Store.Save(ctx, bridge.MediaMoved{Chat: r.row.Chat, ID: r.row.ID, DirectPath: path}); err != nil {
			s.o.Log.Warn().Err(err).Str("msg_id", r.row.ID).Msg("cannot store the new location of a file")
		}
	}
	select {
	case r.answers <- phoneAnswer{path, err}:
	default:
	}
}

// askPhone asks with the message's form on the wire first. It tries the next form if the phone
// has not found the message or has not answered in that form's share of the time.
func (c *Client) askPhone(row bridge.Message) (string, error) {
	ctx, cancel := context.WithTimeout(c.s.o.Background, reuploadWait)
	defer cancel()
	answers := make(chan phoneAnswer, 4)
	c.s.reuploads.Store(row.ID, &reupload{row, answers})
	defer c.s.reuploads.Delete(row.ID)
	forms := c.requestForms(ctx, row)
	failure := convert.MediaGone(errors.New("the phone did not answer"))
	next := time.NewTimer(0)
	defer next.Stop()
	for asked, failed := 0, 0; ; {
		select {
		case <-next.C:
			if err := c.SendMediaRetryReceipt(ctx, &forms[asked], row.Media.Ref.MediaKey); err != nil {
				return "", bridge.NotConnected("bridged could not ask the phone for the file: try again in a moment").Because(err)
			}
			if asked++; asked < len(forms) {
				next.Reset(reuploadWait / time.Duration(len(forms)))
			}
		case answer := <-answers:
			if answer.err == nil || bridge.CodeOf(answer.err) != bridge.CodeMediaGone {
				return answer.path, answer.err
			}
			failure = answer.err
			if failed++; failed == len(forms) {
				return "", failure
			}
			if asked < len(forms) {
				next.Reset(0)
			}
		case <-ctx.Done():
			return "", failure
		}
	}
}

// requestForms returns the forms in which a message can be named, starting with the one it was
// received in: the phone searches by the message's chat and, in groups, its sender, as LID or
// number.
func (c *Client) requestForms(ctx context.Context, row bridge.Message) []types.MessageInfo {
	person := row.Chat
	if row.Chat.IsGroup() {
		person = row.SenderJID
	}
	known := c.s.o.Store.Canonical(person)
	names := []bridge.JID{c.wireForm(ctx, row.Chat, person), c.Hidden(ctx, known), known}
	var forms []types.MessageInfo
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		chat, sender := row.Chat, name
		if !row.Chat.IsGroup() {
			chat, sender = name, row.SenderJID
		}
		forms = append(forms, types.MessageInfo{ID: convert.OnWire(&row), MessageSource: types.MessageSource{
			Chat: convert.WireJID(chat), Sender: convert.WireJID(sender), IsFromMe: row.FromMe, IsGroup: row.Chat.IsGroup(),
		}})
	}
	return forms
}
