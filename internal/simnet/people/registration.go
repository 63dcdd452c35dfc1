package people

import (
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// RequestCode notifies the account's devices that a code to register the number on another phone was requested.
func (a *Account) RequestCode() {
	a.pushRegistration(Node{Tag: "wa_old_registration", Attrs: attrs{
		"code": "123456", "expiry_t": strconv.FormatInt(time.Now().Add(10*time.Minute).Unix(), 10), "device_id": "AAAAAAAAAAAAAAAAAAAAAA",
	}})
}

// TakeOver notifies the account's devices that another phone takes the number over.
func (a *Account) TakeOver(device string, at time.Time) {
	a.pushRegistration(Node{Tag: "device_logout", Attrs: attrs{
		"id": "logout-1", "t": strconv.FormatInt(at.Unix(), 10), "device": device, "new_device_platform": "iphone", "new_device_app_version": "2.26.40",
	}})
}

func (a *Account) pushRegistration(notice Node) {
	n := a.net
	n.Mu.Lock()
	defer n.Mu.Unlock()
	for _, d := range a.Sorted() {
		n.Push(d, Node{Tag: "notification", Attrs: attrs{
			"from": types.ServerJID, "type": "registration", "id": n.NextID(), "t": wire.UnixNow(),
		}, Content: []Node{notice}})
	}
}
