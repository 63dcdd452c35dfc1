package e2e

import (
	"fmt"
	"net/http"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestNames_OfPeople: a chat has the contact's name, else the push name, else the
// number; messages keep the push name they came with.
func TestNames_OfPeople(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	b := c.bridge
	named := func(person *simnet.Phone, name string) {
		t.Helper()
		b.answers("/api/chats?q="+person.Number(), chats(privateChat(person, name)))
	}
	annas, bens := path("/api/messages/individual/%s", c.anna.PN()), path("/api/messages/individual/%s", c.ben.PN())

	// With a name from the phone's address book before the pairing, and without
	// one.
	one := say(t, c.anna, c.owner.PN(), "one")
	say(t, c.ben, c.owner.PN(), "hello")
	named(c.anna, "Anna Amsel")
	named(c.ben, "Ben")
	carlas := b.sends(t, object{"jid": c.carla.PN().String(), "text": "who are you?"})
	named(c.carla, c.carla.Number())
	must(c.carla.ReceivedID(within(t), carlas))(t)
	say(t, c.carla, c.owner.PN(), "Carla")
	named(c.carla, "Carla")

	// Added, changed and removed on the phone while connected.
	contact := func(person *simnet.Phone, full, first string) {
		t.Helper()
		if err := c.owner.SetContact(within(t), person.Number(), full, first); err != nil {
			t.Fatal(err)
		}
	}
	contact(c.ben, "Ben Bär", "Ben")
	named(c.ben, "Ben Bär")
	contact(c.anna, "Änne Amsel-Drossel", "Änne")
	named(c.anna, "Änne Amsel-Drossel")
	b.answers("/api/chats?q=%C3%84NNE", chats(privateChat(c.anna, "Änne Amsel-Drossel")))
	b.answers("/api/chats?q=Anna+Amsel", chats())
	contact(c.carla, "", "Caro")
	named(c.carla, "Caro")
	contact(c.carla, "", "")
	named(c.carla, "Carla")

	// Push names change with the messages that bear them.
	pushName(t, c.anna, "annie 🐦")
	two := say(t, c.anna, c.owner.PN(), "two")
	b.answers(annas, history(c.anna.PN(), []object{
		message(two, c.anna, "conversation", "two"), message(one, c.anna, "conversation", "one", object{"pushName": "Anna"}),
	}))
	named(c.anna, "Änne Amsel-Drossel")
	pushName(t, c.carla, "La Carla")
	say(t, c.carla, c.owner.PN(), "me again")
	named(c.carla, "La Carla")

	// The account's own name.
	pushName(t, c.owner, "Olga the Great")
	eventually(t, func() error {
		if user := b.status().User; user.PushName != "Olga the Great" {
			return fmt.Errorf("the account's push name is %q", user.PushName)
		}
		return nil
	})
	own := b.sends(t, object{"jid": c.ben.PN().String(), "text": "as I am called now"})
	eventually(t, func() error { return firstIs(b, bens, own, "Olga the Great") })

	b.restart()
	b.becomes(bridge.StateOpen)
	named(c.anna, "Änne Amsel-Drossel")
	named(c.ben, "Ben Bär")
	named(c.carla, "La Carla")
	if user := b.status().User; user.PushName != "Olga the Great" {
		t.Errorf("after the restart the account's push name is %q", user.PushName)
	}
}

func pushName(t *testing.T, person *simnet.Phone, name string) {
	t.Helper()
	if err := person.SetPushName(within(t), name); err != nil {
		t.Fatal(err)
	}
}

// firstIs checks id and push name of the newest message.
func firstIs(b *process, list string, id simnet.MessageID, name string) error {
	var page struct{ Messages []bridge.Message }
	b.Get(list + "?limit=1").Want(http.StatusOK).Decode(&page)
	if m := page.Messages[0]; m.ID != id || m.PushName != name {
		return fmt.Errorf("the newest message is %s by %q, want %s by %q", m.ID, m.PushName, id, name)
	}
	return nil
}

// TestNames_OfBusinesses: a business has a verified name.
func TestNames_OfBusinesses(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	shop := newPhone(t, c.network, simnet.PhoneOptions{Number: "491510000501", Name: "Bäckerei Krume", Business: true})
	say(t, shop, c.owner.PN(), "Ihre Brötchen sind fertig")
	c.bridge.answers("/api/chats", chats(privateChat(shop, "Bäckerei Krume")))
	c.bridge.answers("/api/chats?q=krume", chats(privateChat(shop, "Bäckerei Krume")))
}

// TestGroups_ChangesAreFollowed: changes of a group show in the list of chats, in
// the stored group and in the live one.
func TestGroups_ChangesAreFollowed(t *testing.T) {
	t.Parallel()
	for name, byNumber := range map[string]bool{"addressed by LID": false, "addressed by number": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := pairedCast(t)
			b := c.bridge
			say(t, c.ben, c.owner.PN(), "I will make a group")
			group := newGroup(t, c.ben, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{c.owner, c.anna}, ByNumber: byNumber})
			owner, anna := member(c.owner, "Olga"), member(c.anna, "Anna Amsel")
			shown := object{
				"jid": group.JID().String(), "name": "Choir", "topic": "", "ownerJid": c.ben.PN().String(), "createdAt": recent,
				"isAnnounce": false, "isLocked": false, "joinApproval": false, "disappearingSeconds": 0,
			}
			is := func(changes object, participants ...object) {
				t.Helper()
				shown = with(shown, changes)
				isGroup(t, b, group, shown, participants)
			}
			ben := member(c.ben, "Ben", "isAdmin", "isSuperAdmin")
			is(object{}, ben, owner, anna)
			// A group without messages comes after the chats with messages.
			empty := with(groupChat(group, 3), object{"lastMessageAt": nil, "lastMessage": nil, "unreadCount": 0})
			b.answers("/api/chats", chats(privateChat(c.ben, "Ben"), empty))

			change := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			change(group.SetSubject(within(t), c.ben, "Chor ✨"))
			change(group.SetTopic(within(t), c.ben, "Mondays at eight"))
			is(object{"name": "Chor ✨", "topic": "Mondays at eight"}, ben, owner, anna)
			b.answers("/api/chats?q=CHOR+%E2%9C%A8", chats(with(empty, object{"name": "Chor ✨"})))

			change(group.Add(within(t), c.ben, c.carla))
			carla := member(c.carla, "")
			is(nil, ben, owner, anna, carla)
			b.answers("/api/chats?type=group", chats(with(empty, object{"name": "Chor ✨", "participants": 4})))
			change(group.Promote(within(t), c.ben, c.anna))
			anna = member(c.anna, "Anna Amsel", "isAdmin")
			is(nil, ben, anna, owner, carla)
			change(group.SetAnnounce(within(t), c.ben, true))
			change(group.SetLocked(within(t), c.anna, true))
			is(object{"isAnnounce": true, "isLocked": true}, ben, anna, owner, carla)
			refused(t, b.Post("/api/messages/send", object{"jid": group.JID().String(), "text": "may I?"}), http.StatusBadRequest, bridge.CodeNotInGroup, "admins")
			var tried struct{ Messages []bridge.Message }
			b.Get(path("/api/groups/%s/messages", group.JID())).Want(http.StatusOK).Decode(&tried)
			failed := ownMessage(tried.Messages[0].ID, c.owner, "conversation", "may I?", bridge.DeliveryFailed)

			change(group.Demote(within(t), c.ben, c.anna))
			change(group.SetAnnounce(within(t), c.ben, false))
			change(group.SetLocked(within(t), c.ben, false))
			change(group.SetTopic(within(t), c.ben, ""))
			change(group.Leave(within(t), c.carla))
			is(object{"topic": "", "isAnnounce": false, "isLocked": false}, ben, owner, member(c.anna, "Anna Amsel"))
			id := say(t, c.anna, group.JID(), "la la la")
			b.answers(path("/api/groups/%s/messages", group.JID()), history(group.JID(), []object{message(id, c.anna, "conversation", "la la la"), failed}))
			b.sends(t, object{"jid": group.JID().String(), "text": "tra la"})

			change(group.Remove(within(t), c.ben, c.owner))
			eventually(t, func() error {
				var answer struct {
					Stored bridge.Group
					Live   *bridge.Group
				}
				b.Get(path("/api/groups/%s", group.JID())).Want(http.StatusOK).Decode(&answer)
				if answer.Live != nil || len(answer.Stored.Participants) != 2 {
					return fmt.Errorf("after the account was removed: live %v, %d participants stored", answer.Live, len(answer.Stored.Participants))
				}
				return nil
			})
			refused(t, b.Post("/api/messages/send", object{"jid": group.JID().String(), "text": "let me in"}), http.StatusBadRequest, bridge.CodeNotInGroup, "not in that group")
		})
	}
}

// isGroup waits until a group is as expected, stored and live.
func isGroup(t *testing.T, b *process, group *simnet.Group, want object, participants []object) {
	t.Helper()
	sortMembers(participants)
	want = plain(t, with(want, object{"participants": participants})).(object)
	eventually(t, func() error {
		var answer object
		b.Get(path("/api/groups/%s", group.JID())).Decode(&answer)
		for _, half := range []string{"stored", "live"} {
			got, ok := b.timeless(answer[half]).(object)
			if !ok {
				return fmt.Errorf("%s is null", half)
			}
			for _, extra := range []string{"messageCount", "lastMessageAt", "updatedAt", "pictureId"} {
				delete(got, extra)
			}
			sortMembers(got["participants"].([]any))
			if diff := gocmp.Diff(want, got); diff != "" {
				return fmt.Errorf("%s (-want +got):\n%s", half, diff)
			}
		}
		return nil
	})
}
