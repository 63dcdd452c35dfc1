package simnet

import (
	"context"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// SetReadReceipts has others see what the account has read, or not. The account's other devices learn of the change.
func (p *Phone) SetReadReceipts(ctx context.Context, shown bool) error {
	value := types.PrivacySettingNone
	if shown {
		value = types.PrivacySettingAll
	}
	_, err := p.client.SetPrivacySetting(ctx, types.PrivacySettingTypeReadReceipts, value)
	return err
}

// privacyChanged tells the account's other devices of changed privacy settings. The caller holds mu.
func (n *Network) privacyChanged(d *Device, categories []Node) {
	for _, other := range d.account.sorted() {
		if other == d {
			continue
		}
		n.push(other, Node{Tag: "notification", Attrs: attrs{
			"from": d.account.pn(), "type": "account_sync", "id": n.nextID(), "t": wire.UnixNow(),
		}, Content: []Node{{Tag: "privacy", Content: categories}}})
	}
}
