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

// lidMap is whatsmeow's map of numbers and LIDs. whatsmeow cannot remove entries from it
// (store/sqlstore/lidmap.go), so [DB.forget] replaces the whole map.
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

// GetPNForLID returns the number of a LID, or an empty JID if it is not known.
func (m *lidMap) GetPNForLID(ctx context.Context, lid types.JID) (types.JID, error) {
	return m.present.Load().GetPNForLID(ctx, lid)
}

// GetLIDForPN returns the LID of a number, or an empty JID if it is not known.
func (m *lidMap) GetLIDForPN(ctx context.Context, pn types.JID) (types.JID, error) {
	return m.present.Load().GetLIDForPN(ctx, pn)
}

// GetManyLIDsForPNs returns the known LIDs of numbers.
func (m *lidMap) GetManyLIDsForPNs(ctx context.Context, pns []types.JID) (map[types.JID]types.JID, error) {
	return m.present.Load().GetManyLIDsForPNs(ctx, pns)
}

// forget removes the LID of a number. A mapping that is stored at the same time is not lost,
// because the new map reads the file a second time.
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

// ForgetLID makes whatsmeow ask for a number's LID and devices the next time it needs them.
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

// AwaitRefresh returns asked, which reports whether the acknowledgement of a message requests a
// new look-up of the recipient's LID (WAWebSendMsgCommonApi, refreshLid). whatsmeow does not read
// that. Call done to stop waiting.
func (c *Client) AwaitRefresh(id types.MessageID) (asked func() bool, done func()) {
	refresh := new(atomic.Bool)
	c.refreshes.Store(id, refresh)
	return refresh.Load, func() { c.refreshes.CompareAndDelete(id, refresh) }
}

// noteAck records an acknowledgement that says that the LID no longer belongs to the recipient's
// number.
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
