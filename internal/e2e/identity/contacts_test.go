package identity

import (
	"maps"
	"net/http"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// contact returns one entry of the list of contacts.
func contact(person *simnet.Phone, changes ...Object) Object {
	all := Object{
		"jid": person.PN().String(), "lid": person.LID().String(), "phone": person.Number(), "username": nil, "name": "", "pushName": "",
		"businessName": "", "isSaved": false, "isBlocked": false, "chatJid": nil,
	}
	for _, change := range changes {
		maps.Copy(all, change)
	}
	return all
}

func contactPage(list ...Object) Object {
	return Object{"count": len(list), "contacts": append([]Object{}, list...), "hasMore": false, "nextCursor": nil}
}

// TestContacts_AreThoseOfTheAccount: the phone's address book, people who have
// written, and verified names of businesses.
func TestContacts_AreThoseOfTheAccount(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	shop := NewPhone(t, c.Network, simnet.PhoneOptions{Number: "491510000501", Name: "Bäckerei Krume", Business: true})
	Say(t, shop, c.Owner.PN(), "Ihre Brötchen sind fertig")
	Say(t, c.Ben, c.Owner.PN(), "hello")
	b := c.Bridge
	b.Answers("/api/contacts?q=KRUME", contactPage(contact(shop, Object{"businessName": "Bäckerei Krume", "pushName": "Bäckerei Krume", "chatJid": shop.PN().String()})))
	b.Answers("/api/contacts?q=amsel", contactPage(contact(c.Anna, Object{"name": "Anna Amsel", "isSaved": true, "pushName": "Anna"})))
	b.Answers("/api/contacts?q=%2B49+151+0000003", contactPage(contact(c.Ben, Object{"pushName": "Ben", "chatJid": c.Ben.PN().String()})))

	if err := c.Owner.SetContact(Within(t), c.Ben.Number(), "", "Benno"); err != nil {
		t.Fatal(err)
	}
	saved := contact(c.Ben, Object{"name": "Benno", "isSaved": true, "pushName": "Ben", "chatJid": c.Ben.PN().String()})
	b.Answers(Path("/api/contacts/%s", c.Ben.LID()), saved)
	b.Restart()
	b.Becomes(bridge.StateOpen)
	b.Answers(Path("/api/contacts/%s", c.Ben.PN()), saved)
	b.Get(Path("/api/contacts/%s", c.Carla.PN())).Want(http.StatusNotFound)

	// Numbers are looked up once; people whom the network finds are known from then
	// on.
	const nobody = "491510000999"
	for range 2 {
		var got Object
		b.Post("/api/contacts/check", Object{"phones": []string{"+49 151 0000004", "0049 (0)151 0000501", nobody}}).Want(http.StatusOK).Decode(&got)
		want := Object{"results": []any{
			map[string]any{"phone": c.Carla.Number(), "jid": c.Carla.PN().String(), "isBusiness": false},
			map[string]any{"phone": shop.Number(), "jid": shop.PN().String(), "isBusiness": true},
			map[string]any{"phone": nobody, "jid": nil, "isBusiness": false},
		}}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("numbers checked (-want +got):\n%s", diff)
		}
	}
	if n := c.Network.LookUps(nobody); n != 1 {
		t.Errorf("asked %d times about one number", n)
	}
	b.Answers(Path("/api/contacts/%s", c.Carla.LID()), contact(c.Carla))
}
