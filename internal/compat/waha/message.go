package waha

import (
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// Message is a message in WAHA's form.
type Message struct {
	ID          string   `json:"id"`
	Timestamp   int64    `json:"timestamp"`
	From        string   `json:"from"`
	FromMe      bool     `json:"fromMe"`
	Source      string   `json:"source"`
	To          *string  `json:"to"`
	Participant *string  `json:"participant"`
	Body        string   `json:"body"`
	HasMedia    bool     `json:"hasMedia"`
	Media       *media   `json:"media"`
	MediaURL    *string  `json:"mediaUrl"`
	Ack         int      `json:"ack"`
	AckName     string   `json:"ackName"`
	VCards      []string `json:"vCards"`
	Location    *place   `json:"location"`
	ReplyTo     *replyTo `json:"replyTo"`
	Data        data     `json:"_data"`
}

type media struct {
	URL      string  `json:"url"`
	MimeType string  `json:"mimetype"`
	FileName *string `json:"filename"` // of documents
	S3       any     `json:"s3"`
	Error    any     `json:"error"`
}

// place is a location. Its numbers are texts.
type place struct {
	Live        bool    `json:"live"`
	Latitude    string  `json:"latitude"`
	Longitude   string  `json:"longitude"`
	Name        *string `json:"name"`
	Address     *string `json:"address"`
	URL         *string `json:"url"`
	Description *string `json:"description"`
	Thumbnail   *string `json:"thumbnail"`
}

type replyTo struct {
	ID          string  `json:"id"`
	Participant *string `json:"participant"`
	Body        *string `json:"body"`
	Data        any     `json:"_data"` // quoted message in the API's form
}

// data has the parts of the engine's own message that clients read.
type data struct {
	Info       info           `json:"Info"`
	Message    map[string]any `json:"Message"`
	NotifyName string         `json:"notifyName"`
	PushName   string         `json:"pushName"`
}

type info struct {
	ID        string     `json:"ID"`
	Chat      bridge.JID `json:"Chat"`
	Sender    bridge.JID `json:"Sender"`
	SenderAlt bridge.JID `json:"SenderAlt"`
	IsFromMe  bool       `json:"IsFromMe"`
	IsGroup   bool       `json:"IsGroup"`
	PushName  string     `json:"PushName"`
	Timestamp string     `json:"Timestamp"`
	Type      string     `json:"Type"`
	MediaType string     `json:"MediaType"`
}

// nameOf returns WAHA's id of a message.
func nameOf(m bridge.Message) messageID {
	id := messageID{FromMe: m.FromMe, Chat: m.Chat, ID: m.ID}
	if m.Chat.IsGroup() {
		id.Sender = m.SenderJID
	}
	return id
}

// messageOf returns a message in WAHA's form. base is the adapter's address, with which links to files begin. If
// it is empty, the message has no links.
func messageOf(m bridge.Message, base string) Message {
	shown := Message{
		ID: nameOf(m).String(), Timestamp: m.Timestamp.Unix(), From: compat.AsChat(m.Chat), FromMe: m.FromMe, Source: "app",
		Body: m.Content, HasMedia: m.Media != nil, VCards: []string{}, Location: placeOf(m), ReplyTo: replyOf(m),
		Data: data{
			Info: info{
				ID: m.ID, Chat: m.Chat, Sender: m.SenderJID, SenderAlt: m.SenderLID, IsFromMe: m.FromMe, IsGroup: m.Chat.IsGroup(), PushName: m.PushName,
				Timestamp: m.Timestamp.UTC().Format("2006-01-02T15:04:05Z"), Type: "text",
			},
			Message: contentOf(m), NotifyName: m.PushName, PushName: m.PushName,
		},
	}
	if compat.IsFromDevice(m) {
		shown.Source = "api"
	}
	if m.Chat.IsGroup() {
		shown.Participant = new(compat.AsChat(m.SenderJID))
		if !m.FromMe {
			shown.To = shown.Participant
		}
	}
	if m.Media != nil {
		shown.Data.Info.Type, shown.Data.Info.MediaType = "media", mediaKind(m.Media)
		shown.Media, shown.MediaURL = mediaOf(m, base)
	}
	for _, card := range m.Contacts {
		shown.VCards = append(shown.VCards, card.VCard)
	}
	shown.Ack, shown.AckName = ackOf(m)
	return shown
}

// mediaKind returns the engine's name of a kind of file.
func mediaKind(m *bridge.Media) string {
	if m.Type == bridge.MediaAudio && m.PTT {
		return "ptt"
	}
	return string(m.Type)
}

// mediaOf returns the file of a message and its link, or nil if base is empty.
func mediaOf(m bridge.Message, base string) (*media, *string) {
	if base == "" {
		return nil, nil
	}
	id := messageID{FromMe: m.FromMe, Chat: m.Chat, ID: bridge.PathID(m.ID)} // the sender has chosen the id
	file := &media{URL: base + "/api/files/" + session + "/" + id.String() + "." + compat.Extension(m.Media.MimeType), MimeType: m.Media.MimeType}
	if m.Media.Type == bridge.MediaDocument {
		file.FileName = &m.Media.FileName
	}
	return file, &file.URL
}

func placeOf(m bridge.Message) *place {
	l := m.Location
	if l == nil {
		return nil
	}
	number := func(degrees float64) string { return strconv.FormatFloat(degrees, 'f', -1, 64) }
	shown := &place{Live: l.IsLive, Latitude: number(l.Latitude), Longitude: number(l.Longitude)}
	for field, text := range map[**string]string{&shown.Name: l.Name, &shown.Address: l.Address, &shown.URL: l.URL} {
		if text != "" {
			*field = &text
		}
	}
	return shown
}

func replyOf(m bridge.Message) *replyTo {
	if m.ContextInfo == nil || m.ContextInfo.QuotedMsgID == nil {
		return nil
	}
	reply := &replyTo{ID: *m.ContextInfo.QuotedMsgID}
	if by := m.ContextInfo.QuotedSenderJID; by != "" {
		reply.Participant = new(compat.AsChat(by))
	}
	if m.Quoted != nil {
		reply.Body, reply.Data = &m.Quoted.Content, m.Quoted
	}
	return reply
}

// contentOf returns the content that clients read, with the engine's names.
func contentOf(m bridge.Message) map[string]any {
	switch {
	case m.MessageType == bridge.TypeText || m.MessageType == bridge.TypeExtendedText || m.MessageType == "":
		return map[string]any{bridge.TypeText: m.Content}
	case m.Media != nil:
		content := map[string]any{"mimetype": m.Media.MimeType}
		if m.Media.Caption != "" {
			content["caption"] = m.Media.Caption
		}
		if m.Media.FileName != "" {
			content["fileName"] = m.Media.FileName
		}
		return map[string]any{m.MessageType: content}
	case m.Poll != nil:
		return map[string]any{m.MessageType: map[string]any{"name": m.Poll.Name, "options": optionsOf(m.Poll)}}
	}
	return map[string]any{m.MessageType: map[string]any{"text": m.Content}}
}

func optionsOf(p *bridge.PollTally) []map[string]string {
	options := make([]map[string]string, len(p.Options))
	for i, option := range p.Options {
		options[i] = map[string]string{"optionName": option.Name}
	}
	return options
}

// acks has WAHA's number and name of each status.
var acks = map[bridge.Delivery]struct {
	number int
	name   string
}{
	bridge.DeliveryFailed: {-1, "ERROR"}, bridge.DeliveryPending: {0, "PENDING"}, bridge.DeliverySent: {1, "SERVER"},
	bridge.DeliveryDelivered: {2, "DEVICE"}, bridge.DeliveryRead: {3, "READ"}, bridge.DeliveryPlayed: {4, "PLAYED"},
}

// ackOf returns the status of a message. Messages of other people were delivered.
func ackOf(m bridge.Message) (number int, name string) {
	status := bridge.DeliveryDelivered
	if m.Status != nil {
		status = *m.Status
	}
	return acks[status].number, acks[status].name
}

// isAck reports whether a message has a status, given by number or name.
func isAck(m bridge.Message, wanted string) bool {
	number, name := ackOf(m)
	return strings.EqualFold(wanted, name) || wanted == strconv.Itoa(number)
}
