package simnet

import (
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/content"
	"bridged/internal/simnet/people"
)

// SendOption changes how a message is sent.
type SendOption func(*sendOptions)

type sendOptions struct {
	id        types.MessageID
	wish      people.Wish
	context   *waE2E.ContextInfo
	viewOnce  bool
	ephemeral uint32
	part      *waE2E.MessageAssociation
	album     *types.MessageID
	to        types.JID
	asEdit    bool
}

// WithID sends under the caller's id.
func WithID(id types.MessageID) SendOption { return func(o *sendOptions) { o.id = id } }

// AsNumber shows the sender to others under the phone number, whichever form names the recipient.
func AsNumber() SendOption { return func(o *sendOptions) { o.wish.Form = types.DefaultUserServer } }

// AsLID shows the sender to others under the LID.
func AsLID() SendOption { return func(o *sendOptions) { o.wish.Form = types.HiddenUserServer } }

// Quoting quotes a received message in full, as official apps do.
func Quoting(r *Received) SendOption {
	return func(o *sendOptions) {
		o.info().StanzaID = proto.String(r.Info.ID)
		o.info().Participant = proto.String(r.Info.Sender.ToNonAD().String())
		o.info().QuotedMessage = r.Message.Message
	}
}

// QuotingID quotes a message by id, sender and text.
func QuotingID(id types.MessageID, sender types.JID, quoted string) SendOption {
	return func(o *sendOptions) {
		o.info().StanzaID = proto.String(id)
		o.info().Participant = proto.String(sender.ToNonAD().String())
		o.info().QuotedMessage = &waE2E.Message{Conversation: proto.String(quoted)}
	}
}

// OfChat says that the quoted message is of another chat, as official apps do for a group's message that is answered in private, and for a
// status ([types.StatusBroadcastJID]).
func OfChat(chat types.JID) SendOption {
	return func(o *sendOptions) { o.info().RemoteJID = proto.String(chat.String()) }
}

// Mentioning mentions people; the text has to contain their @users.
func Mentioning(people ...types.JID) SendOption {
	return func(o *sendOptions) {
		for _, jid := range people {
			o.info().MentionedJID = append(o.info().MentionedJID, jid.ToNonAD().String())
		}
	}
}

// Forwarded marks the message as forwarded a number of times.
func Forwarded(score uint32) SendOption {
	return func(o *sendOptions) {
		o.info().IsForwarded, o.info().ForwardingScore = proto.Bool(true), proto.Uint32(score)
	}
}

// PartOf attaches the message to another one of the phone's, so that apps do not show it by itself: the HD upload of a picture, the video of
// a motion photo.
func PartOf(parent types.MessageID, kind waE2E.MessageAssociation_AssociationType) SendOption {
	return func(o *sendOptions) {
		o.part = &waE2E.MessageAssociation{AssociationType: kind.Enum(), ParentMessageKey: &waCommon.MessageKey{ID: &parent, FromMe: proto.Bool(true)}}
	}
}

// ViewOnce wraps the message so that apps show it once. Linked devices get the content.
func ViewOnce() SendOption { return func(o *sendOptions) { o.viewOnce = true } }

// HiddenViewOnce sends view-once media as the real network does to linked devices: they get a notice without the content.
func HiddenViewOnce() SendOption {
	return func(o *sendOptions) { o.viewOnce, o.wish.Hidden = true, "view_once" }
}

// At sends the message with another time than now, for conversations of the past.
func At(when time.Time) SendOption { return func(o *sendOptions) { o.wish.At = when } }

// Ephemeral makes the message disappear after a number of seconds.
func Ephemeral(seconds uint32) SendOption {
	return func(o *sendOptions) {
		o.ephemeral = seconds
		o.info().Expiration = proto.Uint32(seconds)
	}
}

func (o *sendOptions) info() *waE2E.ContextInfo {
	if o.context == nil {
		o.context = &waE2E.ContextInfo{}
	}
	return o.context
}

func sendOptionsOf(opts []SendOption) *sendOptions {
	o := &sendOptions{}
	for _, opt := range opts {
		opt(o)
	}
	return o
}

// apply returns the message with the options about its content merged into it.
func (o *sendOptions) apply(msg *waE2E.Message) *waE2E.Message {
	if o.context != nil {
		content.SetContextInfo(msg, o.context)
	}
	if o.album != nil {
		msg.MessageContextInfo = &waE2E.MessageContextInfo{MessageAssociation: &waE2E.MessageAssociation{
			AssociationType: waE2E.MessageAssociation_MEDIA_ALBUM.Enum(), ParentMessageKey: &waCommon.MessageKey{ID: o.album, FromMe: proto.Bool(true), RemoteJID: proto.String(o.to.String())},
		}}
	}
	if o.part != nil {
		msg.MessageContextInfo = &waE2E.MessageContextInfo{MessageAssociation: o.part}
		msg = &waE2E.Message{AssociatedChildMessage: &waE2E.FutureProofMessage{Message: msg}}
	}
	if o.viewOnce {
		msg = content.ViewOnce(msg)
	}
	if o.ephemeral > 0 {
		msg = &waE2E.Message{EphemeralMessage: &waE2E.FutureProofMessage{Message: msg}}
	}
	return msg
}
