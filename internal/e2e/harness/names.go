package harness

import (
	"fmt"
	"net/http"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// FirstIs checks id and push name of the newest message.
func FirstIs(b *Process, list string, id simnet.MessageID, name string) error {
	var page struct{ Messages []bridge.Message }
	b.Get(list + "?limit=1").Want(http.StatusOK).Decode(&page)
	if m := page.Messages[0]; m.ID != id || m.PushName != name {
		return fmt.Errorf("the newest message is %s by %q, want %s by %q", m.ID, m.PushName, id, name)
	}
	return nil
}
