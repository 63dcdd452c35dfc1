package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// collected is what a list yields, as one text each.
func collected[T any](t *testing.T, list iter.Seq2[T, error], text func(T) string) (all []string) {
	t.Helper()
	for item, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text(item))
	}
	return all
}

func TestLists_AreFollowedByCursor(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		var want []string
		for i := range 7 {
			id := fmt.Sprint("M", i)
			b.know(said(grace, id, "word "+id, i))
			want = append(want, id)
		}
		b.know(said(club, "G1", "another", 8))
		messages := b.AllMessages(t.Context(), bridge.MessageQuery{Chat: grace, Order: bridge.OrderAsc, Limit: 3})
		ids := collected(t, messages, func(m bridge.Message) string {
			if m.Chat != grace || m.Content != "word "+m.ID {
				t.Errorf("message %+v", m)
			}
			return m.ID
		})
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Errorf("messages: %s", diff)
		}
		skipped := b.AllMessages(t.Context(), bridge.MessageQuery{Chat: grace, Order: bridge.OrderAsc, Limit: 2, Offset: 3})
		if diff := cmp.Diff(want[3:], collected(t, skipped, func(m bridge.Message) string { return m.ID })); diff != "" {
			t.Errorf("messages from the fourth on: %s", diff)
		}
		chats := b.AllChats(t.Context(), bridge.ChatQuery{Limit: 1})
		if diff := cmp.Diff([]string{string(club), string(grace)}, collected(t, chats, func(c bridge.Chat) string { return string(c.JID) })); diff != "" {
			t.Errorf("chats: %s", diff)
		}
		matches := b.AllMatches(t.Context(), bridge.SearchQuery{Q: "word", Limit: 3})
		if found := collected(t, matches, func(m bridge.Match) string { return m.MsgID }); len(found) != 7 || found[0] != "M6" {
			t.Errorf("found %v", found)
		}
		since, until := bridge.At(noon.Add(2*60e9)), bridge.At(noon.Add(4*60e9))
		page, err := b.Messages(t.Context(), bridge.MessageQuery{Chat: grace, Since: &since, Until: &until, Q: "WORD"})
		if err != nil || len(page.Items) != 3 || page.NextCursor != nil {
			t.Errorf("three minutes: %d messages, %v", len(page.Items), err)
		}
		for range b.AllMessages(t.Context(), bridge.MessageQuery{Chat: grace, Limit: 1}) {
			break // the rest is not asked for
		}
	})
}

func TestLists_AreFiltered(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		picture, link := said(grace, "PICTURE", "", 1), said(grace, "LINK", "see https://example.com", 2)
		picture.MessageType, picture.Media = "imageMessage", &bridge.Media{Type: bridge.MediaImage}
		b.know(picture, link, said(club, "TEXT", "a text", 3))
		yes, no := true, false
		for want, f := range map[string]bridge.MessageFilter{
			"[PICTURE]": {Type: "imageMessage", HasMedia: &yes, FromMe: &no}, "[LINK]": {Type: bridge.TypeLink, HasMedia: &no}, "[]": {FromMe: &yes, Pinned: &no},
		} {
			matches := b.AllMatches(t.Context(), bridge.SearchQuery{Chat: grace, Sender: grace, MessageFilter: f, Limit: 1})
			found := collected(t, matches, func(m bridge.Match) string { return m.MsgID })
			messages := b.AllMessages(t.Context(), bridge.MessageQuery{Chat: grace, MessageFilter: f, Limit: 1})
			listed := collected(t, messages, func(m bridge.Message) string { return m.ID })
			if fmt.Sprint(found) != want || fmt.Sprint(listed) != want {
				t.Errorf("%+v: found %v, listed %v", f, found, listed)
			}
		}
	})
}

