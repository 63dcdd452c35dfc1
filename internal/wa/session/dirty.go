package session

import (
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// Dirty reports that the network has not kept the changes of something for this device
// (<ib><dirty>), which has to be read anew. whatsmeow drops it (connectionevents.go).
type Dirty struct {
	What string    // "groups", "account_sync" and so on
	At   time.Time // names the report when it is cleared; see [whatsmeow.Client.MarkNotDirty]
}

// onDirty passes on what the network has not kept. Nothing of it is acknowledged.
func (c *Client) onDirty(node *waBinary.Node) {
	if node.Tag != "ib" {
		return
	}
	for _, dirty := range node.GetChildrenByTag("dirty") {
		attrs := dirty.AttrGetter()
		c.observer.Notified(Dirty{What: attrs.OptionalString("type"), At: attrs.OptionalUnixTime("timestamp")})
	}
}
