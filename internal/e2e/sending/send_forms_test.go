package sending

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestSend_FormsOnTheWire sends every kind into direct chats and groups of either
// addressing, and compares every field of the phones' decrypted messages.
func TestSend_FormsOnTheWire(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	annas, bens, hike, club := c.Conversations(t)
	for name, chat := range map[string]*Conversation{
		"between two, by LID": annas, "between two, by number": bens, "group by LID": hike, "old group by number": club,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &room{Conversation: chat, b: c.Bridge}
			r.TB = t
			r.texts()
			r.mentions()
			r.quotes()
			r.reactions()
			r.places()
			r.polls()
			r.cards()
		})
	}
}

// TestSend_QuotesFromAnotherChat quotes a message of another chat: the quote names
// that chat.
func TestSend_QuotesFromAnotherChat(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	annas, bens, hike, club := c.Conversations(t)
	for _, way := range []struct {
		name     string
		from, to *Conversation
		author   simnet.JID // the quoted author, in the readers' form
		chat     simnet.JID // the quoted message's chat, in the readers' form
	}{
		{"group to person", hike, bens, c.Anna.LID(), hike.In},
		{"person to person", annas, bens, c.Anna.LID(), c.Anna.LID()},
		{"person to group by LID", bens, hike, c.Ben.LID(), c.Ben.LID()},
		{"person to group by number", annas, club, c.Anna.PN(), c.Anna.PN()},
		{"group to group", club, hike, c.Ben.LID(), club.In},
	} {
		t.Run(way.name, func(t *testing.T) {
			from, to := &room{Conversation: way.from, b: c.Bridge}, &room{Conversation: way.to, b: c.Bridge}
			from.TB, to.TB = t, t
			quoted := from.hears("said over there, for " + way.name)
			id := to.sends("send", Object{"text": "as I read", "quotedChatJid": from.In.String(), "quotedMsgId": quoted})
			to.arrives(id, extended("as I read", &waE2E.ContextInfo{
				StanzaID: &quoted, Participant: proto.String(way.author.String()), RemoteJID: proto.String(way.chat.String()),
				QuotedMessage: conversationText("said over there, for " + way.name),
			}))
		})
	}
}

// TestSend_KeepsTheTimer sends into chats whose messages disappear.
func TestSend_KeepsTheTimer(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	_, bens, hike, _ := c.Conversations(t)
	group, ok := c.Network.Group(hike.In)
	if !ok {
		t.Fatal("no such group")
	}
	if err := group.SetEphemeral(Within(t), c.Owner, ChatTimer); err != nil {
		t.Fatal(err)
	}
	set := time.Now().Add(-time.Minute)
	if err := c.Ben.SetDisappearingAt(Within(t), c.Owner.PN(), ChatTimer, set); err != nil {
		t.Fatal(err)
	}
	for _, chat := range []*Conversation{bens, hike} {
		r := &room{Conversation: chat, b: c.Bridge}
		timer := &waE2E.ContextInfo{Expiration: proto.Uint32(ChatTimer)}
		if chat == bens { // the network does not report the time of a group's
			timer.EphemeralSettingTimestamp = proto.Int64(set.Unix())
		}
		heard := r.hears("the timer is set") // comes after the notification of the timer
		r.arrives(r.sends("send", Object{"text": "soon gone"}), extended("soon gone", timer))
		r.arrives(r.sends("send-location", Object{"latitude": 1.5, "longitude": -2.5}), &waE2E.Message{LocationMessage: &waE2E.LocationMessage{
			DegreesLatitude: proto.Float64(1.5), DegreesLongitude: proto.Float64(-2.5), ContextInfo: timer,
		}})
		r.arrives(r.sends("send-poll", Object{"name": "?", "values": []string{"a", "b"}}), poll("?", 1, timer, "a", "b"))
		answered := r.sends("send", Object{"text": "I heard", "quotedMsgId": heard})
		r.arrives(answered, extended("I heard", r.quote(heard, conversationText("the timer is set"), timer)))
		forwarded := r.forwards(r.In, heard)
		r.arrives(forwarded, extended("the timer is set", &waE2E.ContextInfo{
			Expiration: timer.Expiration, EphemeralSettingTimestamp: timer.EphemeralSettingTimestamp, IsForwarded: proto.Bool(true), ForwardingScore: proto.Uint32(1),
		}))
	}

	if err := c.Ben.SetDisappearing(Within(t), c.Owner.PN(), 0); err != nil {
		t.Fatal(err)
	}
	if err := group.SetEphemeral(Within(t), c.Owner, 0); err != nil {
		t.Fatal(err)
	}
	for _, chat := range []*Conversation{bens, hike} {
		r := &room{Conversation: chat, b: c.Bridge}
		r.hears("the timer is off")
		r.arrives(r.sends("send", Object{"text": "here to stay"}), conversationText("here to stay"))
	}
}