func TestErrors_HaveCodeStatusAndSentence(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		_, err := b.Messages(t.Context(), bridge.MessageQuery{Chat: grace})
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Code != bridge.CodeNotFound || refused.Status != http.StatusNotFound || refused.Message == "" {
			t.Errorf("an unknown chat: %#v", err)
		}
		if err.Error() != refused.Message || bridge.CodeOf(err) != bridge.CodeNotFound {
			t.Errorf("the error reads %q, code %s", err, bridge.CodeOf(err))
		}
		for _, err := range b.AllChats(t.Context(), bridge.ChatQuery{Limit: 10_000}) {
			if bridge.CodeOf(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), "limit") {
				t.Errorf("a page too large: %v", err)
			}
		}
		stranger := b.WithToken("not-the-token-of-anybody")
		if _, err := stranger.Status(t.Context()); bridge.CodeOf(err) != bridge.CodeUnauthorized {
			t.Errorf("another token: %v", err)
		}
		if _, err := b.Status(t.Context()); err != nil {
			t.Errorf("the first token is no longer good: %v", err)
		}
	})
}

// An answer that is not a bridge's has a status alone, and no answer says what
// to do.
func TestErrors_OfWhatIsNoBridge(t *testing.T) {
	t.Parallel()
	proxy := client.InProcess(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		http.Error(w, "<html>", http.StatusBadGateway)
	}), token)
	_, err := proxy.Status(t.Context())
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusBadGateway || refused.RetryAfter.Seconds() != 7 || !strings.Contains(err.Error(), "502 Bad Gateway") {
		t.Errorf("a proxy's error: %#v", err)
	}
	nowhere := client.New("http://127.0.0.1:1", token)
	if _, err := nowhere.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "no bridge answers at http://127.0.0.1:1: start it first") {
		t.Errorf("nowhere: %v", err)
	}
	page := client.InProcess(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }), token)
	if _, err := page.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "read the answer to GET /api/auth/status") {
		t.Errorf("a page: %v", err)
	}
}

func TestSend_WithAKeySendsOnce(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		text := client.Text{To: grace, Text: "Hello", Mentions: []bridge.JID{grace}}
		first, err := b.Send(t.Context(), text, "key-1")
		if err != nil || first.Replayed || first.Chat != grace || first.ID == "" || first.Timestamp.IsZero() {
			t.Fatalf("the first: %+v, %v", first, err)
		}
		again, err := b.Send(t.Context(), text, "key-1")
		if err != nil || !again.Replayed || again.ID != first.ID {
			t.Errorf("the same again: %+v, %v", again, err)
		}
		text.Text = "Something else"
		if _, err := b.Send(t.Context(), text, "key-1"); bridge.CodeOf(err) != bridge.CodeIdempotencyMismatch {
			t.Errorf("another text with the same key: %v", err)
		}
		if sent := b.account.sent(); len(sent) != 1 {
			t.Errorf("%d messages were sent", len(sent))
		}
	})
}

func TestSend_EveryKind(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		b.know(said(grace, "M1", "Question?", 1))
		any := 0
		quote := client.Quote{QuotedMsgID: "M1"}
		for _, m := range []client.Message{
			client.Text{To: grace, Text: "Answer", Quote: quote},
			client.Location{To: grace, Latitude: 52.5, Longitude: 13.4, Name: "Here", Quote: quote},
			client.Poll{To: grace, Name: "When?", Values: []string{"now", "later"}, SelectableCount: &any},
			client.Contacts{To: grace, Contacts: []bridge.ContactCard{{DisplayName: "Ada", Phone: "15550100399"}}},
			client.Reaction{Chat: grace, MsgID: "M1", Emoji: "👍"},
		} {
			if _, err := b.Send(t.Context(), m, ""); err != nil {
				t.Errorf("%T: %v", m, err)
			}
		}
		sent := b.account.sent()
		if len(sent) != 5 {
			t.Fatalf("%d messages were sent", len(sent))
		}
		if sent[0].Quote == nil || sent[0].Quote.ID != "M1" || sent[1].Content.(bridge.Location).Name != "Here" || sent[4].Content.(bridge.Reaction).Emoji != "👍" {
			t.Errorf("sent %+v", sent)
		}
		if _, err := b.Send(t.Context(), client.Text{To: grace}, ""); bridge.CodeOf(err) != bridge.CodeInvalid {
			t.Errorf("an empty text: %v", err)
		}
		_, err := b.Send(t.Context(), client.File{To: grace, Type: bridge.MediaAudio, URL: "https://example.com/a", Caption: "no"}, "")
		if bridge.CodeOf(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), "caption") {
			t.Errorf("a file with a wrong field: %v", err)
		}
		ofTomorrow := json.RawMessage(`{"jid":"` + grace + `","text":"Hello","effect":"confetti"}`)
		if err := b.Call(t.Context(), http.MethodPost, "/api/messages/send", ofTomorrow, nil); bridge.CodeOf(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), "effect") {
			t.Errorf("a field that the bridge does not know: %v", err)
		}
	})
}

