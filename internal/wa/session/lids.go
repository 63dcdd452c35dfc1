package session

import (
	"context"
	"fmt"
	"sync/atomic"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"
)

// lidMap is whatsmeow's map of numbers and LIDs. whatsmeow cannot remove an entry of its own
// map (store/sqlstore/lidmap.go), so [DB.forget] replaces that.
type lidMap struct {
	present atomic.Pointer[sqlstore.CachedLIDMap]
}

var _ store.LIDStore = (*lidMap)(nil)

// PutLIDMapping stores a mapping.
func (m *lidMap) PutLIDMapping(ctx context.Context, lid, pn types.JID) error {
	return m.present.Load().PutLIDMapping(ctx, lid, pn)
}

// PutManyLIDMappings stores mappings.
func (m *lidMap) PutManyLIDMappings(ctx context.Context, mappings []store.LIDMapping) error {
	return m.present.Load().PutManyLIDMappings(ctx, mappings)
}

// GetPNForLID returns the number of a LID; empty if it is not known.
func (m *lidMap) GetPNForLID(ctx context.Context, lid types.JID) (types.JID, error) {
	return m.present.Load().GetPNForLID(ctx, lid)
}

// GetLIDForPN returns the LID of a number; empty if it is not known.
func (m *lidMap) GetLIDForPN(ctx context.Context, pn types.JID) (types.JID, error) {
	return m.present.Load().GetLIDForPN(ctx, pn)
}

// GetManyLIDsForPNs returns the LIDs of numbers, as far as they are known.
func (m *lidMap) GetManyLIDsForPNs(ctx context.Context, pns []types.JID) (map[types.JID]types.JID, error) {
	return m.present.Load().GetManyLIDsForPNs(ctx, pns)
}

// forget removes the LID of a number. A mapping that is stored meanwhile stays, as it is
// in the file when the new map reads that for the second time.
func (db *DB) forget(ctx context.Context, pn types.JID) error {
	if _, err := db.sql.ExecContext(ctx, "DELETE FROM whatsmeow_lid_map WHERE pn = ?", pn.User); err != nil {
		return fmt.Errorf("forget a LID: %w", Explain(err))
	}
	without := sqlstore.NewWithDB(db.sql, "sqlite", waLog.Noop).LIDMap
	if err := without.FillCache(ctx); err != nil {
		return fmt.Errorf("read the identities: %w", Explain(err))
	}
	db.lids.present.Store(without)
	if err := without.FillCache(ctx); err != nil {
		return fmt.Errorf("read the identities: %w", Explain(err))
	}
	return nil
}

// ForgetLID has whatsmeow ask for a number's LID, and for its devices, when it is needed
// next.
func (c *Client) ForgetLID(ctx context.Context, pn types.JID) error {
	lid, err := c.LIDOf(ctx, pn)
	if err != nil {
		return err
	}
	if !lid.IsEmpty() {
		c.ForgetDevices(ctx, lid.ToNonAD())
	}
	c.ForgetDevices(ctx, pn)
	return c.db.forget(ctx, pn)
}

// AwaitRefresh returns a function that reports whether the acknowledgement of a message
// asks for the recipient's LID to be looked up again (WAWebSendMsgCommonApi, refreshLid).
// whatsmeow does not read that. done ends the wait.
func (c *Client) AwaitRefresh(id types.MessageID) (asked func() bool, done func()) {
	refresh := new(atomic.Bool)
	c.refreshes.Store(id, refresh)
	return refresh.Load, func() { c.refreshes.CompareAndDelete(id, refresh) }
}

// noteAck notes the acknowledgement of a message to a LID that its number does not have
// any more.
func (c *Client) noteAck(node *waBinary.Node) {
	if node.Tag != "ack" {
		return
	}
	attrs := node.AttrGetter()
	if attrs.OptionalString("class") != "message" || attrs.OptionalString("refresh_lid") != "true" {
		return
	}
	if refresh, waits := c.refreshes.Load(attrs.OptionalString("id")); waits {
		refresh.(*atomic.Bool).Store(true)
	}
}
