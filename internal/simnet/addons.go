package simnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// ByAd marks the message as the first one after a tap on an ad. info holds the ad's details and replaces any reference to another message.
func ByAd(info *waE2E.ContextInfo) SendOption {
	return func(o *sendOptions) { o.context = proto.Clone(info).(*waE2E.ContextInfo) }
}

// InAlbum sends a picture or a video as an item of one of the phone's albums.
func InAlbum(album types.MessageID) SendOption {
	return func(o *sendOptions) { o.album = &album }
}

// SendAlbum announces an album; its items follow, sent with [InAlbum].
func (p *Phone) SendAlbum(ctx context.Context, to types.JID, images, videos uint32, opts ...SendOption) (types.MessageID, error) {
	return p.Send(ctx, to, &waE2E.Message{AlbumMessage: &waE2E.AlbumMessage{ExpectedImageCount: &images, ExpectedVideoCount: &videos}}, opts...)
}

// ErrNoAlbum reports a message that announces no album, or an item that the app does not show in its album.
var ErrNoAlbum = errors.New("the app does not show this as an album")

// Album waits for an album and as many items as it announces, and returns the items as the app shows them, in the order in which they arrived.
// Items belong to the album of the same sender in the same chat that they name. It fails with [ErrNoAlbum].
func (p *Phone) Album(ctx context.Context, id types.MessageID) (items []*Received, err error) {
	parent, err := p.ReceivedID(ctx, id)
	if err != nil {
		return nil, err
	}
	announced := parent.Message.Message.GetAlbumMessage()
	images, videos := announced.GetExpectedImageCount(), announced.GetExpectedVideoCount()
	if images+videos < 2 {
		return nil, fmt.Errorf("%w: it announces %d pictures and %d videos", ErrNoAlbum, images, videos)
	}
	err = p.inbox.await(ctx, p, func(i *inbox) bool {
		items = nil
		shown := make(map[types.MessageID]bool) // an app shows an id once
		for _, r := range i.messages {
			if r.isItemOf(parent) && !shown[r.Info.ID] {
				shown[r.Info.ID] = true
				items = append(items, r)
			}
		}
		return len(items) >= int(images+videos)
	})
	for _, item := range items {
		switch {
		case item.Message.Message.GetImageMessage() != nil:
			images--
		case item.Message.Message.GetVideoMessage() != nil && !item.Message.Message.GetVideoMessage().GetGifPlayback():
			videos--
		}
	}
	if err == nil && (images != 0 || videos != 0) {
		err = fmt.Errorf("%w: %d pictures and %d videos are missing or too many", ErrNoAlbum, int32(images), int32(videos))
	}
	return items, err
}

// isItemOf reports whether a message says that it belongs to an album.
func (r *Received) isItemOf(album *Received) bool {
	part := r.RawMessage.GetMessageContextInfo().GetMessageAssociation()
	key := part.GetParentMessageKey()
	return part.GetAssociationType() == waE2E.MessageAssociation_MEDIA_ALBUM && key.GetID() == album.Info.ID && key.GetFromMe() && key.GetRemoteJID() != "" &&
		r.Info.Chat == album.Info.Chat && r.Info.Sender.User == album.Info.Sender.User
}

// Pin pins a message in its chat for the given time, or unpins it if that is 0. An empty sender means the phone's own account.
func (p *Phone) Pin(ctx context.Context, chat, sender types.JID, id types.MessageID, lasts time.Duration, opts ...SendOption) (types.MessageID, error) {
	pin, seconds := waE2E.PinInChatMessage_PIN_FOR_ALL, uint32(lasts/time.Second)
	if lasts == 0 {
		pin = waE2E.PinInChatMessage_UNPIN_FOR_ALL
	}
	return p.Send(ctx, chat, &waE2E.Message{
		PinInChatMessage: &waE2E.PinInChatMessage{
			Key: p.client.BuildMessageKey(chat, sender, id), Type: pin.Enum(),
			SenderTimestampMS: proto.Int64(time.Now().UnixMilli()),
		},
		MessageContextInfo: &waE2E.MessageContextInfo{
			MessageAddOnDurationInSecs: &seconds,
			MessageAddOnExpiryType:     waE2E.MessageContextInfo_STATIC.Enum(),
		},
	}, opts...)
}