// room is a conversation that the bridge sends into.
type room struct {
	*Conversation
	b *Process
}

// sends calls a route that sends into this chat and returns the message's id.
func (r *room) sends(route string, body Object) simnet.MessageID {
	r.Helper()
	return SentID(r, r.b.Post("/api/messages/"+route, With(Object{"jid": r.In.String()}, body)))
}

// forwards forwards a stored message into this chat.
func (r *room) forwards(from simnet.JID, id simnet.MessageID) simnet.MessageID {
	r.Helper()
	return SentID(r, r.b.Post("/api/messages/forward", Object{"sourceChatJid": from.String(), "sourceMsgId": id, "destJid": r.In.String()}))
}

// hears makes by write a text and waits until the bridge has stored it.
func (r *room) hears(text string, options ...simnet.SendOption) simnet.MessageID {
	r.Helper()
	id := Say(r, r.By, r.ToMe, text, options...)
	r.stored(id)
	return id
}

// stored waits for a message in the API and returns it.
func (r *room) stored(id simnet.MessageID) (found bridge.Message) {
	r.Helper()
	Eventually(r, func() error {
		m, ok := r.b.Message(r.List(), id)
		if !ok {
			return fmt.Errorf("message %s is not stored", id)
		}
		found = m
		return nil
	})
	return found
}

// readers returns the phones that show this chat's messages: the others', and the
// account's own.
func (r *room) readers() []*simnet.Phone {
	readers := []*simnet.Phone{r.By, r.Me}
	if r.Witness != nil {
		readers = append(readers, r.Witness)
	}
	return readers
}

// arrives compares every phone's decrypted message with the wanted one.
func (r *room) arrives(id simnet.MessageID, want *waE2E.Message) {
	r.Helper()
	for _, phone := range r.readers() {
		got := decrypted(r, phone, id)
		if secret := got.GetMessageContextInfo().GetMessageSecret(); want.ReactionMessage == nil && len(secret) != 32 {
			r.Errorf("in %s the message for %s has a secret of %d bytes, want 32", r.In, phone.Name(), len(secret))
		}
		got.MessageContextInfo = nil
		if inner := got.GetDocumentWithCaptionMessage().GetMessage(); inner != nil {
			inner.MessageContextInfo = nil // whatsmeow copies the outer one while it unwraps
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			r.Errorf("in %s, what %s got (-want +got):\n%s", r.In, phone.Name(), diff)
		}
	}
}

// decrypted returns a phone's message without its wrappers and the protocol's
// additions.
func decrypted(t testing.TB, phone *simnet.Phone, id simnet.MessageID) *waE2E.Message {
	t.Helper()
	got := Must(phone.ReceivedID(Within(t), id))(t)
	raw := proto.Clone(got.RawMessage).(*waE2E.Message)
	if inner := raw.GetDeviceSentMessage().GetMessage(); inner != nil {
		secret := raw.MessageContextInfo
		raw = inner
		if raw.MessageContextInfo == nil {
			raw.MessageContextInfo = secret
		}
	}
	raw.SenderKeyDistributionMessage = nil
	return raw
}

func conversationText(text string) *waE2E.Message {
	return &waE2E.Message{Conversation: &text}
}

func extended(text string, info *waE2E.ContextInfo) *waE2E.Message {
	return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: &text, ContextInfo: info}}
}

