package harness

import (
	"net/http"
	"testing"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// Sends sends a text through the API and returns the message's id.
func (p *Process) Sends(t testing.TB, body Object) simnet.MessageID {
	t.Helper()
	return SentID(t, p.Post("/api/messages/send", body))
}

func SentID(t testing.TB, resp apitest.Response) simnet.MessageID {
	t.Helper()
	var sent struct {
		OK    bool
		MsgID string
	}
	resp.Want(http.StatusOK).Decode(&sent)
	if !sent.OK || sent.MsgID == "" {
		t.Fatalf("sent: %s", resp.Body)
	}
	return sent.MsgID
}

func StatusOf(m bridge.Message) bridge.Delivery {
	if m.Status == nil {
		return "no status"
	}
	return *m.Status
}
