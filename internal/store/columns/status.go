package columns

import (
	"fmt"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/store/storefile"
)

// The delivery statuses in the column status.
const (
	StatusPending = 0
	StatusFailed  = 5
)

var deliveries = [...]bridge.Delivery{
	StatusPending: bridge.DeliveryPending,
	1:             bridge.DeliverySent,
	2:             bridge.DeliveryDelivered,
	3:             bridge.DeliveryRead,
	4:             bridge.DeliveryPlayed,
	StatusFailed:  bridge.DeliveryFailed,
}

// Delivery returns the delivery with a number; an unknown one is damage.
func Delivery(status int64) (bridge.Delivery, error) {
	if status < 0 || status >= int64(len(deliveries)) {
		return "", storefile.Database.Damaged(fmt.Errorf("a message has the status %d", status))
	}
	return deliveries[status], nil
}

// StatusOf returns the number of a delivery, -1 for none that we know.
func StatusOf(d bridge.Delivery) int64 { return int64(slices.Index(deliveries[:], d)) }

// StatusColumn returns null for other people's messages. An own one without a status was
// sent by the phone.
func StatusColumn(m bridge.Message) any {
	if !m.FromMe {
		return nil
	}
	if m.Status == nil || StatusOf(*m.Status) < 0 {
		return StatusOf(bridge.DeliverySent)
	}
	return StatusOf(*m.Status)
}
