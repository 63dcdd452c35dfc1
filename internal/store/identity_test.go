package store

import (
	"context"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

func TestIdentity_MeansOneChatInEitherForm(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	save(t, s, says(aliceLID, aliceLID, "A1", 1, "by LID"), says(alice, alice, "A2", 2, "by number"))
	for _, jid := range []bridge.JID{alice, aliceLID} {
		sameList(t, "history of "+string(jid), ids(historyOf(t, s, jid)), []string{"A1", "A2"})
		sameList(t, "sent by "+string(jid), ids(messages(t, s, bridge.MessageQuery{Chat: alice, Sender: jid})), []string{"A2", "A1"})
		if m := message(t, s, jid, "A1"); m.SenderJID != alice || m.SenderLID != aliceLID || m.Chat != alice {
			t.Errorf("message by %s: %+v", jid, m)
		}
	}
	list := chats(t, s, bridge.ChatQuery{})
	if len(list) != 1 || list[0].JID != alice || list[0].LID != aliceLID || list[0].Participants != 2 {
		t.Errorf("chats: %+v", list)
	}
}

func TestIdentity_LearnedLateRenamesTheChat(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(aliceLID, aliceLID, "A1", 1, "who am I"))
	if list := chats(t, s, bridge.ChatQuery{}); list[0].JID != aliceLID || list[0].Name != aliceLID.User() {
		t.Errorf("before: %+v", list)
	}
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	list := chats(t, s, bridge.ChatQuery{})
	if len(list) != 1 || list[0].JID != alice || list[0].Name != alice.User() {
		t.Errorf("after: %+v", list)
	}
	if m := historyOf(t, s, aliceLID)[0]; m.SenderJID != alice {
		t.Errorf("sender: %s", m.SenderJID)
	}
}

// twoChats is a person who was met as two, in private and in a group.
func twoChats(t *testing.T, s *Store) {
	t.Helper()
	vote := bridge.PollVote{Chat: club, Target: "P1", Voter: aliceLID, Timestamp: at(9)}
	poll := says(club, bob, "P1", 3, "Lunch?")
	poll.MessageType, poll.Poll = "pollCreationMessage", &bridge.PollTally{
		Name: "Lunch?", SelectableCount: 1,
		Options: []bridge.PollOption{{Name: "yes"}, {Name: "no"}},
	}
	vote.Hashes = [][]byte{sha("yes")}
	mention := says(club, bob, "G2", 4, "@alice")
	mention.ContextInfo = &bridge.ContextInfo{QuotedMsgID: ptr("G1"), QuotedSenderJID: aliceLID, MentionedJID: []bridge.JID{aliceLID}}
	save(t, s, owner(),
		bridge.Contact{JID: aliceLID, PushName: ptr("Ali")},
		bridge.Contact{JID: alice, Name: ptr("Alice A.")},
		bridge.Group{JID: club, Name: "Club", OwnerJID: aliceLID, Participants: []bridge.Participant{
			{JID: alice}, {JID: aliceLID, IsAdmin: true}, {JID: bob},
		}},
		says(alice, alice, "A1", 1, "by number"),
		says(aliceLID, aliceLID, "A2", 2, "by LID"),
		says(aliceLID, aliceLID, "A1", 1, "by number"), // delivered under both
		placeholder(alice, alice, "A3", 5),
		says(aliceLID, aliceLID, "A3", 5, "the real one"),
		says(club, aliceLID, "G1", 3, "in the group"),
		poll, mention, vote,
		bridge.ReactionChange{Chat: club, Target: "P1", Sender: alice, Emoji: "👍", Timestamp: at(6)},
		bridge.ReactionChange{Chat: club, Target: "P1", Sender: aliceLID, Emoji: "🎉", Timestamp: at(7)},
		bridge.ReactionChange{Chat: aliceLID, Target: "A1", Sender: me, Emoji: "❤️", Timestamp: at(8)},
		bridge.ChatTimer{Chat: aliceLID, Seconds: 60},
	)
}

