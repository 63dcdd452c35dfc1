package wa_test

import (
	"context"
	"database/sql"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet"
)

// TestMalformedMessage_DoesNotBlockWhatIsBehindIt covers messages that once
// panicked in the handler, were refused and came again forever.
func TestMalformedMessage_DoesNotBlockWhatIsBehindIt(t *testing.T) {
	key := &waCommon.MessageKey{ID: proto.String("GONE"), FromMe: proto.Bool(true)}
	for name, msg := range map[string]*waE2E.Message{
		"an edit without content":        {ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), Key: key}},
		"an encrypted edit without type": {SecretEncryptedMessage: &waE2E.SecretEncryptedMessage{TargetMessageKey: key}},
		"a reaction to nothing":          {ReactionMessage: &waE2E.ReactionMessage{}},
		"a vote in nothing":              {PollUpdateMessage: &waE2E.PollUpdateMessage{}},
		"a deletion of nothing":          {ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_REVOKE.Enum()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			network := newNetwork(t)
			a := newAccount(t, network)
			friend := newPhone(t, network, "15550100301", "Sam")
			if _, err := friend.Send(ctx, a.phone.PN(), msg); err != nil {
				t.Fatal(err)
			}
			if _, err := friend.SendText(ctx, a.phone.PN(), "behind it"); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the message behind it", func() bool {
				list := a.messages(jidOf(friend))
				return len(list) == 1 && list[0].Content == "behind it"
			})
		})
	}
}

// TestReaction_FromTheFutureDoesNotOutlastTheNext covers a sender's claimed time
// that once blocked every later change and was shown with a year of nine digits.
func TestReaction_FromTheFutureDoesNotOutlastTheNext(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	id, err := friend.SendText(ctx, a.phone.PN(), "what do I think of this?")
	if err != nil {
		t.Fatal(err)
	}
	react := func(emoji string, ms int64) {
		t.Helper()
		_, err := friend.Send(ctx, a.phone.PN(), &waE2E.Message{ReactionMessage: &waE2E.ReactionMessage{
			Key: &waCommon.MessageKey{ID: &id, FromMe: proto.Bool(true)}, Text: &emoji, SenderTimestampMS: &ms,
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	react("👎", math.MaxInt64)
	react("👍", time.Now().Add(2*time.Second).UnixMilli())
	eventually(t, "the second reaction", func() bool {
		list := a.messages(jidOf(friend))
		return len(list) == 1 && len(list[0].Reactions) == 1 && list[0].Reactions[0].Emoji == "👍"
	})
}

// TestStrangeIDs_DoNotBlockWhatIsBehindThem: a sender chooses the id.
func TestStrangeIDs_DoNotBlockWhatIsBehindThem(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	ids := []string{".", "..", "a/../b", "a\x00b", "a\nb", "\x1b[2J", strings.Repeat("x", 300)}
	for _, id := range ids {
		if _, err := friend.SendText(ctx, a.phone.PN(), "hello", simnet.WithID(id)); err != nil {
			t.Fatalf("%q: %v", id, err)
		}
	}
	if _, err := friend.SendText(ctx, a.phone.PN(), "behind them"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the message behind them", func() bool {
		list := a.messages(jidOf(friend))
		return len(list) == len(ids)+1 && list[len(ids)].Content == "behind them"
	})
	for _, m := range a.messages(jidOf(friend)) {
		if one, err := a.store.Message(ctx, jidOf(friend), m.ID); err != nil || one.ID != m.ID {
			t.Errorf("%q: %v", m.ID, err)
		}
	}
}

func TestLargePicture_WithoutItsSmallOneIsAMessage(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	_, err := friend.Send(ctx, a.phone.PN(), &waE2E.Message{
		ImageMessage: &waE2E.ImageMessage{Caption: proto.String("large"), Mimetype: proto.String("image/jpeg")},
		MessageContextInfo: &waE2E.MessageContextInfo{MessageAssociation: &waE2E.MessageAssociation{
			AssociationType:  waE2E.MessageAssociation_HD_IMAGE_DUAL_UPLOAD.Enum(),
			ParentMessageKey: &waCommon.MessageKey{ID: proto.String("GONE"), FromMe: proto.Bool(true)},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the large picture", func() bool {
		list := a.messages(jidOf(friend))
		return len(list) == 1 && list[0].Content == "large"
	})
}

// TestSessionStoreFailing_MessageComesAgain locks session.db as another program
// would: messages that come meanwhile are neither acknowledged nor lost.
func TestSessionStoreFailing_MessageComesAgain(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	dir := t.TempDir()
	a := startAccount(t, network, dir)
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
	friend := newPhone(t, network, "15550100301", "Sam")
	say := func(text string) simnet.MessageID {
		id, err := friend.SendText(ctx, a.phone.PN(), text)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	say("before")
	eventually(t, "the first message", func() bool { return len(a.messages(jidOf(friend))) == 1 })
	if err := a.device().WaitQuiet(ctx); err != nil {
		t.Fatal(err)
	}
	unlock := lockDatabase(t, filepath.Join(dir, "session.db"))
	id := say("meanwhile")
	logins := a.device().Counters().Logins
	eventually(t, "the connection to be cut", func() bool { return !a.device().Online() || a.device().Counters().Logins > logins })
	unlock()
	say("after")
	if err := a.device().WaitAcknowledged(ctx, id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all in order", func() bool {
		list := a.messages(jidOf(friend))
		return len(list) == 3 && list[1].Content == "meanwhile" && list[2].Content == "after"
	})
}

// lockDatabase takes the write lock of a SQLite file until unlock.
func lockDatabase(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
