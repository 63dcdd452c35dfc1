package identity

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestNames_OfPeople: a chat has the contact's name, else the push name, else the
// number; messages keep the push name they came with.
func TestNames_OfPeople(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b := c.Bridge
	named := func(person *simnet.Phone, name string) {
		t.Helper()
		b.Answers("/api/chats?q="+person.Number(), Chats(PrivateChat(person, name)))
	}
	annas, bens := Path("/api/messages/individual/%s", c.Anna.PN()), Path("/api/messages/individual/%s", c.Ben.PN())

	// With a name from the phone's address book before the pairing, and without
	// one.
	one := Say(t, c.Anna, c.Owner.PN(), "one")
	Say(t, c.Ben, c.Owner.PN(), "hello")
	named(c.Anna, "Anna Amsel")
	named(c.Ben, "Ben")
	carlas := b.Sends(t, Object{"jid": c.Carla.PN().String(), "text": "who are you?"})
	named(c.Carla, c.Carla.Number())
	Must(c.Carla.ReceivedID(Within(t), carlas))(t)
	Say(t, c.Carla, c.Owner.PN(), "Carla")
	named(c.Carla, "Carla")

	// Added, changed and removed on the phone while connected.
	contact := func(person *simnet.Phone, full, first string) {
		t.Helper()
		if err := c.Owner.SetContact(Within(t), person.Number(), full, first); err != nil {
			t.Fatal(err)
		}
	}
	contact(c.Ben, "Ben Bär", "Ben")
	named(c.Ben, "Ben Bär")
	contact(c.Anna, "Änne Amsel-Drossel", "Änne")
	named(c.Anna, "Änne Amsel-Drossel")
	b.Answers("/api/chats?q=%C3%84NNE", Chats(PrivateChat(c.Anna, "Änne Amsel-Drossel")))
	b.Answers("/api/chats?q=Anna+Amsel", Chats())
	contact(c.Carla, "", "Caro")
	named(c.Carla, "Caro")
	contact(c.Carla, "", "")
	named(c.Carla, "Carla")

	// Push names change with the messages that bear them.
	pushName(t, c.Anna, "annie 🐦")
	two := Say(t, c.Anna, c.Owner.PN(), "two")
	b.Answers(annas, History(c.Anna.PN(), []Object{
		Message(two, c.Anna, "conversation", "two"), Message(one, c.Anna, "conversation", "one", Object{"pushName": "Anna"}),
	}))
	named(c.Anna, "Änne Amsel-Drossel")
	pushName(t, c.Carla, "La Carla")
	Say(t, c.Carla, c.Owner.PN(), "me again")
	named(c.Carla, "La Carla")

	// The account's own name.
	pushName(t, c.Owner, "Olga the Great")
	Eventually(t, func() error {
		if user := b.Status().User; user.PushName != "Olga the Great" {
			return fmt.Errorf("the account's push name is %q", user.PushName)
		}
		return nil
	})
	own := b.Sends(t, Object{"jid": c.Ben.PN().String(), "text": "as I am called now"})
	Eventually(t, func() error { return FirstIs(b, bens, own, "Olga the Great") })

	b.Restart()
	b.Becomes(bridge.StateOpen)
	named(c.Anna, "Änne Amsel-Drossel")
	named(c.Ben, "Ben Bär")
	named(c.Carla, "La Carla")
	if user := b.Status().User; user.PushName != "Olga the Great" {
		t.Errorf("after the restart the account's push name is %q", user.PushName)
	}
}

func pushName(t *testing.T, person *simnet.Phone, name string) {
	t.Helper()
	if err := person.SetPushName(Within(t), name); err != nil {
		t.Fatal(err)
	}
}

// TestNames_OfBusinesses: a business has a verified name.
func TestNames_OfBusinesses(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	shop := NewPhone(t, c.Network, simnet.PhoneOptions{Number: "491510000501", Name: "Bäckerei Krume", Business: true})
	Say(t, shop, c.Owner.PN(), "Ihre Brötchen sind fertig")
	c.Bridge.Answers("/api/chats", Chats(PrivateChat(shop, "Bäckerei Krume")))
	c.Bridge.Answers("/api/chats?q=krume", Chats(PrivateChat(shop, "Bäckerei Krume")))
}

