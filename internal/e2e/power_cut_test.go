package e2e

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
//	go test ./internal/e2e -run TestPowerCut -v -timeout 20m -args -cuts 30
func TestPowerCut_LosesAndDoublesNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(*cutCount)*20*time.Second+2*testPatience)
	defer cancel()
	c := newCutting(ctx, t)
	began := time.Now()
	work, stop := context.WithCancel(ctx)
	var actors sync.WaitGroup
	for _, act := range []func(context.Context){func(ctx context.Context) { c.load.run(ctx, *cutRate) }, c.send(ctx), c.changeGroup(ctx), c.renameGroup, c.exchangeFiles} {
		actors.Go(func() { act(work) })
	}
	for n := range *cutCount {
		if n%3 == 2 {
			c.bridge.becomes(bridge.StateOpen)
		}
		if n > 0 && pause(ctx, time.Duration(rand.IntN(1200))*time.Millisecond) != nil {
			t.Fatal(ctx.Err())
		}
		c.cut(n%2 == 1)
	}
	c.bridge.becomes(bridge.StateOpen)
	if pause(ctx, 2100*time.Millisecond) != nil { // at least until Mia has sent a file
		t.Fatal(ctx.Err())
	}
	stop()
	actors.Wait()
	if err := c.device.WaitQuiet(ctx); err != nil {
		t.Fatal(err)
	}
	total, lost, doubled := 0, 0, 0
	for _, chat := range c.load.chats {
		l, d := chat.compare(t, c.bridge)
		total, lost, doubled = total+len(chat.sent), lost+l, doubled+d
	}
	c.compareSends()
	for _, id := range c.compareMia() {
		c.download(ctx, id)
	}
	c.compareGroup()
	deleted := c.forgetsTheDeleted()
	t.Logf("%d cuts in %v: %d messages, %d reactions, edits and deletions, %d sends, %d changes of the group, %d files: lost %d, doubled %d; %d deleted texts left no trace",
		*cutCount, time.Since(began).Round(time.Second), total, c.load.changes, len(c.sends.sent), c.groupChanges, len(c.files.hashes), lost, doubled, deleted)
	if total == 0 || len(c.sends.sent) == 0 || c.groupChanges == 0 || deleted == 0 {
		t.Error("too little was going on")
	}
}

