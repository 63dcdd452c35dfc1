package people

import (
	"time"

	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"
)

// Device is one device of an account as the server knows it: its keys, its connection and its queue. Device 0 is the phone.
type Device struct {
	net     *Directory
	Account *Account
	Number  uint16
	Props   *waCompanionReg.DeviceProps
	display string

	// Directory.Mu guards everything below.
	Noise         [32]byte
	Identity      [32]byte
	keys          KeyBundle
	KeyIndex      uint32
	Conn          *Client
	Active        bool
	Introduced    bool
	Welcomed      bool
	fetched       map[string]struct{}
	History       map[types.MessageID]HistoryBlob // announced by the phone, by the id of the notification
	Gone          bool
	queue         outbox
	held          held
	missesDevices bool
	missesGroups  bool
	dirty         map[string]string // when changes were lost, in Unix seconds, by their kind
	Faults        deviceFaults
	Count         Counters
	watching      map[types.JID]struct{}
	available     bool // as the device announces it
	queries       map[string]int
	lately        map[string][]time.Time // queries that count against a limit, by namespace
}

// Counters counts events between the server and a device since it was linked.
type Counters struct {
	// Logins counts successful logins.
	Logins int
	// Delivered counts stanzas put on the wire, repetitions included; Redelivered only the repetitions.
	Delivered, Redelivered int
	// Acknowledged counts stanzas that the device acknowledged; IgnoredAcks counts acknowledgements lost to IgnoreAcks.
	Acknowledged, IgnoredAcks int
	// Sent counts messages from the device, Resent its answers to retry receipts, and Rejected its messages that were answered with an error.
	Sent, Resent, Rejected int
	// KeysTaken counts the device's one-time keys that were given to others.
	KeysTaken int
	// RetryReceipts counts requests to send a message again that the device could not decrypt.
	RetryReceipts int
	// Limited counts queries refused by a rate limit.
	Limited int
	// OfflineBatches counts the device's requests for parts of its offline backlog.
	OfflineBatches int
	// Available and Unavailable count how often the device announced itself as either.
	Available, Unavailable int
}

// Address returns the device's address with the given server name.
func (d *Device) Address(form string) types.JID { return d.Account.Address(form, d.Number) }

// SeesTyping reports whether the device receives typing notifications: phones do, and companions that are available. The caller holds Directory.Mu.
func (d *Device) SeesTyping() bool { return d.Number == 0 || d.available }

// JID returns the device's address under its phone number.
func (d *Device) JID() types.JID { return d.Address(types.DefaultUserServer) }

// LID returns the device's address under its hidden identity.
func (d *Device) LID() types.JID { return d.Address(types.HiddenUserServer) }

// Platform returns the operating system or program that the device claims to run on, as phones show it in the list of linked devices.
func (d *Device) Platform() string { return d.Props.GetOs() }

// PlatformType returns the kind of client that the device claims to be.
func (d *Device) PlatformType() waCompanionReg.DeviceProps_PlatformType {
	return d.Props.GetPlatformType()
}

// DisplayName returns the name given with a pairing code, "Browser (OS)", or "" for a device linked by QR code.
func (d *Device) DisplayName() string { return d.display }

// Online reports whether the device is connected and has asked for its waiting stanzas.
func (d *Device) Online() bool {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	return d.Conn != nil && d.Active
}

// HasConn reports whether the device has a connection. The caller holds Directory.Mu.
func (d *Device) HasConn() bool { return d.Conn != nil }

// Listens reports whether stanzas reach the device at once. The caller holds Directory.Mu.
func (d *Device) Listens() bool { return d.Conn != nil && d.Active && !d.Conn.Frozen() }

// Connected reports whether the device has a connection and is logged in.
func (d *Device) Connected() bool {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	return d.Conn != nil
}

// Removed reports whether the device has been unlinked, by itself or by its phone.
func (d *Device) Removed() bool {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	return d.Gone
}

func (d *Device) Counters() Counters {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	return d.Count
}

// Queries returns how many queries of a namespace, such as "usync", the device has made since it was linked.
func (d *Device) Queries(namespace string) int {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	return d.queries[namespace]
}

// PreKeys returns the number of the device's one-time keys that are left at the server.
func (d *Device) PreKeys() int {
	d.net.Mu.Lock()
	defer d.net.Mu.Unlock()
	return len(d.keys.oneTime)
}

// CountQuery counts a query. The caller holds Directory.Mu.
func (d *Device) CountQuery(namespace string) {
	if d.queries == nil {
		d.queries = make(map[string]int)
	}
	d.queries[namespace]++
}

// HistoryBlob is a part of the history that was announced to a companion.
type HistoryBlob struct {
	Part *waHistorySync.HistorySync
	Path string
}