func poll(question string, selectable uint32, info *waE2E.ContextInfo, options ...string) *waE2E.Message {
	creation := &waE2E.PollCreationMessage{Name: &question, SelectableOptionsCount: &selectable, ContextInfo: info}
	for _, option := range options {
		creation.Options = append(creation.Options, &waE2E.PollCreationMessage_Option{OptionName: &option})
	}
	return &waE2E.Message{PollCreationMessage: creation}
}

// quote returns the context of an answer to a message by by in the same chat.
func (r *room) quote(id simnet.MessageID, quoted *waE2E.Message, more ...*waE2E.ContextInfo) *waE2E.ContextInfo {
	info := &waE2E.ContextInfo{StanzaID: &id, Participant: proto.String(r.themHere().String()), QuotedMessage: quoted}
	for _, addition := range more {
		proto.Merge(info, addition)
	}
	return info
}

// themHere and usHere return both sides as this chat's members know them: direct
// messages all go to LIDs.
func (r *room) themHere() simnet.JID {
	if r.Witness == nil {
		return r.By.LID()
	}
	return r.BySelf
}

func (r *room) usHere() simnet.JID {
	if r.Witness == nil {
		return r.Me.LID()
	}
	return r.MeHere
}

func (r *room) texts() {
	for _, text := range []string{"hello", "  spaces\tand\r\nlines \n", "emoji 👩‍👩‍👧‍👦 Ünï \u2028 <b>&amp;</b> \\ %s", "x\u0000y"} {
		id := r.sends("send", Object{"text": text})
		r.arrives(id, conversationText(text))
		if got := r.stored(id); got.Content != text || got.MessageType != "conversation" {
			r.Errorf("stored as %s: %q, want %q", got.MessageType, got.Content, text)
		}
	}
}

// mentions checks that names are highlighted where the text has the @user of the
// mentioned identity.
func (r *room) mentions() {
	them, us := r.themHere(), r.usHere()
	longer := r.By.Number() + "7" // another person's number with theirs as its prefix
	for _, say := range []struct{ text, shown string }{
		{"no name", "no name @" + them.User + " @" + us.User},
		{"@" + r.By.Number() + " and @" + r.Me.LID().User + "!", "@" + them.User + " and @" + us.User + "!"},
		{"@" + r.By.LID().User + ", @" + r.By.LID().User, "@" + them.User + ", @" + them.User + " @" + us.User},
		{"@" + longer, "@" + longer + " @" + them.User + " @" + us.User},
		{"@" + longer + "@" + r.By.Number() + "@" + r.Me.Number(), "@" + longer + "@" + them.User + "@" + us.User},
	} {
		id := r.sends("send", Object{"text": say.text, "mentions": []string{r.By.LID().String(), r.Me.PN().String(), r.By.PN().String()}})
		r.arrives(id, extended(say.shown, &waE2E.ContextInfo{MentionedJID: []string{them.String(), us.String()}}))
		if got := r.stored(id); got.Content != say.text {
			r.Errorf("stored: %q, want the text as it was sent, %q", got.Content, say.text)
		}
	}
}