// Keep keeps a disappearing message in its chat, or undoes that.
func (p *Phone) Keep(ctx context.Context, chat, sender types.JID, id types.MessageID, kept bool, opts ...SendOption) (types.MessageID, error) {
	kind := waE2E.KeepType_KEEP_FOR_ALL
	if !kept {
		kind = waE2E.KeepType_UNDO_KEEP_FOR_ALL
	}
	return p.Send(ctx, chat, &waE2E.Message{KeepInChatMessage: &waE2E.KeepInChatMessage{
		Key: p.client.BuildMessageKey(chat, sender, id), KeepType: kind.Enum(), TimestampMS: proto.Int64(time.Now().UnixMilli()),
	}}, opts...)
}

// SendEvent sends a calendar event that members of the chat can answer.
func (p *Phone) SendEvent(ctx context.Context, to types.JID, name string, start time.Time, opts ...SendOption) (types.MessageID, error) {
	return p.Send(ctx, to, &waE2E.Message{
		EventMessage:       &waE2E.EventMessage{Name: &name, StartTime: proto.Int64(start.Unix()), ExtraGuestsAllowed: proto.Bool(true)},
		MessageContextInfo: p.client.BuildPollCreation("", nil, 0).MessageContextInfo, // borrowed for its message secret
	}, opts...)
}

// AnswerEvent answers a received event and adds the number of extra guests.
func (p *Phone) AnswerEvent(ctx context.Context, event *Received, answer waE2E.EventResponseMessage_EventResponseType, guests int32, opts ...SendOption) (types.MessageID, error) {
	payload, iv, err := p.encrypt(ctx, event, whatsmeow.EncSecretEventResponse, &waE2E.EventResponseMessage{
		Response: answer.Enum(), TimestampMS: proto.Int64(time.Now().UnixMilli()), ExtraGuestCount: &guests,
	})
	if err != nil {
		return "", err
	}
	return p.Send(ctx, event.Info.Chat, &waE2E.Message{EncEventResponseMessage: &waE2E.EncEventResponseMessage{
		EventCreationMessageKey: receivedKey(event), EncPayload: payload, EncIV: iv,
	}}, opts...)
}

// ExtensiblePoll returns a poll that lets every member add options.
func (p *Phone) ExtensiblePoll(question string, options []string) *waE2E.Message {
	poll := p.client.BuildPollCreation(question, options, 0)
	poll.PollCreationMessage.AllowAddOption = proto.Bool(true)
	return poll
}

// EncryptedAsEdit encrypts the added poll option for the use "Poll Edit", which whatsmeow decrypts; the apps use "Poll Add Option".
func EncryptedAsEdit() SendOption { return func(o *sendOptions) { o.asEdit = true } }

// AddOption adds an option to a received poll.
func (p *Phone) AddOption(ctx context.Context, poll *Received, name string, opts ...SendOption) (types.MessageID, error) {
	use := whatsmeow.EncSecretPollAddOption
	if sendOptionsOf(opts).asEdit {
		use = whatsmeow.EncSecretPollEdit
	}
	payload, iv, err := p.encrypt(ctx, poll, use, &waE2E.Message{PollAddOptionMessage: &waE2E.PollAddOptionMessage{
		PollCreationMessageKey: receivedKey(poll), AddOption: &waE2E.PollCreationMessage_Option{OptionName: &name},
	}})
	if err != nil {
		return "", err
	}
	return p.Send(ctx, poll.Info.Chat, &waE2E.Message{SecretEncryptedMessage: &waE2E.SecretEncryptedMessage{
		TargetMessageKey: receivedKey(poll), EncPayload: payload, EncIV: iv, SecretEncType: waE2E.SecretEncryptedMessage_POLL_ADD_OPTION.Enum(),
	}}, opts...)
}