func TestIdentity_LearnedLateMakesTwoChatsOne(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	twoChats(t, s)
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})

	list := chats(t, s, bridge.ChatQuery{Type: bridge.ChatsIndividual})
	if len(list) != 1 || list[0].JID != alice || list[0].Name != "Alice A." || *list[0].LastMessageAt != at(5) {
		t.Errorf("chats: %+v", list)
	}
	private := historyOf(t, s, aliceLID)
	sameList(t, "history", ids(private), []string{"A1", "A2", "A3"})
	for _, m := range private {
		if m.SenderJID != alice || m.Chat != alice || m.Content == "" || m.PushName != "Ali" {
			t.Errorf("message: %+v", m)
		}
	}
	if r := private[0].Reactions; len(r) != 1 || r[0].SenderJID != me {
		t.Errorf("the duplicate's reaction: %+v", r)
	}
	if timer, err := s.ChatTimer(context.Background(), alice); err != nil || timer.Seconds != 60 {
		t.Errorf("timer: %v, %v", timer, err)
	}
	checkCounts(t, s)
}

func TestIdentity_LearnedLateHoldsInGroups(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	twoChats(t, s)
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})

	g, err := s.Group(context.Background(), club)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Participants) != 2 || g.OwnerJID != alice {
		t.Errorf("group: %+v", g)
	}
	if p := g.Participants[0]; p.JID != alice || p.LID != aliceLID || !p.IsAdmin || p.DisplayName != "Alice A." {
		t.Errorf("participant: %+v", p)
	}
	if c, err := s.Chat(context.Background(), club); err != nil || c.Participants != 2 {
		t.Errorf("chat: %+v, %v", c, err)
	}
	if m := message(t, s, club, "G1"); m.SenderJID != alice {
		t.Errorf("sender: %s", m.SenderJID)
	}
	if c := message(t, s, club, "G2").ContextInfo; c.QuotedSenderJID != alice || c.MentionedJID[0] != alice {
		t.Errorf("context: %+v", c)
	}
	poll := message(t, s, club, "P1")
	if len(poll.Reactions) != 1 || poll.Reactions[0].Emoji != "🎉" || poll.Reactions[0].SenderJID != alice {
		t.Errorf("reactions: %+v", poll.Reactions)
	}
	if o := poll.Poll.Options[0]; o.Votes != 1 || o.Voters[0] != alice {
		t.Errorf("votes: %+v", o)
	}
	sameList(t, "sent by her", ids(messages(t, s, bridge.MessageQuery{Chat: club, Sender: aliceLID})), []string{"G1"})
}

func TestIdentity_SurvivesReopening(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/bridged.db"
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	twoChats(t, s)
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, path)
	if got := s.Canonical(aliceLID); got != alice {
		t.Errorf("canonical: %s", got)
	}
	if got := s.LIDOf(alice); got != aliceLID {
		t.Errorf("LID: %s", got)
	}
	if m := message(t, s, club, "G1"); m.SenderJID != alice || m.SenderLID != aliceLID {
		t.Errorf("message: %+v", m)
	}
}

func TestIdentity_ANumberThatGetsANewLIDStaysThePerson(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID}, says(alice, alice, "A1", 1, "old LID"))
	save(t, s, bridge.Identity{PN: alice, LID: bobLID}, says(bobLID, bobLID, "A2", 2, "new LID"))
	sameList(t, "history", ids(historyOf(t, s, alice)), []string{"A1", "A2"})
	sameList(t, "history by the old LID", ids(historyOf(t, s, aliceLID)), []string{"A1", "A2"})
	if got := s.LIDOf(alice); got != bobLID {
		t.Errorf("LID: %s", got)
	}
}

func TestIdentity_ALIDThatGetsANewNumberMovesWithoutMixingHistories(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID}, says(alice, alice, "A1", 1, "old number"))
	save(t, s, says(bob, bob, "B1", 1, "the new number's former owner"))
	save(t, s, bridge.Identity{PN: bob, LID: aliceLID}, says(aliceLID, aliceLID, "B2", 2, "new number"))
	sameList(t, "old number", ids(historyOf(t, s, alice)), []string{"A1"})
	sameList(t, "new number", ids(historyOf(t, s, bob)), []string{"B1", "B2"})
	if got := s.LIDOf(alice); got != "" {
		t.Errorf("the old number still has a LID: %s", got)
	}
	// and back again, as a late stanza may say
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID}, says(aliceLID, aliceLID, "A2", 3, "back"))
	sameList(t, "old number", ids(historyOf(t, s, alice)), []string{"A1", "A2"})
	checkCounts(t, s)
}

