package session

import (
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// Dirty reports that the network has lost changes for this device (<ib><dirty>), so that the
// subject must be read again. whatsmeow drops the report (connectionevents.go).
type Dirty struct {
	What string    // "groups", "account_sync" and so on
	At   time.Time // identifies the report when [whatsmeow.Client.MarkNotDirty] clears it
}

// onDirty passes on reports of lost changes. They need no acknowledgement.
func (c *Client) onDirty(node *waBinary.Node) {
	if node.Tag != "ib" {
		return
	}
	for _, dirty := range node.GetChildrenByTag("dirty") {
		attrs := dirty.AttrGetter()
		c.observer.Notified(Dirty{What: attrs.OptionalString("type"), At: attrs.OptionalUnixTime("timestamp")})
	}
}