// cutting is a program whose power is cut, with the people and callers around it.
type cutting struct {
	soak
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
func newCutting(ctx context.Context, t *testing.T) *cutting {
	t.Helper()
	c := &cutting{soak: soak{t: t, network: newNetwork(t)}, dir: t.TempDir(), disk: powercut.New()}
	c.powerOn()
	t.Cleanup(c.powerOff)
	newcomer := func(number, name string) *simnet.Phone {
		return must(c.network.NewPhone(ctx, simnet.PhoneOptions{Number: number, Name: name}))(t)
	}
	c.owner, c.lee, c.mia = newcomer("15550100200", "Alex"), newcomer("15550100303", "Lee"), newcomer("15550100304", "Mia")
	sam, kim := newcomer("15550100301", "Sam"), newcomer("15550100302", "Kim")
	c.group = must(c.owner.CreateGroup(ctx, simnet.GroupOptions{Subject: "Load", Members: []*simnet.Phone{sam, kim}}))(t)
	c.load = &traffic{t: t, owner: c.owner, chats: []*trafficChat{
		{jid: bridge.PhoneJID(sam.Number()), to: c.owner.PN(), writers: []*simnet.Phone{sam}},
		{jid: bridge.PhoneJID(kim.Number()), to: c.owner.LID(), writers: []*simnet.Phone{kim}},
		{jid: bridge.JID(c.group.JID().String()), to: c.group.JID(), writers: []*simnet.Phone{sam, kim}},
	}}
	c.bridge = startBridge(t, c.network, "LOG_LEVEL=info", "DATA_DIR="+c.dir)
	c.calls = newSoakClient(t, c.bridge.address)
	c.device = pair(t, c.bridge, c.owner)
	return c
}

// powerOn mounts the disk at the data directory.
func (c *cutting) powerOn() {
	c.t.Helper()
	var err error
	c.mount, err = c.disk.Mount(c.dir)
	if errors.Is(err, powercut.ErrNoFUSE) {
		c.t.Skip(err)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// powerOff unmounts the disk.
func (c *cutting) powerOff() {
	if err := c.mount.Unmount(); err != nil {
		c.t.Error(err)
	}
}

// cut cuts the power and starts the program on the remains.
func (c *cutting) cut(someSurvives bool) {
	c.t.Helper()
	c.disk.Cut(func() { c.bridge.signal(syscall.SIGKILL) })
	<-c.bridge.exited
	c.bridge.checkLog()
	c.powerOff()
	var survives func() bool
	if someSurvives {
		survives = func() bool { return rand.IntN(2) == 0 }
	}
	c.disk = c.disk.Remains(survives)
	c.powerOn()
	c.bridge.start()
	c.calls.moveTo(c.bridge.address)
}

// send returns an actor that sends texts to Lee, each with a key and until it
// succeeds, even after the other actors have stopped.
func (c *cutting) send(whole context.Context) func(context.Context) {
	to := bridge.PhoneJID(c.lee.Number())
	return func(ctx context.Context) {
		for n := 0; pause(ctx, 50*time.Millisecond) == nil; n++ {
			text := fmt.Sprintf("sent-%d", n)
			c.sends.note(text, 0)
			c.sends.note(text, c.untilSent(whole, "/api/messages/send", fmt.Sprintf(`{"jid":%q,"text":%q}`, to, text), "key-"+text))
		}
	}
}

// renameGroup changes the group's name on the owner's phone.
func (c *cutting) renameGroup(ctx context.Context) {
	for n := 0; pause(ctx, 300*time.Millisecond) == nil; n++ {
		subject := fmt.Sprintf("Load %d", n)
		if err := c.group.SetSubject(within(c.t), c.owner, subject); err != nil {
			c.t.Errorf("rename the group: %v", err)
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
	where := path("/api/groups/%s", c.group.JID())
	return func(ctx context.Context) {
		for n := 0; pause(ctx, 250*time.Millisecond) == nil; n++ {
			topic := fmt.Sprintf("topic-%d", n)
			if c.until(whole, http.MethodPatch, where, fmt.Sprintf(`{"topic":%q}`, topic), "key-"+topic) != http.StatusOK {
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
	c.t.Helper()
	detail := must(c.bridge.api.Group(within(c.t), bridge.JID(c.group.JID().String())))(c.t)
	if detail.Stored.Name != c.subject {
		c.t.Errorf("the group's name is stored as %q, and is %q", detail.Stored.Name, c.subject)
	}
	if detail.Stored.Topic != c.topic {
		c.t.Errorf("the group's topic is stored as %q, and is %q", detail.Stored.Topic, c.topic)
	}
	if detail.Live == nil || detail.Live.Topic != detail.Stored.Topic {
		c.t.Errorf("the group's topic is stored as %q, and the network says %+v", detail.Stored.Topic, detail.Live)
	}
}

// forgetsTheDeleted waits until the disk, as another cut would leave it, contains
// none of the deleted texts. Decrypted stanzas that a cut has brought back into
// whatsmeow's buffer are cleared within two hours, as after a kill; here they are
// cleared at once, after which the session's file must not contain them either.
func (c *cutting) forgetsTheDeleted() (texts int) {
	c.t.Helper()
	secrets := make(map[string][]byte)
	for _, chat := range c.load.chats {
		for _, m := range chat.sent {
			if m.deleted {
				secrets[m.content] = []byte(m.content)
			}
		}
	}
	eventually(c.t, func() error {
		files := c.disk.Files()
		maps.DeleteFunc(files, func(name string, _ []byte) bool { return strings.HasPrefix(name, "session.db") })
		if len(files) == 0 {
			return errors.New("there are no files: the test does not look where they are")
		}
		return without(files, secrets)
	})
	eventually(c.t, func() error { return without(c.clearedSession(), secrets) })
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
	c.t.Helper()
	copied := &process{t: c.t, env: map[string]string{"DATA_DIR": c.t.TempDir()}}
	at := filepath.Join(copied.env["DATA_DIR"], "session.db")
	for name, data := range c.disk.Files() {
		if name == "session.db" || name == "session.db-wal" {
			if err := os.WriteFile(filepath.Join(copied.env["DATA_DIR"], name), data, 0o600); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	copied.inDatabase("session.db", `
		PRAGMA secure_delete = ON;
		UPDATE whatsmeow_event_buffer SET plaintext = NULL WHERE plaintext IS NOT NULL;
		PRAGMA wal_checkpoint(TRUNCATE)`)
	return map[string][]byte{"session.db": must(os.ReadFile(at))(c.t)}
}
