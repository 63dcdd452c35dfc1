package fleet

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A bridge that ends between publishing and saving its cursor doubles nothing:
// where to go on is in the stream, long after the server has forgotten the ids.
func TestEvents_KilledBetweenPublishingAndTheCursor(t *testing.T) {
	t.Parallel()
	prefix := fresh("killed")
	log := newMemoryLog(ada)
	c := newConsumer(t, sharedCluster(t), prefix)
	for round := int64(1); round <= 5; round++ {
		log.change(func(l *memoryLog) { l.saveErr = nil })
		f := run(t, optionsOf(t, prefix, log))
		log.write(10)
		want(t, c.read(ada, 100*round-90), upTo(1, 100*round-90)...)
		log.change(func(l *memoryLog) { l.saveErr = errors.New("the disk is gone") })
		log.write(90)
		c.read(ada, 100*round)
		f.stop()
	}
	want(t, c.read(ada, 500), upTo(1, 500)...)
	if log.position.Event == 500 {
		t.Error("the cursor was saved")
	}
}

// Two who publish the same log at once hinder each other, and nothing comes
// twice or out of its place: every message names the one before it.
func TestEvents_TwoPublishersOfOneLog(t *testing.T) {
	t.Parallel()
	prefix := fresh("two")
	log := newMemoryLog(ada)
	log.position.LogID = "shared"
	run(t, optionsOf(t, prefix, log))
	run(t, optionsOf(t, prefix, log))
	for range 60 {
		log.write(10)
		time.Sleep(time.Millisecond) // so that both are awake between
	}
	want(t, newConsumer(t, sharedCluster(t), prefix).read(ada, 600), upTo(1, 600)...)
}

// Events that leave the log before they were published are replaced by a reset.
func TestEvents_ThatLeaveTheLogFirst(t *testing.T) {
	t.Parallel()
	prefix := fresh("left")
	log := newMemoryLog(ada)
	c := newConsumer(t, sharedCluster(t), prefix)
	f := run(t, optionsOf(t, prefix, log))
	log.write(10)
	c.read(ada, 10)
	f.stop()
	log.write(30)
	log.prune(25)
	run(t, optionsOf(t, prefix, log))
	all := c.read(ada, 40)
	want(t, all, append(append(upTo(1, 10), -25), upTo(26, 40)...)...)
	if reset := all[10]; reset.subject != prefix+"."+ada+".events.reset" || reset.header.Get("Nats-Msg-Id") != reset.log+".25.reset" {
		t.Errorf("%s %v", reset.subject, reset.header)
	}
}

// What is not shown any more is left out, and is no reason to publish anything
// again.
func TestEvents_OfWhatIsGoneAreLeftOut(t *testing.T) {
	t.Parallel()
	prefix := fresh("gone")
	log := newMemoryLog(ada)
	c := newConsumer(t, sharedCluster(t), prefix)
	f := run(t, optionsOf(t, prefix, log))
	log.write(5)
	c.read(ada, 5)
	f.stop()
	log.write(5)
	log.change(func(l *memoryLog) { l.events = append(l.events[:5:5], l.events[8:]...) })
	log.change(func(l *memoryLog) { l.last += 3 }) // three at the end, too
	f = run(t, optionsOf(t, prefix, log))
	c.read(ada, 10)
	eventually(t, "the cursor", func() bool { p, _ := log.Position(t.Context()); return p.Event == 13 })
	f.stop()
	log.write(1)
	run(t, optionsOf(t, prefix, log))
	want(t, c.read(ada, 14), 1, 2, 3, 4, 5, 9, 10, 14)
}

// A log that goes on from an old copy is published as another log: consumers
// are told, what both have is not published again, and what is new is.
func TestEvents_OfARestoredBackup(t *testing.T) {
	t.Parallel()
	prefix := fresh("backup")
	log := newMemoryLog(ada)
	c := newConsumer(t, sharedCluster(t), prefix)
	f := run(t, optionsOf(t, prefix, log))
	log.write(10)
	c.read(ada, 10)
	f.stop()
	log.write(10)
	backup := log.copyOf() // its cursor is behind what will be published of it
	f = run(t, optionsOf(t, prefix, log))
	log.write(30)
	first := c.read(ada, 50)
	f.stop()

	backup.writeLater(5)
	f = run(t, optionsOf(t, prefix, backup))
	all := c.read(ada, 25)
	want(t, all, append(append(upTo(1, 50), -20), upTo(21, 25)...)...)
	if all[50].log == first[0].log || all[51].log != all[50].log {
		t.Errorf("logs %s, %s, %s", first[0].log, all[50].log, all[51].log)
	}
	f.stop()
	backup.writeLater(5)
	run(t, optionsOf(t, prefix, backup)) // it goes on as itself
	want(t, c.read(ada, 30), append(append(upTo(1, 50), -20), upTo(21, 30)...)...)
}

