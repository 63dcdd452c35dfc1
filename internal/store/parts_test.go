package store

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// partsOf are all parts that a message may have, with a word in each.
func partsOf(word string) bridge.Parts {
	start := at(3600)
	place := bridge.Place{Latitude: 52.5, Longitude: -13.4, Name: "place-" + word, Address: "street-" + word, URL: "https://example.com/map-" + word, IsLive: true}
	return bridge.Parts{
		Location: &place,
		Contacts: []bridge.SharedContact{{
			DisplayName: "contact-" + word, Phones: []bridge.SharedPhone{{Number: "+49 170 0000002", JID: alice}, {Number: "112"}},
			Emails: []string{"mail-" + word + "@example.com"}, Organization: "org-" + word, Title: "title-" + word, VCard: "vcard-" + word,
		}},
		Interactive: &bridge.Interactive{
			Kind: bridge.InteractiveList, Title: "head-" + word, Body: "body-" + word, Footer: "footer-" + word,
			Buttons:  []bridge.Button{{ID: "button-" + word, Text: "label-" + word, URL: "https://example.com/open-" + word, Phone: "112"}},
			Selected: &bridge.Choice{ID: "chosen-" + word, Text: "choice-" + word},
		},
		Event: &bridge.CalendarEvent{
			Name: "event-" + word, Description: "about-" + word, Location: &place, StartAt: &start, Cancelled: true,
			Responses: &bridge.EventResponses{Going: []bridge.JID{}, Maybe: []bridge.JID{}, NotGoing: []bridge.JID{}},
		},
		GroupInvite: &bridge.GroupInvite{JID: club, Name: "group-" + word, Code: "code-" + word, ExpiresAt: &start},
		Order:       &bridge.ShopOrder{Title: "order-" + word, ID: "7", SellerJID: bob, ItemCount: 2, Total: "12.50", Currency: "EUR", Status: "accepted"},
		Product: &bridge.Product{
			Title: "product-" + word, Description: "details-" + word, ID: "8", RetailerID: "sku-" + word, URL: "https://example.com/p-" + word,
			Price: "9.99", SalePrice: "8.99", Currency: "EUR", SellerJID: bob,
		},
		LinkPreview: &bridge.LinkPreview{URL: "https://example.com/link-" + word, Title: "page-" + word, Description: "summary-" + word},
		Referral: &bridge.Referral{
			SourceType: "ad", SourceID: "120-" + word, SourceURL: "https://example.com/ad-" + word, Headline: "headline-" + word, Body: "copy-" + word,
			MediaType: "image", Thumbnail: ptr("data:image/jpeg;base64,thumb-" + word), CTWAClid: "click-" + word, EntryPoint: "ctwa_ad", Payload: "opaque-" + word, ConversionSource: "FB_Ads",
		},
		Album:   &bridge.Album{Images: 2, Videos: 1},
		AlbumID: ptr("album-" + word),
	}
}

// wordsOf are the words of partsOf that stand nowhere else.
func wordsOf(word string) (words []string) {
	for _, part := range []string{
		"place", "street", "map", "contact", "mail", "org", "title", "vcard", "head", "body", "footer", "button", "label", "open",
		"chosen", "choice", "event", "about", "group", "code", "order", "product", "details", "sku", "p", "link", "page", "summary",
	} {
		words = append(words, part+"-"+word)
	}
	return words
}

// adWordsOf are those of its ad.
func adWordsOf(word string) (words []string) {
	for _, part := range []string{"ad", "headline", "copy", "thumb", "click", "opaque"} {
		words = append(words, part+"-"+word)
	}
	return words
}

func withParts(id string, seconds int, word string) bridge.Message {
	m := says(alice, alice, id, seconds, "text")
	m.Parts = partsOf(word)
	return m
}