func (r *room) quotes() {
	text := r.hears("quote this")
	r.arrives(r.sends("send", Object{"text": "quoted", "quotedMsgId": text}), extended("quoted", r.quote(text, conversationText("quote this"))))
	here := r.In // by its other name, if it has one
	if r.Witness == nil {
		here = r.By.LID()
	}
	r.arrives(r.sends("send", Object{"text": "quoted", "quotedMsgId": text, "quotedChatJid": here.String()}),
		extended("quoted", r.quote(text, conversationText("quote this"))))

	// The quoted message's own context is dropped.
	nested := r.hears("an answer", simnet.QuotingID(text, r.BySelf, "quote this"), simnet.Forwarded(3))
	r.arrives(r.sends("send", Object{"text": "deeper", "quotedMsgId": nested}), extended("deeper", r.quote(nested, extended("an answer", nil))))

	file := simnet.Media{Data: []byte("a picture to quote"), Mimetype: "image/png", Caption: "look", Width: 3, Height: 4, Thumbnail: []byte("small")}
	image := Must(r.By.SendImage(Within(r), r.ToMe, file, simnet.Ephemeral(60)))(r)
	pictured := r.stored(image)
	quoted := decrypted(r, r.Me, image).GetEphemeralMessage().GetMessage()
	quoted.MessageContextInfo, quoted.ImageMessage.ContextInfo = nil, nil
	timer := r.timer(60)
	if r.Witness == nil { // the message with the timer says since when it is set
		timer.EphemeralSettingTimestamp = proto.Int64(pictured.Timestamp.Unix())
	}
	r.arrives(r.sends("send", Object{"text": "nice", "quotedMsgId": image}), extended("nice", r.quote(image, quoted, timer)))
	r.arrives(r.sends("send-location", Object{"latitude": 52.5, "longitude": 13.4, "name": "there", "quotedMsgId": image}),
		&waE2E.Message{LocationMessage: &waE2E.LocationMessage{
			DegreesLatitude: proto.Float64(52.5), DegreesLongitude: proto.Float64(13.4), Name: proto.String("there"), ContextInfo: r.quote(image, quoted, timer),
		}})
	r.arrives(r.sends("send-poll", Object{"name": "nice?", "values": []string{"y", "n"}, "quotedMsgId": image}),
		poll("nice?", 1, r.quote(image, quoted, timer), "y", "n"))
	contact := r.sends("send-contact", Object{"contacts": []Object{{"displayName": "Dora"}}, "quotedMsgId": image})
	r.arrives(contact, &waE2E.Message{ContactMessage: &waE2E.ContactMessage{
		DisplayName: proto.String("Dora"), Vcard: proto.String("BEGIN:VCARD\nVERSION:3.0\nN:;Dora;;;\nFN:Dora\nEND:VCARD"), ContextInfo: r.quote(image, quoted, timer),
	}})
	r.setTimer(0)

	own := r.sends("send", Object{"text": "said by myself"})
	r.arrives(r.sends("send", Object{"text": "I repeat", "quotedMsgId": own}), extended("I repeat", &waE2E.ContextInfo{
		StanzaID: &own, Participant: proto.String(r.usHere().String()), QuotedMessage: conversationText("said by myself"),
	}))
}

// timer returns the context in a chat whose messages disappear: in direct chats
// each message repeats the timer, in groups the group's setting counts.
func (r *room) timer(seconds uint32) *waE2E.ContextInfo {
	if r.Witness != nil {
		return &waE2E.ContextInfo{}
	}
	return &waE2E.ContextInfo{Expiration: &seconds}
}

// setTimer changes the timer of a direct chat and waits for the bridge.
func (r *room) setTimer(seconds uint32) {
	r.Helper()
	if r.Witness != nil {
		return
	}
	if err := r.By.SetDisappearing(Within(r), r.ToMe, seconds); err != nil {
		r.Fatal(err)
	}
	r.hears(fmt.Sprintf("the timer is at %d", seconds))
}

// reactions sets, changes and removes reactions on others' and own messages, and
// checks the remaining ones in the API.
func (r *room) reactions() {
	theirs := r.hears("react to this")
	own := r.sends("send", Object{"text": "and to this"})
	for _, target := range []struct {
		id     simnet.MessageID
		fromMe bool
	}{{theirs, false}, {own, true}} {
		for _, emoji := range []string{"👍🏽", "❤️", ""} {
			sent := SentID(r, r.b.Post("/api/messages/react", Object{"chatJid": r.In.String(), "msgId": target.id, "emoji": emoji}))
			for _, phone := range r.readers() {
				got := decrypted(r, phone, sent).GetReactionMessage()
				key := got.GetKey()
				participant := ""
				if !target.fromMe && r.Witness != nil {
					participant = r.BySelf.String()
				}
				if got == nil || got.GetText() != emoji || key.GetID() != target.id || key.GetFromMe() != target.fromMe || key.GetParticipant() != participant {
					r.Errorf("in %s %s got the reaction %v, want %q on %s", r.In, phone.Name(), got, emoji, target.id)
				}
				if key.GetRemoteJID() != r.In.String() {
					r.Errorf("in %s the reaction names the chat %s", r.In, key.GetRemoteJID())
				}
				if at := time.UnixMilli(got.GetSenderTimestampMS()); time.Since(at) > TestTimeout || time.Until(at) > time.Second {
					r.Errorf("in %s the reaction is of %v", r.In, at)
				}
			}
			var want []bridge.MessageReaction
			if emoji != "" {
				want = []bridge.MessageReaction{{SenderJID: bridge.JID(r.Me.PN().String()), Emoji: emoji}}
			}
			got := r.stored(target.id).Reactions
			if !slices.EqualFunc(got, want, func(a, b bridge.MessageReaction) bool { return a.SenderJID == b.SenderJID && a.Emoji == b.Emoji }) {
				r.Errorf("in %s after %q the API shows %v", r.In, emoji, got)
			}
			if _, listed := r.b.Message(r.List(), sent); listed {
				r.Errorf("in %s the reaction is listed as a message", r.In)
			}
		}
	}
}

