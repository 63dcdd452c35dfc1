package console

import (
	"context"
	"net/http"
	"net/url"

	"bridged/internal/bridge"
)

// pageOfCalls is how many calls are shown at once.
const pageOfCalls = 50

// callsPage is a part of the list of calls.
type callsPage struct {
	Calls []callRow
	More  string // the address of the next part; empty for none
	Curl  string
}

// callRow is a call in a list.
type callRow struct {
	bridge.Call
	Name   string
	Words  callWord
	Reject string // where to reject it; empty where that cannot be done
}

// callWord is what became of a call, in words.
type callWord struct{ Text, Tone string }

var callWords = map[bridge.CallState]callWord{
	bridge.CallRinging:           {"rings", "good"},
	bridge.CallMissed:            {"missed", "warn"},
	bridge.CallRejected:          {"rejected", ""},
	bridge.CallEnded:             {"taken elsewhere, and over", ""},
	bridge.CallAnsweredElsewhere: {"taken elsewhere", ""},
}

// showCalls answers a part of the list of calls.
func (c *Console) showCalls(v *visit) (err error) {
	ctx := v.r.Context()
	page := callsPage{Curl: curlGet("/api/calls")}
	var next *string
	if page.Calls, next, err = v.calls(ctx, bridge.CallQuery{Limit: pageOfCalls, Cursor: v.r.URL.Query().Get("cursor")}); err != nil {
		return err
	}
	if next != nil {
		page.More = root + "/calls?" + url.Values{"cursor": {*next}}.Encode()
	}
	v.show(http.StatusOK, "calls", "Calls", page)
	return nil
}

// calls returns calls with their callers' names.
func (v *visit) calls(ctx context.Context, q bridge.CallQuery) (rows []callRow, next *string, err error) {
	page, err := v.api.Calls(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	names := make(map[bridge.JID]string)
	for _, call := range page.Items {
		name, known := names[call.FromJID]
		if !known {
			if name, err = v.callerName(ctx, call.FromJID); err != nil {
				return nil, nil, err
			}
			names[call.FromJID] = name
		}
		row := callRow{Call: call, Name: name, Words: callWords[call.State]}
		if call.State == bridge.CallRinging && v.sends() {
			row.Reject = root + "/calls/" + bridge.PathID(call.ID) + "/reject"
		}
		rows = append(rows, row)
	}
	return rows, page.NextCursor, nil
}

// callerName returns the name of whoever calls: of the chat with them, if there is
// one that the visitor may see.
func (v *visit) callerName(ctx context.Context, jid bridge.JID) (string, error) {
	chat, err := v.api.Chat(ctx, jid)
	switch {
	case bridge.CodeOf(err) == bridge.CodeNotFound:
		return phoneOf(jid), nil
	case err != nil:
		return "", err
	}
	return nameOf(chat), nil
}

// rejectCall rejects a call that rings.
func (c *Console) rejectCall(v *visit) error {
	id, err := bridge.ParsePathID(v.r.PathValue("id"))
	if err != nil {
		return errUnknown
	}
	return v.after(v.api.RejectCall(v.r.Context(), id, newKey()), "The call was rejected.", root+"/calls")
}
