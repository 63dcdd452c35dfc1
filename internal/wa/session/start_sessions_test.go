package session

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet"
)

// clientOf returns a client that sends its queries through a plain one.
func clientOf(c *plainClient) *Client {
	return &Client{Client: c.Client, Device: *c.Store.ID, log: zerolog.Nop(), stores: *c.Store}
}

// TestQuirk_ADeviceWhoseSessionIsNotReturnedIsLeftOut, and its keys are not
// queried, unlike those of a device whose session is returned as nil.
func TestQuirk_ADeviceWhoseSessionIsNotReturnedIsLeftOut(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	ctx := plainContext(t)
	friend := c.friend.Device()
	c.store.mu.Lock()
	c.store.keepBack = friend.LID().SignalAddress().String()
	c.store.mu.Unlock()
	if _, err := c.SendMessage(ctx, c.friend.PN(), text("to nobody")); err != nil {
		t.Fatal(err)
	}
	if taken := friend.Counters().KeysTaken; taken != 0 {
		t.Errorf("the network was asked for %d keys of the device", taken)
	}
	c.store.mu.Lock()
	c.store.keepBack = ""
	c.store.mu.Unlock()
	if _, err := c.SendMessage(ctx, c.friend.PN(), text("to somebody")); err != nil {
		t.Fatal(err)
	}
	if taken := friend.Counters().KeysTaken; taken != 1 {
		t.Errorf("%d keys of the device were taken, want 1", taken)
	}
}

// TestQuirk_KeysAreAskedForAndReadAsWhatsmeowDoes: both read the same keys from an
// answer, except for the one-time key, which each gets its own of.
func TestQuirk_KeysAreAskedForAndReadAsWhatsmeowDoes(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	ctx := plainContext(t)
	device := c.friend.Device().LID()
	nobody := types.JID{User: "999999999999999", Server: types.HiddenUserServer}
	got, err := clientOf(c).fetchKeys(ctx, []types.JID{device, nobody})
	if err != nil {
		t.Fatal(err)
	}
	//lint:ignore SA1019 it is what is compared with
	want := c.DangerousInternals().FetchPreKeysNoError(ctx, []types.JID{device, nobody})
	if len(got) != 1 || len(want) != 1 || got[device] == nil || want[device] == nil {
		t.Fatalf("got %v, want %v", got, want)
	}
	ours, theirs := got[device], want[device]
	if ours.IdentityKey().PublicKey().PublicKey() != theirs.IdentityKey().PublicKey().PublicKey() ||
		ours.SignedPreKeySignature() != theirs.SignedPreKeySignature() || ours.SignedPreKeyID() != theirs.SignedPreKeyID() ||
		ours.SignedPreKey().PublicKey() != theirs.SignedPreKey().PublicKey() ||
		ours.RegistrationID() != theirs.RegistrationID() || ours.DeviceID() != theirs.DeviceID() {
		t.Error("the keys differ from those that whatsmeow reads")
	}
	if ours.PreKeyID() == nil || theirs.PreKeyID() == nil || ours.PreKeyID().Value == theirs.PreKeyID().Value {
		t.Error("the one-time keys are not two of one device")
	}
	c.device.FailQueries(simnet.IQFault{Namespace: "encrypt", Tag: "key", Code: 429, Text: "rate-overlimit"})
	var refused *whatsmeow.IQError
	if _, err := clientOf(c).fetchKeys(ctx, []types.JID{device}); !errors.As(err, &refused) || refused.Code != 429 {
		t.Errorf("a refused query: got %v", err)
	}
}

func TestQuirk_TheMembersThatASendGoesTo(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	ctx := plainContext(t)
	group, err := c.phone.CreateGroup(ctx, simnet.GroupOptions{Subject: "crew", Members: []*simnet.Phone{c.friend}})
	if err != nil {
		t.Fatal(err)
	}
	members, err := clientOf(c).groupMembers(ctx, group.JID())
	if err != nil || !slices.Equal(members, group.Members()) {
		t.Errorf("got %v, %v, want %v", members, err, group.Members())
	}
}

// TestQuirk_ALateAnswerReachesItsWaiter: an acknowledgement that comes after
// whatsmeow has stopped waiting, a refusal, and the end of the connection.
func TestQuirk_ALateAnswerReachesItsWaiter(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	ctx := plainContext(t)
	late := func(id string) (whatsmeow.SendResponse, error) {
		extra := whatsmeow.SendRequestExtra{ID: id, Timeout: time.Millisecond}
		if _, err := c.SendMessage(ctx, c.friend.PN(), text(id), extra); !errors.Is(err, whatsmeow.ErrMessageTimedOut) {
			t.Fatalf("%s: answered before its time: %v", id, err)
		}
		l := clientOf(c)
		resp, _, err := l.LateAnswer(ctx, l.AwaitResponse(id), time.Minute)
		return resp, err
	}
	delay := 300 * time.Millisecond
	c.device.FailSends(simnet.SendFault{AckDelay: delay}, simnet.SendFault{AckDelay: delay, Code: 479}, simnet.SendFault{LoseAck: true})
	if resp, err := late("LATE"); err != nil || resp.Timestamp.IsZero() {
		t.Errorf("acknowledged: got %v, %v", resp, err)
	}
	if _, err := late("REFUSED"); ServerCode(err) != 479 {
		t.Errorf("refused: got %v", err)
	}
	time.AfterFunc(delay, c.device.Drop)
	var lost *whatsmeow.DisconnectedError
	if _, err := late("LOST"); !errors.As(err, &lost) {
		t.Errorf("disconnected: got %v", err)
	}
}
