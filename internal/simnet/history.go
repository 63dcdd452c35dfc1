package simnet

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"slices"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/content"
	"bridged/internal/simnet/media"
	"bridged/internal/simnet/people"
)

// shareHistory sends a companion the phone's past: identities of the people it knows, chats, names and messages.
func (p *Phone) shareHistory(ctx context.Context, d *people.Device) error {
	for _, part := range p.history(d) {
		if err := p.sendHistory(ctx, d, part); err != nil {
			return err
		}
	}
	return nil
}

// history returns the parts of the history in the order of sending.
func (p *Phone) history(d *people.Device) []*waHistorySync.HistorySync {
	parts := []*waHistorySync.HistorySync{p.bootstrap(), p.pushNames()}
	if recent := p.pastMessages(func(past Past) []*content.PastInfo { return past.Recent }); len(recent) > 0 {
		parts = append(parts, content.HistoryPart(waHistorySync.HistorySync_RECENT, recent...))
	}
	if !d.Props.GetRequireFullSync() {
		return parts
	}
	since := time.Now().AddDate(0, 0, -fullHistoryDays(d.Props))
	older := p.pastMessages(func(past Past) []*content.PastInfo {
		return slices.DeleteFunc(slices.Clone(past.Older), func(m *content.PastInfo) bool { return int64(m.GetMessageTimestamp()) < since.Unix() })
	})
	if len(older) > 0 {
		parts = append(parts, content.HistoryPart(waHistorySync.HistorySync_FULL, older...))
	}
	return parts
}

// Depth of the full history in days: phones send years only to a companion that calls itself a desktop and has room for them.
const (
	shallowHistory = 365
	deepHistory    = 3650
	deepHistoryMb  = 10 << 10
)

// fullHistoryDays returns how many days of its past a phone sends to a companion that requires the full history.
func fullHistoryDays(props *waCompanionReg.DeviceProps) int {
	config := props.GetHistorySyncConfig()
	limit := int(config.GetFullSyncDaysLimit())
	room := min(config.GetFullSyncSizeMbLimit(), config.GetStorageQuotaMb())
	switch {
	case props.GetPlatformType() != waCompanionReg.DeviceProps_DESKTOP || limit == 0 || room <= deepHistoryMb:
		return shallowHistory
	default:
		return min(limit, deepHistory)
	}
}

// bootstrap returns the first part, which has the chats without messages and the identities.
func (p *Phone) bootstrap() *waHistorySync.HistorySync {
	part := content.HistoryPart(waHistorySync.HistorySync_INITIAL_BOOTSTRAP)
	for _, person := range p.acquaintances() {
		if person.account != nil {
			part.Accounts = append(part.Accounts, person.account)
		}
		if !person.lid.IsEmpty() {
			part.PhoneNumberToLidMappings = append(part.PhoneNumberToLidMappings, &waHistorySync.PhoneNumberToLIDMapping{
				PnJID: proto.String(person.pn.String()), LidJID: proto.String(person.lid.String()),
			})
		}
	}
	p.net.Mu.Lock()
	defer p.net.Mu.Unlock()
	part.NctSalt = p.Account.Salt
	for _, past := range p.pasts() {
		part.Conversations = append(part.Conversations, p.conversation(past))
	}
	return part
}

func (p *Phone) pushNames() *waHistorySync.HistorySync {
	part := &waHistorySync.HistorySync{SyncType: waHistorySync.HistorySync_PUSH_NAME.Enum()}
	for _, person := range p.acquaintances() {
		if person.name != "" {
			part.Pushnames = append(part.Pushnames, &waHistorySync.Pushname{ID: proto.String(person.pn.String()), Pushname: proto.String(person.name)})
		}
	}
	return part
}

// pastMessages returns the chats that have messages of the selected kind.
func (p *Phone) pastMessages(of func(Past) []*content.PastInfo) (chats []*waHistorySync.Conversation) {
	p.net.Mu.Lock()
	defer p.net.Mu.Unlock()
	for _, past := range p.pasts() {
		if messages := of(past); len(messages) > 0 {
			chat := content.WithMessages(p.conversation(past).GetID(), messages)
			chat.EndOfHistoryTransferType = past.end(messages, false)
			chats = append(chats, chat)
		}
	}
	return chats
}

