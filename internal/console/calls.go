package console

import (
	"net/url"

	"bridged/internal/bridge"
)

type callRow struct {
	bridge.Call
	Name   string
	Words  callWord
	Reject string // where to reject it; empty where that cannot be done
}

type callWord struct{ Text, Tone string }

var callWords = map[bridge.CallState]callWord{
	bridge.CallRinging:           {"Ringing", "good"},
	bridge.CallMissed:            {"Missed", "warn"},
	bridge.CallRejected:          {"Declined", ""},
	bridge.CallEnded:             {"Answered elsewhere", ""},
	bridge.CallAnsweredElsewhere: {"Answered elsewhere", ""},
}

func (c *Console) showCalls(v *visit) error {
	calls, next, err := v.calls(bridge.CallQuery{Limit: 50, Cursor: v.r.URL.Query().Get("cursor")})
	if err != nil {
		return err
	}
	return v.show("calls", "Calls", struct {
		Calls []callRow
		More  string // the address of the next part; empty for none
		Curl  string
	}{calls, more(root+"/calls", url.Values{}, "cursor", next), curl("GET", "/api/calls", nil)})
}

// calls returns calls with the names of their callers.
func (v *visit) calls(q bridge.CallQuery) (rows []callRow, next *string, err error) {
	page, err := v.api.Calls(v.r.Context(), q)
	if err != nil {
		return nil, nil, err
	}
	callers := make([]bridge.JID, len(page.Items))
	for i, call := range page.Items {
		callers[i] = call.FromJID
	}
	n, err := v.namesOf(callers)
	if err != nil {
		return nil, nil, err
	}
	for _, call := range page.Items {
		row := callRow{Call: call, Name: n.of(call.FromJID), Words: callWords[call.State]}
		if call.State == bridge.CallRinging && v.sends() {
			row.Reject = root + "/calls/" + bridge.PathID(call.ID) + "/reject"
		}
		rows = append(rows, row)
	}
	return rows, page.NextCursor, nil
}

func (c *Console) rejectCall(v *visit) error {
	return v.done(v.api.RejectCall(v.r.Context(), v.id, newKey()), "Call declined.", root+"/calls")
}