func TestParts_AreShownEverywhere(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := withParts("A1", 60, "one")
	m.IsForwarded, m.Expiration = true, 86400
	save(t, s, m)
	want := partsOf("one")
	expires := at(60 + 86400)
	shown := map[string]bridge.Message{"list": historyOf(t, s, alice)[0], "one": message(t, s, alice, "A1")}
	page, err := s.Events(t.Context(), read.EventQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range page.Events {
		if event.Message != nil {
			shown["event"] = *event.Message
		}
	}
	for where, got := range shown {
		if diff := cmp.Diff(want, got.Parts); diff != "" {
			t.Errorf("%s: %s", where, diff)
		}
		if !got.IsForwarded || got.ExpiresAt == nil || !got.ExpiresAt.Equal(expires.Time) {
			t.Errorf("%s: forwarded %v, expires %v", where, got.IsForwarded, got.ExpiresAt)
		}
	}
	if len(shown) != 3 {
		t.Errorf("shown in %d places", len(shown))
	}
}

// A message's time may be corrected by the network, and its end with it.
func TestParts_OwnMessagesExpireByTheNetworksTime(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := iSay(alice, "M1", 10, "gone soon")
	m.Expiration = 3600
	save(t, s, owner(), m, bridge.SendResult{Chat: alice, ID: "M1", Status: bridge.DeliverySent, Timestamp: at(15)})
	expires := at(3615)
	if got := message(t, s, alice, "M1").ExpiresAt; got == nil || !got.Equal(expires.Time) {
		t.Errorf("expires %v, want %v", got, expires)
	}
}

func TestEdit_ReplacesParts(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	before := withParts("A1", 1, "before")
	before.IsForwarded, before.Expiration = true, 3600
	save(t, s, before, bridge.Edit{Chat: alice, Target: "A1", Editor: alice, Timestamp: at(5), New: withParts("A1", 5, "after")})
	got := message(t, s, alice, "A1")
	want := partsOf("after")
	if diff := cmp.Diff(want, got.Parts); diff != "" {
		t.Error(diff)
	}
	if expires := at(3601); !got.IsForwarded || got.ExpiresAt == nil || !got.ExpiresAt.Equal(expires.Time) {
		t.Errorf("forwarded %v, expires %v", got.IsForwarded, got.ExpiresAt)
	}
	save(t, s, bridge.Edit{Chat: alice, Target: "A1", Editor: alice, Timestamp: at(6), New: says(alice, alice, "A1", 6, "text alone")})
	// How the person came here is no part of what they wrote.
	kept := bridge.Parts{Referral: want.Referral, AlbumID: want.AlbumID}
	if diff := cmp.Diff(kept, message(t, s, alice, "A1").Parts); diff != "" {
		t.Errorf("after an edit that has no parts: %s", diff)
	}
}

// TestParts_OfWhatIsDeletedAreGone from answers and from the disk, and so are
// those that an edit replaced.
func TestParts_OfWhatIsDeletedAreGone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	edited := withParts("A2", 1, "edited")
	edited.Referral = nil // an edit would keep it
	save(t, s, withParts("A1", 1, "secret"), edited)
	for i := range 100 {
		save(t, s, says(alice, alice, fmt.Sprintf("B%d", i), 2+i, "something else"))
	}
	settle(t, s)
	words := slices.Concat(wordsOf("secret"), adWordsOf("secret"), wordsOf("edited"))
	if found := onDisk(t, s, words...); len(found) < len(words) {
		t.Fatalf("the test does not look where the words are: found only %v", found)
	}
	save(t, s, bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(200)},
		bridge.Edit{Chat: alice, Target: "A2", Editor: alice, Timestamp: at(200), New: says(alice, alice, "A2", 200, "harmless")})
	erased(t, s)
	gone(t, s, words...)
	if got := message(t, s, alice, "A1"); !got.Parts.IsZero() || got.IsForwarded || got.ExpiresAt != nil {
		t.Errorf("a deleted message shows %+v", got)
	}
}
