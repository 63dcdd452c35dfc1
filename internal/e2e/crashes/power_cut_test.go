package crashes

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/traffic"
	"bridged/internal/e2e/powercut"
	"bridged/internal/simnet"
)

var (
	cutCount = flag.Int("cuts", 3, "how often the power is cut under load; the published figures are of 30")
	cutRate  = flag.Int("cuts.rate", 60, "messages a second while it is cut")
)

// TestPowerCut_LosesAndDoublesNothing cuts the power at random moments under load:
// messages with reactions, edits and deletions in chats and in a group, file
// downloads, sends with keys, changes of the group from both sides. After each cut
// the program starts on the data that fsync had brought to the disk; after every
// other cut, some unsynced data has reached the disk, too. The first cut comes
// right after the pairing, and every third right after a start. At the end
// everything written, sent and changed is there once, and no deleted text is on the
// disk.
//
//	go test ./internal/e2e/crashes -run TestPowerCut -v -timeout 20m -args -cuts 30
func TestPowerCut_LosesAndDoublesNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(*cutCount)*20*time.Second+2*TestTimeout)
	defer cancel()
	c := newCutting(ctx, t)
	began := time.Now()
	work, stop := context.WithCancel(ctx)
	var actors sync.WaitGroup
	for _, act := range []func(context.Context){func(ctx context.Context) { c.Load.Run(ctx, *cutRate) }, c.send(ctx), c.changeGroup(ctx), c.renameGroup, c.ExchangeFiles} {
		actors.Go(func() { act(work) })
	}
	for n := range *cutCount {
		if n%3 == 2 {
			c.Bridge.Becomes(bridge.StateOpen)
		}
		if n > 0 && Pause(ctx, time.Duration(rand.IntN(1200))*time.Millisecond) != nil {
			t.Fatal(ctx.Err())
		}
		c.cut(n%2 == 1)
	}
	c.Bridge.Becomes(bridge.StateOpen)
	if Pause(ctx, 2100*time.Millisecond) != nil { // at least until Mia has sent a file
		t.Fatal(ctx.Err())
	}
	stop()
	actors.Wait()
	if err := c.Device.WaitQuiet(ctx); err != nil {
		t.Fatal(err)
	}
	total, lost, doubled := 0, 0, 0
	for _, chat := range c.Load.Chats {
		l, d := chat.Compare(t, c.Bridge)
		total, lost, doubled = total+len(chat.Sent), lost+l, doubled+d
	}
	c.CompareSends()
	for _, id := range c.CompareMia() {
		c.Download(ctx, id)
	}
	c.compareGroup()
	deleted := c.forgetsTheDeleted()
	t.Logf("%d cuts in %v: %d messages, %d reactions, edits and deletions, %d sends, %d changes of the group, %d files: lost %d, doubled %d; %d deleted texts left no trace",
		*cutCount, time.Since(began).Round(time.Second), total, c.Load.Changes, len(c.Sends.Sent), c.groupChanges, len(c.Files.Hashes), lost, doubled, deleted)
	if total == 0 || len(c.Sends.Sent) == 0 || c.groupChanges == 0 || deleted == 0 {
		t.Error("too little was going on")
	}
}

// cutting is a program whose power is cut, with the people and callers around it.
type cutting struct {
	Soak
	dir   string // the data directory, where the disk is mounted
	disk  *powercut.Disk
	mount *powercut.Mount
	group *simnet.Group

	mu           sync.Mutex // guards everything below
	subject      string     // the group's name, as last changed by the owner's phone
	topic        string     // its topic, as last changed by the API
	groupChanges int
}

// newCutting pairs a program on a new disk.
func newCutting(ctx context.Context, t testing.TB) *cutting {
	t.Helper()
	c := &cutting{Soak: Soak{T: t, Network: NewNetwork(t)}, dir: t.TempDir(), disk: powercut.New()}
	c.powerOn()
	t.Cleanup(c.powerOff)
	newcomer := func(number, name string) *simnet.Phone {
		return Must(c.Network.NewPhone(ctx, simnet.PhoneOptions{Number: number, Name: name}))(t)
	}
	c.Owner, c.Lee, c.Mia = newcomer("15550100200", "Alex"), newcomer("15550100303", "Lee"), newcomer("15550100304", "Mia")
	sam, kim := newcomer("15550100301", "Sam"), newcomer("15550100302", "Kim")
	c.group = Must(c.Owner.CreateGroup(ctx, simnet.GroupOptions{Subject: "Load", Members: []*simnet.Phone{sam, kim}}))(t)
	c.Load = &Traffic{T: t, Owner: c.Owner, Chats: []*TrafficChat{
		{JID: bridge.PhoneJID(sam.Number()), To: c.Owner.PN(), Writers: []*simnet.Phone{sam}},
		{JID: bridge.PhoneJID(kim.Number()), To: c.Owner.LID(), Writers: []*simnet.Phone{kim}},
		{JID: bridge.JID(c.group.JID().String()), To: c.group.JID(), Writers: []*simnet.Phone{sam, kim}},
	}}
	c.Bridge = StartBridge(t, c.Network, "LOG_LEVEL=info", "DATA_DIR="+c.dir)
	c.Calls = NewSoakClient(t, c.Bridge.Address)
	c.Device = Pair(t, c.Bridge, c.Owner)
	return c
}

// powerOn mounts the disk at the data directory.
func (c *cutting) powerOn() {
	c.T.Helper()
	var err error
	c.mount, err = c.disk.Mount(c.dir)
	if errors.Is(err, powercut.ErrNoFUSE) {
		c.T.Skip(err)
	}
	if err != nil {
		c.T.Fatal(err)
	}
}

