package demo

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"bridged/internal/simnet"
)

// Every line has a known speaker and place.
func TestSmallTalk_HasItsPeopleAndPlaces(t *testing.T) {
	known := map[string]bool{}
	for _, person := range acquaintances {
		known[person.key] = true
	}
	members := map[string]map[string]bool{
		toAccount: known,
		toHike:    {"sofia": true, "jonas": true, "elif": true, "yuki": true},
		toFamily:  {"layla": true, "arjun": true},
	}
	for _, l := range smallTalk {
		if !members[l.where][l.who] || l.text == "" {
			t.Errorf("%+v cannot be said", l)
		}
	}
}

// The word that receivers answer is said within the first minute, and again before one who
// has just started a receiver loses patience.
func TestSmallTalk_HasPingsForReceivers(t *testing.T) {
	text, err := os.ReadFile("../../examples/receiver.py")
	if err != nil || !strings.Contains(string(text), `.lower() == "`+ping+`"`) {
		t.Errorf("receiver.py does not react to %q: %v", ping, err)
	}
	last, waited := time.Duration(0), firstWords
	for i := range 2 * len(smallTalk) {
		if smallTalk[i%len(smallTalk)].text == ping {
			if last == 0 && waited > time.Minute || waited-last > 150*time.Second {
				t.Errorf("a ping comes after %v, the one before after %v", waited, last)
			}
			last = waited
		}
		waited += pace
	}
	if last == 0 {
		t.Error("there is no ping")
	}
}

// A group in which only admins may write ended the demo.
func TestTalk_SkipsLinesThatCannotBeSent(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	network, err := simnet.New(ctx, simnet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer network.Close()
	d := &demo{number: usualNumber, network: network}
	if err := d.castPeople(ctx); err != nil {
		t.Fatal(err)
	}
	var members []*simnet.Phone
	for _, person := range d.people {
		members = append(members, person)
	}
	group, err := d.owner.CreateGroup(ctx, simnet.GroupOptions{Subject: "The hike", Members: members})
	if err != nil {
		t.Fatal(err)
	}
	if err := group.SetAnnounce(ctx, d.owner, true); err != nil {
		t.Fatal(err)
	}
	d.hike, d.family = group.JID(), group.JID()
	talking, stop := context.WithCancel(ctx)
	lines, now := 0, make(chan time.Time)
	close(now)
	pauses := func(time.Duration) <-chan time.Time {
		if lines++; lines <= len(smallTalk) {
			return now
		}
		stop()
		return nil
	}
	var stderr strings.Builder
	d.talk(talking, pauses, &stderr)
	if got := strings.Count(stderr.String(), "could not be sent"); got != 1 {
		t.Errorf("the failures are reported %d times, want once: %s", got, stderr.String())
	}
	last := smallTalk[len(smallTalk)-1]
	if last.where != toAccount {
		t.Fatal("the last line is not written to the account")
	}
	if _, err := d.owner.ReceivedText(ctx, last.text); err != nil {
		t.Errorf("the last line has not arrived: %v", err)
	}
}
