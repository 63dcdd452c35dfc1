package demo

import "testing"

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