func TestAccount_EveryCall(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		code, err := b.Pair(t.Context(), me.User())
		if err != nil || code.Code != "ABCD-EFGH" || !code.ExpiresAt.Equal(noon) {
			t.Errorf("pair: %+v, %v", code, err)
		}
		if _, err := b.Pair(t.Context(), grace.User()); bridge.CodeOf(err) != bridge.CodeOtherAccount {
			t.Errorf("pair another account: %v", err)
		}
		if _, err := b.Pair(t.Context(), ""); bridge.CodeOf(err) != bridge.CodeInvalid {
			t.Errorf("pair without a number: %v", err)
		}
		result, err := b.SubmitPasskey(t.Context(), json.RawMessage(`{"id": "x", "response": {}}`))
		if err != nil || !result.OK || *result.Code != "{" {
			t.Errorf("passkey: %+v, %v", result, err)
		}
		if result, err := b.ConfirmPasskey(t.Context()); err != nil || !result.Confirmed {
			t.Errorf("confirm: %+v, %v", result, err)
		}
		if err := b.Reconnect(t.Context()); err != nil || b.account.reconnects != 1 {
			t.Errorf("reconnect: %v", err)
		}
		if unlinked, err := b.Logout(t.Context()); err != nil || !unlinked {
			t.Errorf("logout: %v, %v", unlinked, err)
		}
	})
}

func TestGroupAndMedia(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		b.know(bridge.Group{JID: club, Name: "Club", Participants: []bridge.Participant{{JID: grace, IsAdmin: true}, {JID: me}}})
		detail, err := b.Group(t.Context(), club)
		if err != nil || detail.Stored.Name != "Club" || len(detail.Stored.Participants) != 2 || detail.Live != nil {
			t.Errorf("group: %+v, %v", detail, err)
		}
		file := said(grace, "F/1", "", 1)
		file.MessageType = "documentMessage"
		file.Media = &bridge.Media{Type: bridge.MediaDocument, MimeType: "application/pdf", Size: 1234, FileName: "plan.pdf", Pages: 3}
		b.know(file)
		info, err := b.MediaInfo(t.Context(), grace, "F/1")
		if err != nil || info.Type != bridge.MediaDocument || info.MimeType != "application/pdf" || info.Size != 1234 || info.FileName != "plan.pdf" || info.Pages != 3 {
			t.Errorf("media: %+v, %v", info, err)
		}
		if _, _, err := b.Download(t.Context(), grace, "NONE"); bridge.CodeOf(err) != bridge.CodeNotFound {
			t.Errorf("no such file: %v", err)
		}
	})
}

func TestCall_EndsWithItsContext(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.Status(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	})
}

func TestContacts(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		name := "Grace Hopper"
		b.know(bridge.Contact{JID: grace, Name: &name})
		page, err := b.Contacts(t.Context(), bridge.ContactQuery{Q: "hopp", Limit: 1})
		if err != nil || len(page.Items) != 1 || page.Items[0].JID != grace || page.Items[0].Name != name {
			t.Errorf("found %+v, %v", page, err)
		}
	})
}
