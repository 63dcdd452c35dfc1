package e2e

import (
	"net/http"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// contact returns one entry of the list of contacts.
func contact(person *simnet.Phone, changes ...object) object {
	all := object{
		"jid": person.PN().String(), "lid": person.LID().String(), "phone": person.Number(), "username": nil, "name": "", "pushName": "",
		"businessName": "", "isSaved": false, "isBlocked": false, "chatJid": nil,
	}
	for _, change := range changes {
		for field, value := range change {
			all[field] = value
		}
	}
	return all
}

func contactPage(list ...object) object {
	return object{"count": len(list), "contacts": append([]object{}, list...), "hasMore": false, "nextCursor": nil}
}

// TestContacts_AreThoseOfTheAccount: the phone's address book, people who have
// written, and verified names of businesses.
func TestContacts_AreThoseOfTheAccount(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	shop := newPhone(t, c.network, simnet.PhoneOptions{Number: "491510000501", Name: "Bäckerei Krume", Business: true})
	say(t, shop, c.owner.PN(), "Ihre Brötchen sind fertig")
	say(t, c.ben, c.owner.PN(), "hello")
	b := c.bridge
	b.answers("/api/contacts?q=KRUME", contactPage(contact(shop, object{"businessName": "Bäckerei Krume", "pushName": "Bäckerei Krume", "chatJid": shop.PN().String()})))
	b.answers("/api/contacts?q=amsel", contactPage(contact(c.anna, object{"name": "Anna Amsel", "isSaved": true, "pushName": "Anna"})))
	b.answers("/api/contacts?q=%2B49+151+0000003", contactPage(contact(c.ben, object{"pushName": "Ben", "chatJid": c.ben.PN().String()})))

	if err := c.owner.SetContact(within(t), c.ben.Number(), "", "Benno"); err != nil {
		t.Fatal(err)
	}
	saved := contact(c.ben, object{"name": "Benno", "isSaved": true, "pushName": "Ben", "chatJid": c.ben.PN().String()})
	b.answers(path("/api/contacts/%s", c.ben.LID()), saved)
	b.restart()
	b.becomes(bridge.StateOpen)
	b.answers(path("/api/contacts/%s", c.ben.PN()), saved)
	b.Get(path("/api/contacts/%s", c.carla.PN())).Want(http.StatusNotFound)

	// Numbers are looked up once; people whom the network finds are known from then
	// on.
	const nobody = "491510000999"
	for range 2 {
		var got object
		b.Post("/api/contacts/check", object{"phones": []string{"+49 151 0000004", "0049 (0)151 0000501", nobody}}).Want(http.StatusOK).Decode(&got)
		want := object{"results": []any{
			map[string]any{"phone": c.carla.Number(), "jid": c.carla.PN().String(), "isBusiness": false},
			map[string]any{"phone": shop.Number(), "jid": shop.PN().String(), "isBusiness": true},
			map[string]any{"phone": nobody, "jid": nil, "isBusiness": false},
		}}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("numbers checked (-want +got):\n%s", diff)
		}
	}
	if n := c.network.LookUps(nobody); n != 1 {
		t.Errorf("asked %d times about one number", n)
	}
	b.answers(path("/api/contacts/%s", c.carla.LID()), contact(c.carla))
}
