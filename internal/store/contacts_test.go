package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/longtest"
	"bridged/internal/sqlite"
	"bridged/internal/store/read"
)

// contacts returns all pages of a list.
func contacts(t testing.TB, s *Store, q bridge.ContactQuery) (all []bridge.KnownContact) {
	t.Helper()
	for {
		page, err := s.Contacts(context.Background(), q)
		if err != nil {
			t.Fatalf("list contacts: %v", err)
		}
		all = append(all, page.Items...)
		if page.NextCursor == nil {
			return all
		}
		q.Cursor = *page.NextCursor
	}
}

// namesOf returns the JIDs of contacts.
func namesOf(list []bridge.KnownContact) (jids []bridge.JID) {
	for _, c := range list {
		jids = append(jids, c.JID)
	}
	return jids
}

func TestContacts_ShowEachPersonOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), bridge.Contact{JID: alice, Name: ptr("Alice"), PushName: ptr("al")}, bridge.Contact{JID: aliceLID, BusinessName: ptr("Alice's Flowers")},
		bridge.Contact{JID: bobLID, PushName: ptr("bobby")}, says(alice, alice, "M1", 1, "hi"))
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	want := []bridge.KnownContact{
		{JID: alice, LID: aliceLID, Phone: ptr(alice.User()), Name: "Alice", PushName: "al", BusinessName: "Alice's Flowers", IsSaved: true, ChatJID: alice},
		{JID: bobLID, LID: bobLID, PushName: "bobby"},
		{JID: me, LID: meLID, Phone: ptr(me.User())},
	}
	if diff := cmp.Diff(want, contacts(t, s, bridge.ContactQuery{Limit: 1})); diff != "" {
		t.Errorf("contacts (-want +got):\n%s", diff)
	}
	for _, jid := range []bridge.JID{alice, aliceLID} {
		got, err := s.Contact(t.Context(), jid)
		if diff := cmp.Diff(want[0], got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", jid, err, diff)
		}
	}
	_, err := s.Contact(t.Context(), carol)
	wantCode(t, err, bridge.CodeNotFound)

	save(t, s, bridge.Contact{JID: aliceLID, Name: ptr("")})
	if got, err := s.Contact(t.Context(), alice); err != nil || got.IsSaved || got.Name != "" {
		t.Errorf("taken out of the address book: %+v, %v", got, err)
	}
}

func TestContacts_FindNamesAndNumbers(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.Contact{JID: alice, Name: ptr("ΑΛΊΚΗ Straße"), BusinessName: ptr("Flowers")}, bridge.Contact{JID: bob, PushName: ptr("İbrahim")},
		bridge.Contact{JID: bobLID, PushName: ptr("1970")})
	for q, want := range map[string][]bridge.JID{
		"αλίκη": {alice}, "STRASSE": {alice}, "flow": {alice}, "brahim": {bob}, " ": {bobLID, bob, alice},
		"+49 (0)170 000-0002": {alice}, "0170 0000003": {bob}, "0049170": {bob, alice}, "970": {bobLID}, "0": {bobLID, bob, alice},
		"10000000000003": nil, "s.whatsapp.net": nil, "%": nil, "alice": nil,
	} {
		if got := namesOf(contacts(t, s, bridge.ContactQuery{Q: q})); !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", q, got, want)
		}
	}
}

func TestContacts_OfSomeChatsAlone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID}, bridge.Contact{JID: bobLID}, bridge.Contact{JID: carol, Name: ptr("Carol")})
	for _, c := range []struct{ only, want []bridge.JID }{
		{[]bridge.JID{aliceLID, club}, []bridge.JID{alice}},
		{[]bridge.JID{carol, alice, bobLID}, []bridge.JID{carol, bobLID, alice}},
		{[]bridge.JID{}, nil},
	} {
		if got := namesOf(contacts(t, s, bridge.ContactQuery{Only: c.only, Limit: 2})); !slices.Equal(got, c.want) {
			t.Errorf("of %v: %v, want %v", c.only, got, c.want)
		}
	}
}

// Names that are equal, longer than what is sorted by, or missing, neither hide
// a contact nor show it twice. That a page costs its rows is what the plan shows.
func TestContacts_PagesAreWhole(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	many := longtest.Else(2_000, 10_000)
	var facts []bridge.Fact
	for i := range many {
		name := fmt.Sprintf("%s %04d", strings.Repeat("é", 64*(i%3)), i/7)
		if i%5 == 0 {
			name = ""
		}
		facts = append(facts, bridge.Contact{JID: bridge.JID(fmt.Sprintf("4917%08d@s.whatsapp.net", i)), Name: &name})
		if i%5 == 0 {
			facts = append(facts, bridge.Identity{PN: bridge.JID(fmt.Sprintf("4917%08d@s.whatsapp.net", i)), LID: bridge.JID(fmt.Sprintf("9%010d@lid", i))})
		}
	}
	save(t, s, facts...)
	all := contacts(t, s, bridge.ContactQuery{Limit: 333})
	seen := map[bridge.JID]bool{}
	named := true
	for _, c := range all {
		if seen[c.JID] || c.Name != "" && !named {
			t.Fatalf("%s comes twice, or behind those without a name", c.JID)
		}
		seen[c.JID], named = true, c.Name != ""
	}
	if len(all) != many {
		t.Fatalf("%d contacts", len(all))
	}
	last := all[len(all)-200]
	page, err := s.Contacts(t.Context(), bridge.ContactQuery{Limit: many - 200})
	if err != nil || page.Items[len(page.Items)-1].JID != all[many-201].JID {
		t.Fatalf("one page of many: %v", err)
	}
	page, err = s.Contacts(t.Context(), bridge.ContactQuery{Limit: 100, Cursor: *page.NextCursor})
	if err != nil || len(page.Items) != 100 || page.Items[0].JID != last.JID {
		t.Fatalf("the last but one page: %v, %v", page.Items, err)
	}
}

func TestContacts_RefuseCursorsOfOtherLists(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, cursor := range []string{"x", "§", sqlite.Cursor(read.ListChats, 1, alice), sqlite.Cursor(read.ListContacts, "!", "x", 1), sqlite.Cursor(read.ListContacts, false, "x", "")} {
		_, err := s.Contacts(t.Context(), bridge.ContactQuery{Cursor: cursor})
		wantCode(t, err, bridge.CodeInvalid)
	}
}
