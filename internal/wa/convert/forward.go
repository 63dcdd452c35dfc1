package convert

import (
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// forwardForm says what forwarding makes of a kind of message.
type forwardForm string

const (
	notForwarded forwardForm = "no"
	asIs         forwardForm = "as it is"
	asPlace      forwardForm = "as a location that does not move"
	asPoll       forwardForm = "as a new poll without votes"
	// asWords is for content that the apps show only from businesses, or only in the original chat.
	asWords forwardForm = "as its text, under its file"
)

// maxForwardingScore means "forwarded many times". The apps count no further.
const maxForwardingScore = 127

// Forwarded copies a stored message without its wrappers, quotes, mentions and secrets. Its file is declared
// as computers open it, see [Declare].
// score marks it as forwarded; 0 for an own message on its first way, which is not marked.
func Forwarded(src bridge.Message) (msg *waE2E.Message, score uint32, err error) {
	if err := src.Forwardable(); err != nil {
		return nil, 0, err
	}
	original := new(waE2E.Message)
	if err := proto.Unmarshal(src.Raw, original); err != nil {
		return nil, 0, err
	}
	if msg = contentAlone(original); msg == nil {
		return nil, 0, bridge.Invalid("the message has no content and cannot be forwarded")
	}
	before := contextInfo(msg).GetForwardingScore()
	if msg, err = forwardedContent(msg); err != nil {
		return nil, 0, err
	}
	clearContext(msg)
	if msg.GetDocumentMessage().GetCaption() != "" {
		msg = captioned(msg)
	}
	if err := Declare(msg); err != nil {
		return nil, 0, err
	}
	if !src.FromMe || before > 0 {
		score = min(before, maxForwardingScore-1) + 1
	}
	return msg, score, nil
}

// forwardedContent returns the content as it is sent on.
func forwardedContent(msg *waE2E.Message) (*waE2E.Message, error) {
	form := asIs
	if k := kindOf[typeName(msg)]; k != nil {
		form = k.forward
	}
	switch form {
	case asPlace:
		live := msg.GetLiveLocationMessage()
		return &waE2E.Message{LocationMessage: &waE2E.LocationMessage{
			DegreesLatitude: live.DegreesLatitude, DegreesLongitude: live.DegreesLongitude, Name: live.Caption, JPEGThumbnail: live.JPEGThumbnail,
		}}, nil
	case asPoll:
		poll := pollCreation(msg)
		var options []string
		for _, option := range poll.GetOptions() {
			options = append(options, option.GetOptionName())
		}
		return pollMessage(poll.GetName(), options, int(poll.GetSelectableOptionsCount())), nil
	case asWords:
		return inWords(read(msg))
	}
	if msg.Conversation != nil { // plain text has no place for a context
		return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: msg.Conversation}}, nil
	}
	return msg, nil
}

// inWords returns the message's file with its text as the caption, or the text alone.
func inWords(s shown) (*waE2E.Message, error) {
	forwarded := new(waE2E.Message)
	switch file := proto.Clone(s.file).(type) {
	case *waE2E.ImageMessage:
		forwarded.ImageMessage = file
	case *waE2E.VideoMessage:
		forwarded.VideoMessage = file
	case *waE2E.DocumentMessage:
		forwarded.DocumentMessage = file
	}
	if s.text == "" && contentField(forwarded) == nil {
		return nil, bridge.Invalid("the message shows neither text nor a file and cannot be forwarded")
	}
	if s.text == "" || setCaption(forwarded, s.text) {
		return forwarded, nil
	}
	return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: &s.text}}, nil
}