// TestGroups_ChangesAreFollowed: changes of a group show in the list of chats, in
// the stored group and in the live one.
func TestGroups_ChangesAreFollowed(t *testing.T) {
	t.Parallel()
	for name, byNumber := range map[string]bool{"addressed by LID": false, "addressed by number": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := PairedCast(t)
			b := c.Bridge
			Say(t, c.Ben, c.Owner.PN(), "I will make a group")
			group := NewGroup(t, c.Ben, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{c.Owner, c.Anna}, ByNumber: byNumber})
			owner, anna := Member(c.Owner, "Olga"), Member(c.Anna, "Anna Amsel")
			shown := Object{
				"jid": group.JID().String(), "name": "Choir", "topic": "", "ownerJid": c.Ben.PN().String(), "createdAt": Recent,
				"isAnnounce": false, "isLocked": false, "joinApproval": false, "memberAddMode": "admins", "disappearingSeconds": 0,
			}
			is := func(changes Object, participants ...Object) {
				t.Helper()
				shown = With(shown, changes)
				isGroup(t, b, group, shown, participants)
			}
			ben := Member(c.Ben, "Ben", "isAdmin", "isSuperAdmin")
			is(Object{}, ben, owner, anna)
			// A group without messages comes after the chats with messages.
			empty := With(groupChat(group, 3), Object{"lastMessageAt": nil, "lastMessage": nil, "unreadCount": 0})
			b.Answers("/api/chats", Chats(PrivateChat(c.Ben, "Ben"), empty))

			change := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			change(group.SetSubject(Within(t), c.Ben, "Chor ✨"))
			change(group.SetTopic(Within(t), c.Ben, "Mondays at eight"))
			is(Object{"name": "Chor ✨", "topic": "Mondays at eight"}, ben, owner, anna)
			b.Answers("/api/chats?q=CHOR+%E2%9C%A8", Chats(With(empty, Object{"name": "Chor ✨"})))

			change(group.Add(Within(t), c.Ben, c.Carla))
			carla := Member(c.Carla, "")
			is(nil, ben, owner, anna, carla)
			b.Answers("/api/chats?type=group", Chats(With(empty, Object{"name": "Chor ✨", "participants": 4})))
			change(group.Promote(Within(t), c.Ben, c.Anna))
			anna = Member(c.Anna, "Anna Amsel", "isAdmin")
			is(nil, ben, anna, owner, carla)
			change(group.SetAnnounce(Within(t), c.Ben, true))
			change(group.SetLocked(Within(t), c.Anna, true))
			is(Object{"isAnnounce": true, "isLocked": true}, ben, anna, owner, carla)
			Refused(t, b.Post("/api/messages/send", Object{"jid": group.JID().String(), "text": "may I?"}), http.StatusBadRequest, bridge.CodeNotInGroup, "admins")
			var tried struct{ Messages []bridge.Message }
			b.Get(Path("/api/groups/%s/messages", group.JID())).Want(http.StatusOK).Decode(&tried)
			failed := OwnMessage(tried.Messages[0].ID, c.Owner, "conversation", "may I?", bridge.DeliveryFailed)

			change(group.Demote(Within(t), c.Ben, c.Anna))
			change(group.SetAnnounce(Within(t), c.Ben, false))
			change(group.SetLocked(Within(t), c.Ben, false))
			change(group.SetTopic(Within(t), c.Ben, ""))
			change(group.Leave(Within(t), c.Carla))
			is(Object{"topic": "", "isAnnounce": false, "isLocked": false}, ben, owner, Member(c.Anna, "Anna Amsel"))
			id := Say(t, c.Anna, group.JID(), "la la la")
			b.Answers(Path("/api/groups/%s/messages", group.JID()), History(group.JID(), []Object{Message(id, c.Anna, "conversation", "la la la"), failed}))
			b.Sends(t, Object{"jid": group.JID().String(), "text": "tra la"})

			change(group.Remove(Within(t), c.Ben, c.Owner))
			Eventually(t, func() error {
				var answer struct {
					Stored bridge.Group
					Live   *bridge.Group
				}
				b.Get(Path("/api/groups/%s", group.JID())).Want(http.StatusOK).Decode(&answer)
				if answer.Live != nil || len(answer.Stored.Participants) != 2 {
					return fmt.Errorf("after the account was removed: live %v, %d participants stored", answer.Live, len(answer.Stored.Participants))
				}
				return nil
			})
			Refused(t, b.Post("/api/messages/send", Object{"jid": group.JID().String(), "text": "let me in"}), http.StatusBadRequest, bridge.CodeNotInGroup, "not in that group")
		})
	}
}

// isGroup waits until a group is as expected, stored and live.
func isGroup(t *testing.T, b *Process, group *simnet.Group, want Object, participants []Object) {
	t.Helper()
	sortMembers(participants)
	want = Plain(t, With(want, Object{"participants": participants})).(Object)
	Eventually(t, func() error {
		var answer Object
		b.Get(Path("/api/groups/%s", group.JID())).Decode(&answer)
		for _, half := range []string{"stored", "live"} {
			got, ok := b.Timeless(answer[half]).(Object)
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

// groupChat returns a group in the list of chats.
func groupChat(group *simnet.Group, participants int) Object {
	return Chat(Object{"jid": group.JID().String(), "lid": nil, "username": nil, "isGroup": true, "name": group.Name(), "participants": participants})
}

// sortMembers sorts participants: the store lists those with the most rights first,
// the network in the order of joining.
func sortMembers[T any](members []T) {
	slices.SortFunc(members, func(a, b T) int {
		return cmp.Compare(fmt.Sprint(any(a).(Object)["jid"]), fmt.Sprint(any(b).(Object)["jid"]))
	})
}
