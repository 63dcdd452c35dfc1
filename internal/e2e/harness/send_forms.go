package harness

import (
	"net/http"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// Message looks a message up in the list at a path.
func (p *Process) Message(list string, id simnet.MessageID) (bridge.Message, bool) {
	p.T.Helper()
	var page struct{ Messages []bridge.Message }
	resp := p.Get(list + "?limit=1000")
	if resp.Status == http.StatusNotFound {
		return bridge.Message{}, false
	}
	resp.Want(http.StatusOK).Decode(&page)
	i := slices.IndexFunc(page.Messages, func(m bridge.Message) bool { return m.ID == id })
	if i < 0 {
		return bridge.Message{}, false
	}
	return page.Messages[i], true
}
