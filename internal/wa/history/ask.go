package history

import (
	"context"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

const (
	settingAsked = "history_asked" // how often the phone was asked for a missing history, and when last (Unix)
	askPause     = 24 * time.Hour  // the phone's time to answer
	mostAsks     = 3
	askTimeout   = 30 * time.Second // for the network to accept a request to the phone
)

// announceTimeout is how long an open account waits for the phone to announce its history.
var announceTimeout = 10 * time.Minute

// needed lists the parts that every phone sends and every session needs.
var needed = []waE2E.HistorySyncType{waE2E.HistorySyncType_INITIAL_BOOTSTRAP, waE2E.HistorySyncType_PUSH_NAME}

// missing asks the phone for parts of its history that it has not announced, or whose
// announcement was lost in a crash before it was stored. It returns the pause until the next
// check.
func (h *History) missing(ctx context.Context, c Conn) time.Duration {
	kinds, err := h.o.Store.HistoryKinds(ctx)
	if err != nil {
		return pause
	}
	var missing []waE2E.HistorySyncType
	for _, kind := range needed {
		if !kinds[kind.String()] {
			missing = append(missing, kind)
		}
	}
	if len(missing) == 0 {
		h.missingSince = time.Time{}
		return idle
	}
	if h.missingSince.IsZero() || h.missingIn != c.Client {
		h.missingSince, h.missingIn = time.Now(), c.Client
	}
	count, last := h.asked(ctx)
	due := h.missingSince.Add(announceTimeout)
	if next := last.Add(askPause); count > 0 && next.After(due) {
		due = next
	}
	switch wait := time.Until(due); {
	case count >= mostAsks:
		return idle
	case wait > 0:
		return wait
	}
	if err := h.ask(ctx, c, missing, count+1); err != nil {
		h.o.Log.Warn().Str("error", bridge.Redact(err.Error())).Msg("cannot ask the phone for its history")
		return pause
	}
	return idle
}

func (h *History) asked(ctx context.Context) (count int, last time.Time) {
	text, err := h.o.Store.Setting(ctx, settingAsked)
	if err != nil {
		return mostAsks, time.Time{} // without the count, asking could repeat without end
	}
	var seconds int64
	_, _ = fmt.Sscan(text, &count, &seconds) // "" if the phone was not asked
	return count, time.Unix(seconds, 0)
}

// ask asks the phone for parts. It stores the attempt first.
func (h *History) ask(ctx context.Context, c Conn, kinds []waE2E.HistorySyncType, count int) error {
	if err := h.o.Store.SetSetting(ctx, settingAsked, fmt.Sprintf("%d %d", count, time.Now().Unix())); err != nil {
		return err
	}
	for _, kind := range kinds {
		h.o.Log.Info().Str("kind", kind.String()).Int("time", count).Msg("the phone has not announced its history; asking for it")
		if _, err := c.SendPeerMessage(ctx, chunkRequest(kind)); err != nil {
			return err
		}
	}
	return nil
}

// chunkRequest returns the request that makes the phone create a part of its history again.
func chunkRequest(kind waE2E.HistorySyncType) *waE2E.Message {
	return &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_PEER_DATA_OPERATION_REQUEST_MESSAGE.Enum(),
		PeerDataOperationRequestMessage: &waE2E.PeerDataOperationRequestMessage{
			PeerDataOperationRequestType: waE2E.PeerDataOperationRequestType_HISTORY_SYNC_CHUNK_RETRY.Enum(),
			HistorySyncChunkRetryRequest: &waE2E.PeerDataOperationRequestMessage_HistorySyncChunkRetryRequest{
				SyncType: kind.Enum(), ChunkOrder: proto.Uint32(1), RegenerateChunk: proto.Bool(true),
			},
		},
	}}
}

// AskHistory asks the phone for messages of a chat that are older than the oldest stored one, and
// returns the request's id. The answer is imported later. Without a connection it fails with
// [bridge.CodeNotConnected]. If the phone has said that it has no older messages for a linked
// device, it fails with [bridge.CodeNoMoreHistory] or [bridge.CodeOnlyOnPhone] and sends no
// request: the phone would not answer, and would show its owner that syncing is paused.
func (h *History) AskHistory(ctx context.Context, oldest bridge.Message, count int) (string, error) {
	end, err := h.o.Store.HistoryEnd(ctx, oldest.Chat)
	if err == nil {
		err = end.Refusal()
	}
	if err != nil {
		return "", err
	}
	c, err := h.o.Open()
	if err != nil {
		return "", err
	}
	ctx, cancel := h.o.Within(ctx, askTimeout)
	defer cancel()
	info := &types.MessageInfo{
		ID: h.o.WireID(ctx, oldest.Chat, oldest.ID), Timestamp: oldest.Timestamp.Time,
		MessageSource: types.MessageSource{Chat: convert.WireJID(c.Hidden(ctx, oldest.Chat)), IsFromMe: oldest.FromMe},
	}
	sent, err := c.SendPeerMessage(ctx, c.BuildHistorySyncRequest(info, count))
	if err != nil {
		return "", bridge.NotConnected("bridged could not ask the phone for older messages: try again in a moment").Because(err)
	}
	h.o.Log.Info().Str("chat", oldest.Chat.Redacted()).Int("count", count).Msg("asked the phone for older messages")
	return sent.ID, nil
}
