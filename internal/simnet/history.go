package simnet

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// shareHistory sends what the phone has of the past, which is little: the people it knows and who of them is who.
func (p *Phone) shareHistory(ctx context.Context, d *Device) error {
	known := p.acquaintances()
	bootstrap := &waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_INITIAL_BOOTSTRAP.Enum(), ChunkOrder: proto.Uint32(1), Progress: proto.Uint32(100),
	}
	names := &waHistorySync.HistorySync{SyncType: waHistorySync.HistorySync_PUSH_NAME.Enum()}
	for _, person := range known {
		if !person.lid.IsEmpty() {
			bootstrap.PhoneNumberToLidMappings = append(bootstrap.PhoneNumberToLidMappings, &waHistorySync.PhoneNumberToLIDMapping{
				PnJID: proto.String(person.pn.String()), LidJID: proto.String(person.lid.String()),
			})
		}
		if person.name != "" {
			names.Pushnames = append(names.Pushnames, &waHistorySync.Pushname{ID: proto.String(person.pn.String()), Pushname: proto.String(person.name)})
		}
	}
	if err := p.sendHistory(ctx, d, bootstrap, waE2E.HistorySyncType_INITIAL_BOOTSTRAP); err != nil {
		return err
	}
	return p.sendHistory(ctx, d, names, waE2E.HistorySyncType_PUSH_NAME)
}

type acquaintance struct {
	pn, lid types.JID
	name    string
}

// acquaintances returns the phone's own account, those in its address book, and the members of common groups.
func (p *Phone) acquaintances() []acquaintance {
	p.mu.Lock()
	var numbers []string
	for number := range p.book {
		numbers = append(numbers, number)
	}
	p.mu.Unlock()
	n := p.net
	n.mu.Lock()
	defer n.mu.Unlock()
	known := map[*account]struct{}{p.account: {}}
	for _, number := range numbers {
		if a := n.byNumber[number]; a != nil {
			known[a] = struct{}{}
		}
	}
	for _, g := range n.groupsOf(p.account) {
		for a := range g.members {
			known[a] = struct{}{}
		}
	}
	var out []acquaintance
	for a := range known {
		out = append(out, acquaintance{a.pn(), a.alternative(types.DefaultUserServer), a.name})
	}
	return out
}

// sendHistory compresses and uploads one part of the history, and sends the companion its place.
func (p *Phone) sendHistory(ctx context.Context, d *Device, part *waHistorySync.HistorySync, kind waE2E.HistorySyncType) error {
	raw, err := proto.Marshal(part)
	if err != nil {
		return fmt.Errorf("marshal the history: %w", err)
	}
	var compressed bytes.Buffer
	writer := zlib.NewWriter(&compressed)
	if _, err = writer.Write(raw); err == nil {
		err = writer.Close()
	}
	if err != nil {
		return fmt.Errorf("compress the history: %w", err)
	}
	uploaded, err := p.client.Upload(ctx, compressed.Bytes(), whatsmeow.MediaHistory)
	if err != nil {
		return fmt.Errorf("upload the history: %w", err)
	}
	return p.sendPeer(ctx, d, &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION.Enum(),
		HistorySyncNotification: &waE2E.HistorySyncNotification{
			FileSHA256: uploaded.FileSHA256, FileLength: &uploaded.FileLength, MediaKey: uploaded.MediaKey,
			FileEncSHA256: uploaded.FileEncSHA256, DirectPath: &uploaded.DirectPath, EncHandle: &uploaded.Handle,
			SyncType: kind.Enum(), ChunkOrder: proto.Uint32(1), Progress: proto.Uint32(100),
		},
	})
}
