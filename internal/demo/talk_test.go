package demo

import (
	"os"
	"strings"
	"testing"
	"time"
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
