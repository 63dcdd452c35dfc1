package wa_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// tinyPicture begins as a JPEG file does.
var tinyPicture = []byte{0xff, 0xd8, 0xff, 0xe0, 0, 16, 'J', 'F', 'I', 'F', 0}

// anAd returns the context of the first message after a tap on an ad.
func anAd() *waE2E.ContextInfo {
	return &waE2E.ContextInfo{
		ExternalAdReply: &waE2E.ContextInfo_ExternalAdReplyInfo{
			Title: proto.String("Boots at half price"), Body: proto.String("Only today"),
			MediaType: waE2E.ContextInfo_ExternalAdReplyInfo_VIDEO.Enum(), Thumbnail: tinyPicture, SourceType: proto.String("ad"), SourceID: proto.String("120208"),
			SourceURL: proto.String("https://fb.me/abc"), CtwaClid: proto.String("ARAkLk"), ShowAdAttribution: proto.Bool(true),
		},
		ConversionSource: proto.String("FB_Ads"), ConversionData: []byte("older"), CtwaPayload: []byte{0, 1, 2}, CtwaSignals: proto.String("oldest"),
		EntryPointConversionSource: proto.String("ctwa_ad"), EntryPointConversionApp: proto.String("instagram"),
	}
}

// TestReferral_OfAds is stored, found, and neither forwarded nor quoted.
func TestReferral_OfAds(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a, friend := newAccount(t, network), newPhone(t, network, "15550100301", "Sam")
	opaque := &waE2E.ContextInfo{ConversionSource: proto.String("FB_Ads"), ConversionData: []byte("secret of the apps")}
	large := anAd()
	large.ExternalAdReply.Thumbnail = append(slices.Clone(tinyPicture), make([]byte, 49<<10)...)
	for id, info := range map[string]*waE2E.ContextInfo{
		"AD": anAd(), "LARGE": large, "OPAQUE": opaque, "LINK": {EntryPointConversionSource: proto.String("click_to_chat_link")},
		"ENTRY": {EntryPointConversionSource: proto.String("ctwa_ad")}, "HTML": {ExternalAdReply: &waE2E.ContextInfo_ExternalAdReplyInfo{Thumbnail: []byte("<html><script>")}},
	} {
		if _, err := friend.SendText(ctx, a.phone.PN(), "hello", simnet.ByAd(info), simnet.WithID(id)); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"", "words"} {
		if _, err := friend.SendText(ctx, a.phone.PN(), text, simnet.ByAd(anAd()), simnet.WithID("EMPTY"+text)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the messages", func() bool { return len(a.messages(jidOf(friend))) == 8 })
	thumbnail := "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(tinyPicture)
	ad := bridge.Referral{
		SourceType: "ad", SourceID: "120208", SourceURL: "https://fb.me/abc", Headline: "Boots at half price", Body: "Only today", MediaType: "video",
		Thumbnail: &thumbnail, CTWAClid: "ARAkLk", EntryPoint: "ctwa_ad", Payload: "AAEC", ConversionSource: "FB_Ads",
	}
	tooLarge := ad
	tooLarge.Thumbnail = nil
	for id, want := range map[string]*bridge.Referral{
		"AD": &ad, "LARGE": &tooLarge, "LINK": nil, "ENTRY": {EntryPoint: "ctwa_ad"}, "HTML": {},
		"OPAQUE": {ConversionSource: "FB_Ads", Payload: base64.StdEncoding.EncodeToString([]byte("secret of the apps"))},
	} {
		m := a.message(jidOf(friend), id)
		if diff := cmp.Diff(want, m.Referral); diff != "" || m.Content != "hello" {
			t.Errorf("%s %q: %s", id, m.Content, diff)
		}
	}
	if with, without := a.message(jidOf(friend), "EMPTYwords"), a.message(jidOf(friend), "EMPTY"); with.Content != "words" || without.Content != "Boots at half price" {
		t.Errorf("contents %q and %q", with.Content, without.Content)
	}
	found, err := a.store.Search(ctx, bridge.SearchQuery{Q: "half price", Limit: 10})
	if err != nil || len(found.Items) != 1 || found.Items[0].MsgID != "EMPTY" {
		t.Errorf("found %+v, %v", found.Items, err)
	}

	source := a.message(jidOf(friend), "AD")
	for name, out := range map[string]bridge.Outgoing{
		"forward": {To: jidOf(friend), Content: bridge.Forward{Source: source}}, "quote": {To: jidOf(friend), Content: bridge.Text{Text: "yes?"}, Quote: &source},
	} {
		sent, err := a.manager.Send(ctx, out)
		if err != nil {
			t.Fatal(err)
		}
		got, err := friend.ReceivedID(ctx, sent.ID)
		if err != nil {
			t.Fatal(err)
		}
		if text := got.Message.RawMessage.String(); strings.Contains(text, "Boots") || strings.Contains(text, "FB_Ads") || strings.Contains(text, "ARAkLk") {
			t.Errorf("%s shows the ad: %s", name, text)
		}
		if m := a.message(jidOf(friend), sent.ID); m.Referral != nil {
			t.Errorf("%s: %+v", name, m.Referral)
		}
	}
}

// TestAlbum_OverTheNetwork: its items come before it and after it.
func TestAlbum_OverTheNetwork(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a, friend := newAccount(t, network), newPhone(t, network, "15550100301", "Sam")
	a.device().HoldBack("ALBUM")
	if _, err := friend.SendAlbum(ctx, a.phone.PN(), 2, 1, simnet.WithID("ALBUM")); err != nil {
		t.Fatal(err)
	}
	picture := func(id string, opts ...simnet.SendOption) {
		t.Helper()
		file := simnet.Media{Data: []byte("picture " + id), Mimetype: "image/png"}
		if _, err := friend.SendImage(ctx, a.phone.PN(), file, append(opts, simnet.WithID(id))...); err != nil {
			t.Fatal(err)
		}
	}
	picture("ONE", simnet.InAlbum("ALBUM"))
	eventually(t, "the first part", func() bool { return len(a.messages(jidOf(friend))) == 1 })
	a.device().Release()
	picture("TWO", simnet.PartOf("ALBUM", waE2E.MessageAssociation_MEDIA_ALBUM))
	picture("HD", simnet.PartOf("TWO", waE2E.MessageAssociation_HD_IMAGE_DUAL_UPLOAD))
	picture("ALONE")
	eventually(t, "all of them", func() bool { return len(a.messages(jidOf(friend))) == 4 })
	if m := a.message(jidOf(friend), "ALBUM"); m.Album == nil || *m.Album != (bridge.Album{Images: 2, Videos: 1, Arrived: 2}) {
		t.Errorf("album: %+v", m.Album)
	}
	for id, want := range map[string]bool{"ONE": true, "TWO": true, "ALONE": false} {
		if m := a.message(jidOf(friend), id); (m.AlbumID != nil) != want || want && *m.AlbumID != "ALBUM" {
			t.Errorf("%s is of %v", id, m.AlbumID)
		}
	}
	if _, err := friend.Revoke(ctx, a.phone.PN(), "ONE"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a part is deleted", func() bool { return a.message(jidOf(friend), "ALBUM").Album.Arrived == 1 })
}

// clubOf creates a group with the account, with Sam as the admin and Robin as a
// member.
func clubOf(t *testing.T, network *simnet.Network, a *account) (sam, robin *simnet.Phone, group *simnet.Group, chat bridge.JID) {
	t.Helper()
	sam, robin = newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Robin")
	group, err := sam.CreateGroup(testContext(t), simnet.GroupOptions{Subject: "Club", Members: []*simnet.Phone{robin, a.phone}})
	if err != nil {
		t.Fatal(err)
	}
	chat = bridge.JID(group.JID().String())
	eventually(t, "the group", func() bool {
		g, err := a.store.Group(testContext(t), chat)
		return err == nil && len(g.Participants) == 3
	})
	return sam, robin, group, chat
}

// TestEventResponses_OverTheNetwork: answers that come before their event and after
// it, own ones included; the latest of each person counts.
func TestEventResponses_OverTheNetwork(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	sam, robin, group, chat := clubOf(t, network, a)
	answer := func(by *simnet.Phone, id string, answer waE2E.EventResponseMessage_EventResponseType, guests int32) {
		t.Helper()
		event, err := by.ReceivedID(ctx, id)
		if err == nil {
			_, err = by.AnswerEvent(ctx, event, answer, guests)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	send := func(id string) {
		t.Helper()
		if _, err := sam.SendEvent(ctx, group.JID(), "Party", time.Now().Add(time.Hour), simnet.WithID(id)); err != nil {
			t.Fatal(err)
		}
	}
	send("FIRST")
	eventually(t, "the event", func() bool { return len(a.messages(chat)) == 1 })
	if r := a.message(chat, "FIRST").Event.Responses; r == nil || len(r.Going)+len(r.Maybe)+len(r.NotGoing) != 0 {
		t.Errorf("there are answers: %+v", r)
	}
	answer(robin, "FIRST", waE2E.EventResponseMessage_GOING, 2)
	answer(a.phone, "FIRST", waE2E.EventResponseMessage_MAYBE, 0)
	eventually(t, "the answers", func() bool { return len(a.message(chat, "FIRST").Event.Responses.Maybe) == 1 })
	want := bridge.EventResponses{Going: []bridge.JID{jidOf(robin)}, Maybe: []bridge.JID{jidOf(a.phone)}, NotGoing: []bridge.JID{}, Guests: 2}
	if diff := cmp.Diff(&want, a.message(chat, "FIRST").Event.Responses); diff != "" {
		t.Error(diff)
	}
	answer(robin, "FIRST", waE2E.EventResponseMessage_NOT_GOING, 0)
	eventually(t, "another answer", func() bool { return len(a.message(chat, "FIRST").Event.Responses.NotGoing) == 1 })
	if r := a.message(chat, "FIRST").Event.Responses; len(r.Going) != 0 || r.Guests != 0 {
		t.Errorf("%+v", r)
	}

	a.device().HoldBack("LATE")
	send("LATE")
	answer(robin, "LATE", waE2E.EventResponseMessage_GOING, 0)
	if _, err := sam.SendText(ctx, group.JID(), "behind it"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what is behind it", func() bool { return len(a.messages(chat)) == 2 })
	a.device().Release()
	eventually(t, "an answer that waited", func() bool {
		list := a.messages(chat)
		return len(list) == 3 && len(a.message(chat, "LATE").Event.Responses.Going) == 1
	})
}

// TestPollOptions_OverTheNetwork: encrypted as by the apps and by whatsmeow, before
// the poll and after it. A vote for one counts.
func TestPollOptions_OverTheNetwork(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	sam, robin, group, chat := clubOf(t, network, a)
	for id, options := range map[string][]simnet.SendOption{"APPS": nil, "LIBRARY": {simnet.EncryptedAsEdit()}, "LATE": nil} {
		if id == "LATE" {
			a.device().HoldBack(id)
		}
		if _, err := sam.Send(ctx, group.JID(), sam.ExtensiblePoll("Lunch?", []string{"rice", "bread"}), simnet.WithID(id)); err != nil {
			t.Fatal(err)
		}
		poll, err := robin.ReceivedID(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"soup", "rice"} { // the poll already has rice
			if _, err := robin.AddOption(ctx, poll, name, options...); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := a.phone.Vote(ctx, must(t)(a.phone.ReceivedID(ctx, id)), []string{"soup"}); err != nil {
			t.Fatal(err)
		}
		if id == "LATE" {
			a.device().Release()
		}
		eventually(t, "the vote on "+id, func() bool {
			for _, m := range a.messages(chat) {
				if m.ID == id && len(m.Poll.Options) == 3 && m.Poll.Options[2].Votes == 1 {
					return true
				}
			}
			return false
		})
		want := bridge.PollOption{Name: "soup", Votes: 1, Voters: []bridge.JID{jidOf(a.phone)}, AddedBy: jidOf(robin)}
		if diff := cmp.Diff(want, a.message(chat, id).Poll.Options[2]); diff != "" {
			t.Errorf("%s: %s", id, diff)
		}
	}
}

func must(t *testing.T) func(*simnet.Received, error) *simnet.Received {
	return func(r *simnet.Received, err error) *simnet.Received {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// TestMarks_OverTheNetwork: messages are pinned and kept by people who may, even
// before they have come.
func TestMarks_OverTheNetwork(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	sam, robin, group, chat := clubOf(t, network, a)
	say := func(id string) {
		t.Helper()
		if _, err := sam.SendText(ctx, group.JID(), id, simnet.Ephemeral(86400), simnet.WithID(id)); err != nil {
			t.Fatal(err)
		}
	}
	mark := func(by *simnet.Phone, id string, lasts time.Duration, kept bool) {
		t.Helper()
		if _, err := by.Pin(ctx, group.JID(), sam.LID(), id, lasts); err != nil {
			t.Fatal(err)
		}
		if _, err := by.Keep(ctx, group.JID(), sam.LID(), id, kept); err != nil {
			t.Fatal(err)
		}
	}
	is := func(what, id string, lasts time.Duration) {
		t.Helper()
		eventually(t, what, func() bool {
			for _, m := range a.messages(chat) {
				if m.ID == id && m.Kept == (lasts > 0) && (m.ExpiresAt == nil) == m.Kept && (m.PinnedUntil != nil) == (lasts > 0) {
					return lasts == 0 || time.Until(m.PinnedUntil.Time) > lasts-2*time.Minute && time.Until(m.PinnedUntil.Time) < lasts+2*time.Minute
				}
			}
			return false
		})
	}
	const day, month = 24 * time.Hour, 30 * 24 * time.Hour
	say("FIRST")
	mark(robin, "FIRST", day, true)
	is("a member's marks", "FIRST", day)
	mark(robin, "FIRST", 0, false)
	is("they are taken off", "FIRST", 0)
	mark(a.phone, "FIRST", 1000*day, true)
	is("the account's own, for no longer than the apps allow", "FIRST", month)

	a.device().HoldBack("LATE")
	say("LATE")
	mark(robin, "LATE", day, true)
	mark(robin, "FIRST", 0, false)
	is("what came after", "FIRST", 0)
	a.device().Release()
	is("marks that waited", "LATE", day)

	if err := group.SetLocked(ctx, sam, true); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the restriction", func() bool {
		g, err := a.store.Group(ctx, chat)
		return err == nil && g.IsLocked
	})
	mark(robin, "FIRST", day, true)
	mark(sam, "LATE", 0, false)
	is("the admin's marks", "LATE", 0)
	is("a member's do not count now", "FIRST", 0)

	var between types.JID = a.phone.PN()
	if _, err := sam.SendText(ctx, between, "for you", simnet.WithID("PRIVATE")); err != nil {
		t.Fatal(err)
	}
	if _, err := sam.Pin(ctx, between, types.EmptyJID, "PRIVATE", day); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a pin between two", func() bool {
		list := a.messages(jidOf(sam))
		return len(list) == 1 && list[0].PinnedUntil != nil
	})
}
