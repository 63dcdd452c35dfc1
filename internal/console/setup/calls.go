package setup

import (
	"net/url"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

type callRow struct {
	bridge.Call
	Name   string
	Words  view.Word
	Reject string // address for declining it; empty if it cannot be declined
}

// ShowCalls shows the calls.
func ShowCalls(req *frame.Request) error {
	calls, next, err := calls(req, bridge.CallQuery{Limit: 50, Cursor: req.URL.Query().Get("cursor")})
	if err != nil {
		return err
	}
	return req.Show("calls", "Calls", struct {
		Calls []callRow
		More  string // the address of the next page; empty if none
		Curl  string
	}{calls, view.NextPage(view.Root+"/calls", url.Values{}, "cursor", next), req.Curl("GET", "/api/calls", nil)})
}

// calls returns calls with the names of their callers.
func calls(req *frame.Request, q bridge.CallQuery) (rows []callRow, next *string, err error) {
	page, err := req.API.Calls(req.Context(), q)
	if err != nil {
		return nil, nil, err
	}
	callers := make([]bridge.JID, len(page.Items))
	for i, call := range page.Items {
		callers[i] = call.FromJID
	}
	n, err := names.Of(req, callers)
	if err != nil {
		return nil, nil, err
	}
	for _, call := range page.Items {
		row := callRow{Call: call, Name: n.Of(call.FromJID), Words: view.CallWords[call.State]}
		if call.State == bridge.CallRinging && req.Sends() {
			row.Reject = view.Root + "/calls/" + bridge.PathID(call.ID) + "/reject"
		}
		rows = append(rows, row)
	}
	return rows, page.NextCursor, nil
}

// ShowRinging answers the script with the calls that are ringing.
func ShowRinging(req *frame.Request) error {
	rows, _, err := calls(req, bridge.CallQuery{Limit: 10})
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(row callRow) bool { return row.State != bridge.CallRinging })
	return req.PartOf("calls", "ringing", rows)
}

// RejectCall declines a ringing call.
func RejectCall(req *frame.Request) error {
	return req.Done(req.API.RejectCall(req.Context(), req.ID, frame.NewKey()), "Call declined", view.Root+"/calls")
}
