package simnet

import (
	"context"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/content"
	"bridged/internal/simnet/people"
)

// HistoryRequest is a companion's request for history.
type HistoryRequest struct {
	Kind waHistorySync.HistorySync_HistorySyncType
	// Chat, Before and Count are set in a request for older messages.
	Chat   types.JID
	Before types.MessageID
	Count  int
}

// HistoryRequests returns the companions' requests for history, in order.
func (p *Phone) HistoryRequests() []HistoryRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// historyRequested handles a companion's request for history and reports whether the request was one.
func (p *Phone) historyRequested(d *people.Device, request *waE2E.PeerDataOperationRequestMessage) bool {
	switch request.GetPeerDataOperationRequestType() {
	case waE2E.PeerDataOperationRequestType_HISTORY_SYNC_ON_DEMAND:
		wanted := request.GetHistorySyncOnDemandRequest()
		chat, err := types.ParseJID(wanted.GetChatJID())
		if err != nil {
			return true
		}
		p.noteRequest(HistoryRequest{Kind: waHistorySync.HistorySync_ON_DEMAND, Chat: chat, Before: wanted.GetOldestMsgID(), Count: int(wanted.GetOnDemandMsgCount())})
		p.background("send older messages", func(ctx context.Context) error {
			at := time.Unix(wanted.GetOldestMsgTimestampMS(), 0)
			part := p.olderMessages(chat, wanted.GetOldestMsgID(), at, int(wanted.GetOnDemandMsgCount()))
			if part == nil {
				return nil
			}
			return p.sendHistory(ctx, d, part)
		})
		return true
	case waE2E.PeerDataOperationRequestType_HISTORY_SYNC_CHUNK_RETRY:
		kind := waHistorySync.HistorySync_HistorySyncType(request.GetHistorySyncChunkRetryRequest().GetSyncType())
		p.noteRequest(HistoryRequest{Kind: kind})
		p.background("send a part of the history again", func(ctx context.Context) error {
			for _, part := range p.history(d) {
				if part.GetSyncType() == kind {
					return p.sendHistory(ctx, d, part)
				}
			}
			return nil
		})
		return true
	}
	return false
}

func (p *Phone) noteRequest(r HistoryRequest) {
	p.mu.Lock()
	p.asked = append(p.asked, r)
	p.mu.Unlock()
	p.net.Mu.Lock()
	defer p.net.Mu.Unlock()
	p.net.Notify()
}

// WaitHistoryRequests waits until companions have sent that many requests for history.
func (p *Phone) WaitHistoryRequests(ctx context.Context, count int) error {
	return p.net.Wait(ctx, func() bool { return len(p.HistoryRequests()) >= count })
}

// olderMessages returns the messages of a chat from before a message, or from before a time if the phone does not have that message. It returns
// nil if the phone gives the only such messages to no companion.
func (p *Phone) olderMessages(chat types.JID, id types.MessageID, at time.Time, count int) *waHistorySync.HistorySync {
	part := content.HistoryPart(waHistorySync.HistorySync_ON_DEMAND)
	p.net.Mu.Lock()
	defer p.net.Mu.Unlock()
	for _, past := range p.pasts() {
		if past.With != chat && (p.net.AccountOf(chat) == nil || p.net.AccountOf(past.With) != p.net.AccountOf(chat)) {
			continue
		}
		messages := slices.Concat(past.Older, past.Recent)
		end := slices.IndexFunc(messages, func(m *content.PastInfo) bool { return m.GetKey().GetID() == id })
		if end < 0 {
			end = slices.IndexFunc(messages, func(m *content.PastInfo) bool { return int64(m.GetMessageTimestamp()) >= at.Unix() })
		}
		if end < 0 {
			end = len(messages)
		}
		if end == 0 && past.PhoneOnly {
			return nil
		}
		older := messages[max(0, end-count):end]
		c := content.WithMessages(p.conversation(past).GetID(), older)
		c.EndOfHistoryTransferType = past.end(older, true)
		if end == 0 {
			c.EndOfHistoryTransferType = waHistorySync.Conversation_COMPLETE_AND_NO_MORE_MESSAGE_REMAIN_ON_PRIMARY.Enum()
		}
		part.Conversations = append(part.Conversations, c)
	}
	return part
}

// sendHistoryAgain uploads a part again after a companion could not download it. The caller holds Directory.Mu.
func (p *Phone) sendHistoryAgain(d *people.Device, id types.MessageID) {
	blob, known := d.History[id]
	if !known {
		return
	}
	delete(d.History, id)
	p.background("upload history again", func(ctx context.Context) error { return p.sendHistory(ctx, d, blob.Part) })
}