func (p *Phone) pasts() []Past {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.past
}

type acquaintance struct {
	pn, lid types.JID // pn holds the LID for people without a number
	name    string
	account *waHistorySync.Account // the username, if it is known
}

// acquaintances returns the phone's own account, the people in its address book and its past, and the members of common groups.
func (p *Phone) acquaintances() []acquaintance {
	p.mu.Lock()
	var numbers []string
	for number := range p.book {
		numbers = append(numbers, number)
	}
	past := p.past
	p.mu.Unlock()
	n := p.net
	n.Mu.Lock()
	defer n.Mu.Unlock()
	known := map[*people.Account]struct{}{p.Account: {}}
	for _, number := range numbers {
		if a := n.ByNumber[number]; a != nil {
			known[a] = struct{}{}
		}
	}
	for _, chat := range past {
		if a := n.AccountOf(chat.With); a != nil {
			known[a] = struct{}{}
		}
	}
	for _, g := range n.GroupsOf(p.Account) {
		for a := range g.Members {
			known[a] = struct{}{}
		}
	}
	var out []acquaintance
	for a := range known {
		person := acquaintance{pn: a.PN(), lid: a.Alternative(types.DefaultUserServer), name: a.PushName}
		if a.Numberless {
			person.pn = a.LID()
		}
		if a.Username != "" || a.GaveUp {
			person.account = &waHistorySync.Account{Lid: proto.String(a.LID().String()), Username: proto.String(a.Username), IsUsernameDeleted: proto.Bool(a.GaveUp)}
		}
		out = append(out, person)
	}
	return out
}

// sendHistory compresses and uploads one part of the history and sends the companion its location.
func (p *Phone) sendHistory(ctx context.Context, d *people.Device, part *waHistorySync.HistorySync) error {
	raw, err := proto.Marshal(part)
	if err != nil {
		return fmt.Errorf("marshal the history: %w", err)
	}
	return p.SendHistory(ctx, d, part.GetSyncType(), raw, nil)
}

// SendHistory sends a companion one part of the history unchanged, valid protobuf or not. change, if set, may alter the notification.
func (p *Phone) SendHistory(ctx context.Context, d *people.Device, kind waHistorySync.HistorySync_HistorySyncType, raw []byte, change func(*waE2E.HistorySyncNotification)) error {
	var compressed bytes.Buffer
	writer := zlib.NewWriter(&compressed)
	_, err := writer.Write(raw)
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		return fmt.Errorf("compress the history: %w", err)
	}
	uploaded, err := p.client.Upload(ctx, compressed.Bytes(), whatsmeow.MediaHistory)
	if err != nil {
		return fmt.Errorf("upload the history: %w", err)
	}
	notification := &waE2E.HistorySyncNotification{
		FileSHA256: uploaded.FileSHA256, FileLength: &uploaded.FileLength, MediaKey: uploaded.MediaKey,
		FileEncSHA256: uploaded.FileEncSHA256, DirectPath: &uploaded.DirectPath, EncHandle: &uploaded.Handle,
		SyncType: waE2E.HistorySyncType(kind).Enum(), ChunkOrder: proto.Uint32(1), Progress: proto.Uint32(100),
	}
	if change != nil {
		change(notification)
	}
	id := p.client.GenerateMessageID()
	p.net.Mu.Lock()
	if part := new(waHistorySync.HistorySync); proto.Unmarshal(raw, part) == nil { // only a valid part can be sent again
		if d.History == nil {
			d.History = make(map[types.MessageID]people.HistoryBlob)
		}
		d.History[id] = people.HistoryBlob{Part: part, Path: media.PlainPath(uploaded.DirectPath)}
	}
	p.net.Mu.Unlock()
	return p.sendPeerAs(ctx, d, id, &waE2E.ProtocolMessage{
		Type:                    waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION.Enum(),
		HistorySyncNotification: notification,
	})
}
