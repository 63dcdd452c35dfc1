package wa_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/appstate"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
)

const contacts = appstate.WAPatchCriticalUnblockLow

// addressBook is an account whose phone names people, with one of them.
type addressBook struct {
	*account
	network *simnet.Network
	dir     string
	friend  *simnet.Phone
}

func newAddressBook(t *testing.T) *addressBook {
	t.Helper()
	network, dir := newNetwork(t), t.TempDir()
	b := &addressBook{network: network, account: newAccountIn(t, network, dir), dir: dir, friend: newPhone(t, network, "15550100301", "Sam")}
	if _, err := b.friend.SendText(testContext(t), b.phone.PN(), "hello"); err != nil {
		t.Fatal(err)
	}
	b.name("Sam One")
	b.named("Sam One") // the collection has been read once
	return b
}

// name adds the friend to the phone's address book.
func (b *addressBook) name(name string) {
	b.t.Helper()
	if err := b.phone.SetContact(testContext(b.t), b.friend.Number(), name, "Sam"); err != nil {
		b.t.Fatal(err)
	}
}

// named waits until the chat has a name.
func (b *addressBook) named(name string) {
	b.t.Helper()
	eventually(b.t, "the name "+name, func() bool { return b.chatWith(b.friend).Name == name })
}

// spoil adds a name of which the bridge gets a wrong hash.
func (b *addressBook) spoil(name string) {
	b.t.Helper()
	b.phone.SpoilAppState(contacts, -1)
	b.name(name)
}

// isBehind reports whether the store has noted that a collection could not be read.
func (b *addressBook) isBehind() bool {
	b.t.Helper()
	since, err := b.store.Setting(testContext(b.t), "appstate_behind")
	if err != nil {
		b.t.Fatal(err)
	}
	return since != ""
}

// TestSyncRepair_ReadsTheWholeCollection: once is enough if one patch was damaged
// on its way.
func TestSyncRepair_ReadsTheWholeCollection(t *testing.T) {
	t.Parallel()
	b := newAddressBook(t)
	archive := func(archived bool) {
		t.Helper()
		if err := b.phone.SendAppState(testContext(t), appstate.BuildArchive(b.friend.PN(), archived, time.Time{}, nil)); err != nil {
			t.Fatal(err)
		}
		eventually(t, fmt.Sprintf("archived: %t", archived), func() bool { return b.chatWith(b.friend).Archived == archived })
	}
	archive(true)
	b.phone.SpoilAppState(appstate.WAPatchRegularLow, 1)
	archive(false)
	if asked := b.phone.Recoveries(); len(asked) > 0 {
		t.Errorf("the phone was asked for %v", asked)
	}
	archive(true)
}

// TestSyncRepair_AsksThePhone for a collection that cannot be read whole either,
// and not again within two days, restarts included.
func TestSyncRepair_AsksThePhone(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	b := newAddressBook(t)
	b.spoil("Sam Two")
	b.named("Sam Two")
	if asked := b.phone.Recoveries(); len(asked) != 1 || asked[0] != string(contacts) {
		t.Errorf("the phone was asked for %v", asked)
	}
	b.name("Sam Three")
	b.named("Sam Three") // changes come through again

	const noted = "appstate_recovered." + string(contacts)
	device := b.device()
	b.stop()
	again := *b
	again.account = startAccount(t, b.network, b.dir)
	again.phone = b.phone
	again.waitState(bridge.StateOpen)
	eventually(t, "all in order", func() bool { return !again.isBehind() })
	before := device.Queries("w:sync:app:state")
	again.spoil("Sam Four")
	eventually(t, "a note that it is not", again.isBehind) // which the next start finds
	// In part, and whole.
	eventually(t, "two tries to read it", func() bool { return device.Queries("w:sync:app:state") >= before+2 })
	again.stop()
	if asked := b.phone.Recoveries(); len(asked) != 1 {
		t.Errorf("within two days the phone was asked for %v", asked)
	}
	third := *b
	third.account = startAccount(t, b.network, b.dir, func(s *store.Store) {
		long := strconv.FormatInt(time.Now().Add(-49*time.Hour).Unix(), 10)
		if err := s.SetSetting(ctx, noted, long); err != nil {
			t.Fatal(err)
		}
	})
	third.phone = b.phone
	third.named("Sam Four")
	if asked := b.phone.Recoveries(); len(asked) != 2 {
		t.Errorf("after two days the phone was asked for %v", asked)
	}
}

// TestSyncRepair_FindsThePushName: without it there is no presence, and the phone
// does not ring.
func TestSyncRepair_FindsThePushName(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := startAccount(t, network, t.TempDir())
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.phone.SpoilAppState(appstate.WAPatchCriticalBlock, -1)
	if err := a.phone.SetPushName(testContext(t), "Alex A."); err != nil {
		t.Fatal(err)
	}
	a.pair()
	eventually(t, "the push name", func() bool {
		user := a.manager.Status().User
		return user != nil && user.PushName == "Alex A."
	})
}

// TestSyncRepair_AsksForKeysAgain: a request that the phone never got is repeated
// after a restart.
func TestSyncRepair_AsksForKeysAgain(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	b := newAddressBook(t)
	b.phone.IgnoreRequests(true)
	if err := b.phone.ChangeSyncKey(ctx); err != nil {
		t.Fatal(err)
	}
	b.name("Sam Two")
	eventually(t, "that something is missing is noted", func() bool {
		since, err := b.store.Setting(ctx, "appstate_behind")
		return err == nil && since != ""
	})
	b.stop()
	b.phone.IgnoreRequests(false)
	again := *b
	again.account = startAccount(t, b.network, b.dir)
	again.phone = b.phone
	again.named("Sam Two")
}
