package wa

import (
	"context"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// messageForRetry returns an own message that a device could not decrypt. It
// is the store's, so it is there after a restart too.
func (m *Manager) messageForRetry(_, to types.JID, id types.MessageID) *waE2E.Message {
	ctx, cancel := context.WithTimeout(m.background, saveTimeout)
	defer cancel()
	row, err := m.store.Message(ctx, convert.JID(to), convert.ID(id))
	if err != nil || !row.FromMe || len(row.Raw) == 0 {
		if err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
			m.log.Error().Err(err).Str("msg_id", id).Msg("message for a retry not read")
		}
		return nil
	}
	msg := new(waE2E.Message)
	if err := proto.Unmarshal(row.Raw, msg); err != nil {
		m.log.Error().Err(err).Str("msg_id", id).Msg("stored message unreadable")
		return nil
	}
	return msg
}
