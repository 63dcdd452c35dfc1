package receiving

import (
	"fmt"
	"net/http"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// callBecomes waits until a call reaches a state.
func callBecomes(p *Process, id string, state bridge.CallState) (call bridge.Call) {
	p.T.Helper()
	Eventually(p.T, func() error {
		page, err := p.API.Calls(Within(p.T), bridge.CallQuery{})
		if err != nil {
			return err
		}
		for _, call = range page.Items {
			if call.ID == id && call.State == state {
				return nil
			}
		}
		return fmt.Errorf("the call is not %s: %+v", state, page.Items)
	})
	return call
}

// TestCalls_OverHTTP: people call, and the API shows the outcome. One call is
// rejected over it, once per key, and one rings while the bridge is killed.
func TestCalls_OverHTTP(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network)
	Pair(t, p, owner)
	chat := bridge.PhoneJID(friend.Number())
	ring := func() (*simnet.Call, bridge.Call) {
		t.Helper()
		c := Must(friend.Call(Within(t), owner, simnet.CallOptions{}))(t)
		return c, callBecomes(p, c.ID(), bridge.CallRinging)
	}

	c, call := ring()
	if call.ChatJID != chat || call.FromJID != chat || call.FromLID != LidOf(friend) || call.IsGroup || call.IsVideo {
		t.Errorf("%+v", call)
	}
	for range 2 {
		if err := p.API.RejectCall(Within(t), call.ID, "reject"); err != nil {
			t.Fatal(err)
		}
	}
	Must(c.WaitRejected(Within(t)))(t)
	callBecomes(p, call.ID, bridge.CallRejected)
	Refused(t, p.Do("POST", "/api/calls/"+call.ID+"/reject", ""), http.StatusConflict, bridge.CodeNotRinging)
	Refused(t, p.Do("POST", "/api/calls/NONE/reject", ""), http.StatusNotFound, bridge.CodeNotFound)

	_, call = ring()
	p.Kill()
	p.Start()
	p.Becomes(bridge.StateOpen)
	callBecomes(p, call.ID, bridge.CallMissed)

	var told []string
	for _, e := range p.AllEvents("&types=call.created,call.updated&chat=" + string(chat)) {
		told = append(told, string(e.Type))
	}
	if want := "[call.created call.updated call.created call.updated]"; fmt.Sprint(told) != want {
		t.Errorf("the log has %v, want %s", told, want)
	}
}
