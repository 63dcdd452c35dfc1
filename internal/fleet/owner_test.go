package fleet

import (
	"testing"
	"testing/synctest"
	"time"
)

const moment = time.Second

// A second machine on the same directory waits, says who runs the account, and takes
// it over within the key's life once that one has died.
func TestOwner_TakesOverOnASharedDirectory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, volume := newMeeting(), newDirectory(t, "volume", 5)
		a := m.start(t, "node-a", volume.again()).seek("s")
		a.takes(moment)
		b := m.start(t, "node-b", volume.again()).seek("s")
		b.never(10*ownerTTL, "another process runs this account (on node-a")
		a.kill()
		if took := b.takes(ownerTTL + ownerTTL/renewalsInTTL); took < ownerTTL/2 {
			t.Errorf("after %v: the key was not waited for", took)
		}
	})
}

// A holder on a directory of its own machine goes on without NATS, for days; no copy
// takes over although the key has run out, and the key is the holder's again after.
func TestOwner_GoesOnForDaysWithoutNATS(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, home := newMeeting(), newDirectory(t, "home", 5)
		a := m.start(t, "node-a", home).seek("s")
		a.takes(moment)
		b := m.start(t, "node-b", home.copyTo(t, "copy")).seek("s")
		a.seat.cut(true)
		for range 3 * 24 {
			time.Sleep(time.Hour)
			home.happens()
			if !a.holds() || b.holds() {
				t.Fatalf("the holder: %v; the copy: %v", a.Refusal(), b.Refusal())
			}
		}
		b.never(moment, "this data directory is a copy")
		a.seat.cut(false)
		time.Sleep(ownerTTL)
		if !a.holds() {
			t.Errorf("after NATS is back: %v", a.Refusal())
		}
		b.never(moment, "another process runs this account (on node-a")
	})
}

// A clone of a running machine has its directory and its name, and cannot be told from
// a restart: it takes the key once, and its original ends then instead of taking it back.
func TestOwner_ACloneOfTheMachineRunsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, home := newMeeting(), newDirectory(t, "home", 5)
		a := m.start(t, "node-a", home).seek("s")
		a.takes(moment)
		b := m.start(t, "node-a", home.again()).seek("s")
		b.takes(moment)
		time.Sleep(ownerTTL)
		for range 3 * renewalsInTTL {
			if a.holds() || !b.holds() {
				t.Fatalf("the original: %v; the clone: %v", a.Refusal(), b.Refusal())
			}
			time.Sleep(ownerTTL / renewalsInTTL)
		}
	})
}

// A crash and a restart on the same directory do not wait for the key to run out:
// the directory's lock proves that its former holder has ended.
func TestOwner_RestartsAtOnceOnItsLock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, home := newMeeting(), newDirectory(t, "home", 5)
		a := m.start(t, "node-a", home).seek("s")
		a.takes(moment)
		a.kill()
		m.start(t, "node-a", home).seek("s").takes(moment)
	})
}

// A copy of a directory never takes over, whether the original has crashed or runs,
// and whether or not it is behind.
func TestOwner_ACopyNeverTakesOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, home := newMeeting(), newDirectory(t, "home", 5)
		a := m.start(t, "node-a", home).seek("s")
		a.takes(moment)
		b := m.start(t, "node-b", home.copyTo(t, "copy")).seek("s")
		a.kill()
		b.never(5*ownerTTL, "this data directory is a copy: the session last ran in another directory (on node-a)")
	})
}

// Whoever is behind what the account has published is old, also under the mark of the
// directory that ran it last (a volume that was set back), and also where it has gone
// on by itself so that its numbers are higher.
func TestOwner_AnOldDirectoryNeverTakesOver(t *testing.T) {
	t.Parallel()
	for _, own := range []int{0, 7} {
		synctest.Test(t, func(t *testing.T) {
			m, home := newMeeting(), newDirectory(t, "home", 5)
			snapshot := home.copyTo(t, "home")
			for range own {
				snapshot.happens()
			}
			a := m.start(t, "node-a", home).seek("s")
			a.takes(moment)
			for range 3 {
				home.happens()
			}
			home.publish(m)
			a.kill()
			b := m.start(t, "node-b", snapshot).seek("s")
			time.Sleep(ownerTTL)
			b.never(5*ownerTTL, "this data directory is old: the account has since run elsewhere, up to event 8")
		})
	}
}