// encrypt encrypts content with the secret of a received message.
func (p *Phone) encrypt(ctx context.Context, about *Received, use whatsmeow.MsgSecretType, content proto.Message) (payload, iv []byte, err error) {
	plain, err := proto.Marshal(content)
	if err != nil {
		return nil, nil, fmt.Errorf("encode an answer: %w", err)
	}
	own := p.LID()
	if about.Info.Sender.Server == types.DefaultUserServer {
		own = p.PN()
	}
	//lint:ignore SA1019 nothing else encrypts answers to events, and the library's version is pinned
	payload, iv, err = p.client.DangerousInternals().EncryptMsgSecret(ctx, own, about.Info.Chat, about.Info.Sender, about.Info.ID, use, plain)
	if err != nil {
		return nil, nil, fmt.Errorf("encrypt with a message's secret: %w", err)
	}
	return payload, iv, nil
}

// receivedKey returns the key of a received message from the phone's own point of view.
func receivedKey(r *Received) *waCommon.MessageKey {
	key := &waCommon.MessageKey{RemoteJID: proto.String(r.Info.Chat.String()), FromMe: proto.Bool(r.Info.IsFromMe), ID: proto.String(r.Info.ID)}
	if r.Info.IsGroup {
		key.Participant = proto.String(r.Info.Sender.ToNonAD().String())
	}
	return key
}

// ReactEncrypted reacts as apps do in a community's announcement group: encrypted with the secret of the message. "" removes the reaction.
func (p *Phone) ReactEncrypted(ctx context.Context, r *Received, emoji string, opts ...SendOption) (types.MessageID, error) {
	plain := p.client.BuildReaction(r.Info.Chat, r.Info.Sender, r.Info.ID, emoji).GetReactionMessage()
	encrypted, err := p.client.EncryptReaction(ctx, &r.Info, plain)
	if err != nil {
		return "", fmt.Errorf("encrypt a reaction: %w", err)
	}
	return p.Send(ctx, r.Info.Chat, &waE2E.Message{EncReactionMessage: encrypted}, opts...)
}

// OpenVote returns the options of a poll that a received vote has chosen.
func (p *Phone) OpenVote(ctx context.Context, r *Received, options []string) (chosen []string, err error) {
	vote, err := p.client.DecryptPollVote(ctx, r.Message)
	if err != nil {
		return nil, fmt.Errorf("decrypt a vote: %w", err)
	}
	for i, hash := range whatsmeow.HashPollOptions(options) {
		if slices.ContainsFunc(vote.GetSelectedOptions(), func(other []byte) bool { return bytes.Equal(hash, other) }) {
			chosen = append(chosen, options[i])
		}
	}
	return chosen, nil
}

// Comment writes a comment on a message, encrypted with its secret.
func (p *Phone) Comment(ctx context.Context, r *Received, text string, opts ...SendOption) (types.MessageID, error) {
	encrypted, err := p.client.EncryptComment(ctx, &r.Info, &waE2E.Message{Conversation: proto.String(text)})
	if err != nil {
		return "", fmt.Errorf("encrypt a comment: %w", err)
	}
	return p.Send(ctx, r.Info.Chat, encrypted, opts...)
}

// OpenReaction decrypts a received reaction that was encrypted with the secret of its target.
func (p *Phone) OpenReaction(ctx context.Context, r *Received) (*waE2E.ReactionMessage, error) {
	reaction, err := p.client.DecryptReaction(ctx, r.Message)
	if err != nil {
		return nil, fmt.Errorf("decrypt a reaction: %w", err)
	}
	return reaction, nil
}
