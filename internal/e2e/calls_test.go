package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// callBecomes waits until a call reaches a state.
func (p *process) callBecomes(id string, state bridge.CallState) (call bridge.Call) {
	p.t.Helper()
	eventually(p.t, func() error {
		page, err := p.api.Calls(within(p.t), bridge.CallQuery{})
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
	network, owner := newOwner(t, simnet.PhoneOptions{})
	friend := newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := startBridge(t, network)
	pair(t, p, owner)
	chat := bridge.PhoneJID(friend.Number())
	ring := func() (*simnet.Call, bridge.Call) {
		t.Helper()
		c := must(friend.Call(within(t), owner, simnet.CallOptions{}))(t)
		return c, p.callBecomes(c.ID(), bridge.CallRinging)
	}

	c, call := ring()
	if call.ChatJID != chat || call.FromJID != chat || call.FromLID != lidOf(friend) || call.IsGroup || call.IsVideo {
		t.Errorf("%+v", call)
	}
	for range 2 {
		if err := p.api.RejectCall(within(t), call.ID, "reject"); err != nil {
			t.Fatal(err)
		}
	}
	must(c.WaitRejected(within(t)))(t)
	p.callBecomes(call.ID, bridge.CallRejected)
	refused(t, p.Do("POST", "/api/calls/"+call.ID+"/reject", ""), http.StatusConflict, bridge.CodeNotRinging)
	refused(t, p.Do("POST", "/api/calls/NONE/reject", ""), http.StatusNotFound, bridge.CodeNotFound)

	_, call = ring()
	p.kill()
	p.start()
	p.becomes(bridge.StateOpen)
	p.callBecomes(call.ID, bridge.CallMissed)

	var told []string
	for _, e := range p.allEvents("&types=call.created,call.updated&chat=" + string(chat)) {
		told = append(told, string(e.Type))
	}
	if want := "[call.created call.updated call.created call.updated]"; fmt.Sprint(told) != want {
		t.Errorf("the log has %v, want %s", told, want)
	}
}