// purge removes messages of a stream by hand, from all nodes.
func purge(t *testing.T, stream jetstream.Stream, which ...jetstream.StreamPurgeOpt) {
	t.Helper()
	if err := stream.Purge(t.Context(), which...); err != nil {
		t.Fatal(err)
	}
	if err := sharedCluster(t).WaitSame(stream.CachedInfo().Config.Name); err != nil {
		t.Fatal(err)
	}
}

// What the stream has removed, by its limits or by hand, is not published
// again; what a stream never had is.
func TestEvents_OfAStreamThatWasEmptied(t *testing.T) {
	t.Parallel()
	prefix := fresh("empty")
	log := newMemoryLog(ada)
	c := newConsumer(t, sharedCluster(t), prefix)
	f := run(t, optionsOf(t, prefix, log))
	log.write(20)
	c.read(ada, 20)
	f.stop()
	stream, err := c.js.Stream(t.Context(), c.name)
	if err != nil {
		t.Fatal(err)
	}
	purge(t, stream)
	f = run(t, optionsOf(t, prefix, log))
	log.write(1)
	want(t, c.read(ada, 21), 21)
	f.stop()

	// Of some types only: their last messages are older than the cursor.
	purge(t, stream, jetstream.WithPurgeSubject(prefix+"."+ada+".events.message.>"))
	f = run(t, optionsOf(t, prefix, log))
	log.write(9)
	c.read(ada, 30)
	f.stop()
	purge(t, stream, jetstream.WithPurgeSubject(prefix+"."+ada+".events."+string(log.events[29].Type)))
	f = run(t, optionsOf(t, prefix, log))
	log.write(1)
	for _, m := range c.read(ada, 31) {
		if m.payload.Data.ID < 21 {
			t.Fatalf("event %d is published again", m.payload.Data.ID)
		}
	}
	f.stop()

	if err := c.js.DeleteStream(t.Context(), c.name); err != nil {
		t.Fatal(err)
	}
	run(t, optionsOf(t, prefix, log))
	want(t, c.read(ada, 31), upTo(1, 31)...)
}

// A stream that others have made is left as it is.
func TestEvents_IntoAStreamOfOthers(t *testing.T) {
	t.Parallel()
	prefix := fresh("others")
	c := newConsumer(t, sharedCluster(t), prefix)
	_, err := c.js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: streamName(prefix, "EVENTS"), Subjects: []string{streamSubject(prefix)}, Replicas: 1, MaxMsgs: 1000, Storage: jetstream.MemoryStorage,
	})
	if err != nil {
		t.Fatal(err)
	}
	log := newMemoryLog(ada)
	log.write(100)
	run(t, optionsOf(t, prefix, log))
	want(t, c.read(ada, 100), upTo(1, 100)...)
	stream, err := c.js.Stream(t.Context(), c.name)
	if err != nil {
		t.Fatal(err)
	}
	if config := stream.CachedInfo().Config; config.MaxMsgs != 1000 || config.Replicas != 1 {
		t.Errorf("%+v", config)
	}
}

// An event that is larger than a message may be is told without its content.
func TestEvents_LargerThanAMessage(t *testing.T) {
	t.Parallel()
	prefix := fresh("large")
	c := newConsumer(t, sharedCluster(t), prefix)
	o := optionsOf(t, prefix, nil)
	config := o.Stream.config(prefix)
	config.MaxMsgSize = 4 << 10
	if _, err := c.js.CreateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	log := newMemoryLog(ada)
	log.write(3)
	log.change(func(l *memoryLog) { l.events[1].Message.ID = string(make([]byte, 5<<10)) })
	o.Log = log
	run(t, o)
	all := c.read(ada, 3)
	want(t, all, 1, 2, 3)
	if m := all[1]; m.header.Get("Bridged-Truncated") != "true" || m.payload.Data.Message != nil || m.payload.Data.ID != 2 {
		t.Errorf("%v %s", m.header, m.body)
	}
}