// A directory that was stopped, copied and started elsewhere goes on there, and never
// again at its old place.
func TestOwner_ADirectoryMoves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, home := newMeeting(), newDirectory(t, "home", 5)
		a := m.start(t, "node-a", home).seek("s")
		a.takes(moment)
		home.happens()
		early := home.copyTo(t, "early")
		home.happens()
		a.release()
		m.start(t, "node-c", early).seek("s").never(moment, "this data directory is old")
		moved := home.copyTo(t, "new")
		b := m.start(t, "node-b", moved).seek("s")
		b.takes(moment)
		moved.happens()
		a.seek("s").never(5*ownerTTL, "another process runs this account (on node-b")
		b.kill()
		a.never(5*ownerTTL, "this data directory is a copy")
	})
}

// A session of another pairing has nothing to do with the one before, but only one of
// them runs.
func TestOwner_PairedAnewElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMeeting()
		a := m.start(t, "node-a", newDirectory(t, "home", 5)).seek("s")
		a.takes(moment)
		b := m.start(t, "node-b", newDirectory(t, "fresh", 1)).seek("another")
		b.never(ownerTTL, "another process runs this account")
		a.kill()
		b.takes(2 * ownerTTL)
	})
}

// Without NATS a process begins only what its directory ran last and has not given
// back.
func TestOwner_StartsWithoutNATS(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, home := newMeeting(), newDirectory(t, "home", 5)
		a := m.start(t, "node-a", home).seek("s")
		a.takes(moment)
		a.kill()
		without := func(d directory, session string) *candidate {
			c := m.start(t, "node-a", d)
			c.seat.cut(true)
			return c.seek(session)
		}
		const says = "bridged cannot ask NATS"
		other := without(home, "another")
		other.never(ownerTTL, says)
		other.kill()
		without(newDirectory(t, "new", 0), "s").never(ownerTTL, says)
		again := without(home, "s")
		again.takes(2 * startTimeout)
		began := time.Now()
		again.seat.cut(false)
		time.Sleep(ownerTTL / 4)
		var key holder
		if _, err := again.seat.read(t.Context(), "", &key); err != nil || key.Since.IsZero() || key.Since.After(began) {
			t.Errorf("the key after NATS is back: %+v, %v", key, err)
		}
		again.seat.cut(true)
		again.release() // which nobody hears
		again.kill()
		next := without(home, "s")
		next.takes(2 * startTimeout)
		next.kill()

		again = m.start(t, "node-a", home).seek("s")
		again.takes(moment)
		again.release()
		again.kill()
		without(home, "s").never(ownerTTL, says)
	})
}

// A renewal that was made but not answered is the holder's all the same.
func TestOwner_RenewsBehindAnAnswerThatWasLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, volume := newMeeting(), newDirectory(t, "volume", 5)
		a := m.start(t, "node-a", volume.again()).seek("s")
		a.takes(moment)
		for range 5 {
			a.seat.mu.Lock()
			a.seat.swears = 2
			a.seat.mu.Unlock()
			for range ownerTTL / time.Second {
				time.Sleep(time.Second)
				if !a.holds() {
					t.Fatal(a.Refusal())
				}
			}
		}
	})
}

// A stop gives the key back, also where the answer to its last renewal was lost.
func TestOwner_GivesBackBehindAnAnswerThatWasLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, home := newMeeting(), newDirectory(t, "home", 5)
		a := m.start(t, "node-a", home).seek("s")
		a.takes(moment)
		a.seat.mu.Lock()
		a.seat.swears = 1
		a.seat.mu.Unlock()
		time.Sleep(ownerTTL/renewalsInTTL + moment) // and before it is tried again
		a.release()
		m.start(t, "node-b", home.copyTo(t, "new")).seek("s").takes(moment)
	})
}

// The key says the account's state as it changes, not only when it is renewed. What
// happens besides writes nothing.
func TestOwner_WritesTheStateAsItChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, home := newMeeting(), newDirectory(t, "home", 5)
		a := m.start(t, "node-a", home).seek("s")
		a.takes(moment)
		time.Sleep(ownerTTL / renewalsInTTL / 2) // between two renewals
		key := func() (h holder, revision uint64) {
			revision, err := a.seat.read(t.Context(), "", &h)
			if err != nil {
				t.Fatal(err)
			}
			return h, revision
		}
		_, before := key()
		home.happens()
		synctest.Wait()
		if _, revision := key(); revision != before {
			t.Error("an event wrote the key")
		}
		a.state.Store("connecting")
		home.happens()
		synctest.Wait()
		if h, revision := key(); h.State != "connecting" || revision != before+1 {
			t.Errorf("the key says %q, written %d times", h.State, revision-before)
		}
	})
}