func TestIdentity_IgnoresWhatIsNoPair(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.Identity{}, bridge.Identity{PN: alice}, bridge.Identity{PN: aliceLID, LID: alice}, bridge.Identity{PN: club, LID: aliceLID})
	if got := s.Canonical(aliceLID); got != aliceLID {
		t.Errorf("canonical: %s", got)
	}
}

func TestOwner_IsOneAccountForGood(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	if _, known, err := s.OwnerOf(ctx); known || err != nil {
		t.Fatalf("a new store has an owner: %v", err)
	}
	save(t, s, bridge.Owner{PN: me}, says(me, me, "S1", 1, "note to self"))
	save(t, s, owner())
	if got, known, err := s.OwnerOf(ctx); got != owner() || !known || err != nil {
		t.Errorf("owner: %+v %v %v", got, known, err)
	}
	wantCode(t, s.Save(ctx, bridge.Owner{PN: bob, LID: bobLID}), bridge.CodeOtherAccount)
	wantCode(t, s.Save(ctx, bridge.Owner{PN: bob}), bridge.CodeOtherAccount)
	if c, err := s.Chat(ctx, meLID); err != nil || c.Participants != 1 {
		t.Errorf("the chat with oneself: %+v, %v", c, err)
	}
}

// TestOwner_IsTheSameByLIDOrSpelling: an account that WhatsApp names by the other
// spelling of its number, or by a new number with the LID that is known, is the same.
func TestOwner_IsTheSameByLIDOrSpelling(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	short, long := bridge.PhoneJID("553187654321"), bridge.PhoneJID("5531987654321")
	for name, later := range map[string]bridge.Owner{"spelling": {PN: long}, "number": {PN: bob, LID: meLID}} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			save(t, s, bridge.Owner{PN: short, LID: meLID}, says(short, short, "S1", 1, "note to self"))
			save(t, s, later)
			if got, _, err := s.OwnerOf(ctx); got != (bridge.Owner{PN: later.PN, LID: meLID}) || err != nil {
				t.Errorf("owner: %+v, %v", got, err)
			}
			if m, err := s.Message(ctx, short, "S1"); err != nil || m.Content != "note to self" {
				t.Errorf("an earlier message: %+v, %v", m, err)
			}
			wantCode(t, s.Save(ctx, bridge.Owner{PN: bridge.PhoneJID("5531987654322"), LID: bobLID}), bridge.CodeOtherAccount)
		})
	}
}

// checkCounts compares what is kept on chats with the messages themselves.
func checkCounts(t *testing.T, s *Store) {
	t.Helper()
	err := s.Read(context.Background(), func(r *read.Snapshot) {
		for what, query := range map[string]string{
			"counts": `SELECT count(*) FROM chats c WHERE message_count != (SELECT count(*) FROM messages WHERE chat = c.id)`,
			"last messages": `SELECT count(*) FROM chats c
				WHERE last_message_at IS NOT (SELECT max(timestamp) FROM messages WHERE chat = c.id)`,
			"reactions": `SELECT count(*) FROM messages m
				WHERE reactions != (SELECT count(*) FROM reactions WHERE message = m.seq AND emoji != '')`,
			"participants": `SELECT count(*) FROM chats c JOIN groups g ON g.chat = c.id
				WHERE g.known AND participants != (SELECT count(*) FROM members WHERE chat = c.id)`,
			"bodies": `SELECT count(*) FROM messages m WHERE NOT EXISTS (SELECT 1 FROM message_raw WHERE seq = m.seq)`,
		} {
			var wrong int
			r.Find(query, nil, &wrong)
			if wrong != 0 {
				t.Errorf("%d rows have wrong %s", wrong, what)
			}
		}
		r.Find("SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM pragma_foreign_key_check)", nil, new(int))
	})
	if err != nil {
		t.Errorf("check the store: %v", err)
	}
}