// powerOff unmounts the disk.
func (c *cutting) powerOff() {
	if err := c.mount.Unmount(); err != nil {
		c.T.Error(err)
	}
}

// cut cuts the power and starts the program on the remains.
func (c *cutting) cut(someSurvives bool) {
	c.T.Helper()
	c.disk.Cut(func() { c.Bridge.Signal(syscall.SIGKILL) })
	<-c.Bridge.Exited
	c.Bridge.CheckLog()
	c.powerOff()
	var survives func() bool
	if someSurvives {
		survives = func() bool { return rand.IntN(2) == 0 }
	}
	c.disk = c.disk.Remains(survives)
	c.powerOn()
	c.Bridge.Start()
	c.Calls.MoveTo(c.Bridge.Address)
}

// send returns an actor that sends texts to Lee, each with a key and until it
// succeeds, even after the other actors have stopped.
func (c *cutting) send(whole context.Context) func(context.Context) {
	to := bridge.PhoneJID(c.Lee.Number())
	return func(ctx context.Context) {
		for n := 0; Pause(ctx, 50*time.Millisecond) == nil; n++ {
			text := fmt.Sprintf("sent-%d", n)
			c.Sends.Note(text, 0)
			c.Sends.Note(text, c.UntilDone(whole, http.MethodPost, "/api/messages/send", fmt.Sprintf(`{"jid":%q,"text":%q}`, to, text), "key-"+text))
		}
	}
}

// renameGroup changes the group's name on the owner's phone.
func (c *cutting) renameGroup(ctx context.Context) {
	for n := 0; Pause(ctx, 300*time.Millisecond) == nil; n++ {
		subject := fmt.Sprintf("Load %d", n)
		if err := c.group.SetSubject(Within(c.T), c.Owner, subject); err != nil {
			c.T.Errorf("rename the group: %v", err)
			return
		}
		c.mu.Lock()
		c.subject = subject
		c.groupChanges++
		c.mu.Unlock()
	}
}

// changeGroup returns an actor that changes the group's topic over the API, each
// time with a key and until it succeeds.
func (c *cutting) changeGroup(whole context.Context) func(context.Context) {
	where := Path("/api/groups/%s", c.group.JID())
	return func(ctx context.Context) {
		for n := 0; Pause(ctx, 250*time.Millisecond) == nil; n++ {
			topic := fmt.Sprintf("topic-%d", n)
			if c.UntilDone(whole, http.MethodPatch, where, fmt.Sprintf(`{"topic":%q}`, topic), "key-"+topic) != http.StatusOK {
				return
			}
			c.mu.Lock()
			c.topic = topic
			c.groupChanges++
			c.mu.Unlock()
		}
	}
}

// compareGroup compares the stored group with its last changes.
func (c *cutting) compareGroup() {
	c.T.Helper()
	detail := Must(c.Bridge.API.Group(Within(c.T), bridge.JID(c.group.JID().String())))(c.T)
	if detail.Stored.Name != c.subject {
		c.T.Errorf("the group's name is stored as %q, and is %q", detail.Stored.Name, c.subject)
	}
	if detail.Stored.Topic != c.topic {
		c.T.Errorf("the group's topic is stored as %q, and is %q", detail.Stored.Topic, c.topic)
	}
	if detail.Live == nil || detail.Live.Topic != detail.Stored.Topic {
		c.T.Errorf("the group's topic is stored as %q, and the network says %+v", detail.Stored.Topic, detail.Live)
	}
}

// forgetsTheDeleted waits until the disk, as another cut would leave it, contains
// none of the deleted texts. Decrypted stanzas that a cut has brought back into
// whatsmeow's buffer are cleared within two hours, as after a kill; here they are
// cleared at once, after which the session's file must not contain them either.
func (c *cutting) forgetsTheDeleted() (texts int) {
	c.T.Helper()
	secrets := make(map[string][]byte)
	for _, chat := range c.Load.Chats {
		for _, m := range chat.Sent {
			if m.Deleted {
				secrets[m.Content] = []byte(m.Content)
			}
		}
	}
	Eventually(c.T, func() error {
		files := c.disk.Files()
		maps.DeleteFunc(files, func(name string, _ []byte) bool { return strings.HasPrefix(name, "session.db") })
		if len(files) == 0 {
			return errors.New("there are no files: the test does not look where they are")
		}
		return without(files, secrets)
	})
	Eventually(c.T, func() error { return without(c.clearedSession(), secrets) })
	return len(secrets)
}

// without returns an error for the first secret found in a file.
func without(files, secrets map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for text, secret := range secrets {
			if bytes.Contains(files[name], secret) {
				return fmt.Errorf("a cut would leave %q in %s", text, name)
			}
		}
	}
	return nil
}

// clearedSession returns the session's database as another cut would leave it, with
// the buffer cleared. It is copied elsewhere, because a process must not map a file
// that it serves itself.
func (c *cutting) clearedSession() map[string][]byte {
	c.T.Helper()
	copied := &Process{T: c.T, Env: map[string]string{"DATA_DIR": c.T.TempDir()}}
	at := filepath.Join(copied.Env["DATA_DIR"], "session.db")
	for name, data := range c.disk.Files() {
		if name == "session.db" || name == "session.db-wal" {
			if err := os.WriteFile(filepath.Join(copied.Env["DATA_DIR"], name), data, 0o600); err != nil {
				c.T.Fatal(err)
			}
		}
	}
	copied.InDatabase("session.db", `
		PRAGMA secure_delete = ON;
		UPDATE whatsmeow_event_buffer SET plaintext = NULL WHERE plaintext IS NOT NULL;
		PRAGMA wal_checkpoint(TRUNCATE)`)
	return map[string][]byte{"session.db": Must(os.ReadFile(at))(c.T)}
}