func (r *room) places() {
	for _, place := range []struct {
		body  Object
		want  *waE2E.LocationMessage
		shown string
	}{
		{Object{"latitude": 52.5163, "longitude": 13.3777, "name": "Brandenburger Tor", "address": "Pariser Platz, 10117 Berlin"}, &waE2E.LocationMessage{
			DegreesLatitude: proto.Float64(52.5163), DegreesLongitude: proto.Float64(13.3777), Name: proto.String("Brandenburger Tor"), Address: proto.String("Pariser Platz, 10117 Berlin"),
		}, "Brandenburger Tor, Pariser Platz, 10117 Berlin"},
		{Object{"latitude": -90, "longitude": 180}, &waE2E.LocationMessage{DegreesLatitude: proto.Float64(-90), DegreesLongitude: proto.Float64(180)}, "-90,180"},
		{Object{"latitude": 0, "longitude": 0, "address": "off Africa"}, &waE2E.LocationMessage{
			DegreesLatitude: proto.Float64(0), DegreesLongitude: proto.Float64(0), Address: proto.String("off Africa"),
		}, "off Africa"},
	} {
		id := r.sends("send-location", place.body)
		r.arrives(id, &waE2E.Message{LocationMessage: place.want})
		if got := r.stored(id); got.Content != place.shown || got.MessageType != "locationMessage" {
			r.Errorf("stored as %s: %q, want %q", got.MessageType, got.Content, place.shown)
		}
	}
}

// polls sends polls with one, two, or any number of choices. The others vote, and
// the votes show in the tally.
func (r *room) polls() {
	options := []string{"Berge", "Meer", "Stadt"}
	for _, ask := range []struct {
		body       Object
		selectable uint32
		votes      []string
	}{
		{Object{}, 1, []string{"Meer"}},
		{Object{"selectableCount": 2}, 2, []string{"Berge", "Stadt"}},
		{Object{"selectableCount": 0}, 0, options},
		{Object{"selectableCount": 3}, 3, nil},
	} {
		id := r.sends("send-poll", With(Object{"name": "Wohin?", "values": options}, ask.body))
		r.arrives(id, poll("Wohin?", ask.selectable, nil, options...))
		theirs := Must(r.By.ReceivedID(Within(r), id))(r)
		Must(r.By.Vote(Within(r), theirs, []string{"Berge"}))(r)
		Must(r.By.Vote(Within(r), theirs, ask.votes))(r)
		voter := bridge.JID(r.By.PN().String())
		Eventually(r, func() error {
			got := r.stored(id).Poll
			if got == nil || got.Name != "Wohin?" || got.SelectableCount != int(ask.selectable) || len(got.Options) != len(options) {
				return fmt.Errorf("the poll is %+v", got)
			}
			for i, option := range got.Options {
				voted := slices.Contains(ask.votes, option.Name)
				if option.Name != options[i] || (option.Votes == 1) != voted || slices.Contains(option.Voters, voter) != voted {
					return fmt.Errorf("with votes for %v the tally is %+v", ask.votes, got.Options)
				}
			}
			return nil
		})
	}
}
