package cloud

import (
	"testing"

	"bridged/internal/bridge"
)

// Digits stand for a group both ways. No person and no group of the old kind is taken for one.
func TestStandIn_BothWays(t *testing.T) {
	if digits := standIn("120363025246125486@g.us"); digits != "999025246125486" || groupOf(digits) != "120363025246125486@g.us" || groupOf("+"+digits) != "120363025246125486@g.us" {
		t.Errorf("%s, %s", digits, groupOf(digits))
	}
	for _, group := range []bridge.JID{"15551234567-1600000000@g.us", "12036302524612548@g.us", "1203630252461254860@g.us", "120364025246125486@g.us"} {
		if digits := standIn(group); digits != "" {
			t.Errorf("%s is %s", group, digits)
		}
	}
	for _, to := range []string{"", "15551234567", "999", "99902524612548", "9990252461254860", "99902524612548x", "120363025246125486", "999025246125486@g.us"} {
		if group := groupOf(to); group != "" {
			t.Errorf("%s is %s", to, group)
		}
	}
}
