package wa

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

const (
	// settingHistoryAsked keeps how often and when the phone was last asked for
	// the history that it has not told of.
	settingHistoryAsked = "history_asked"
	// historyAskPause is how long the phone has to answer, historyAsks how often
	// it is asked.
	historyAskPause = 24 * time.Hour
	historyAsks     = 3
)

// historyPatience is how long an open account waits for the phone to tell of its
// history. It is a variable for the tests alone.
var historyPatience = 10 * time.Minute

// neededHistory are the parts that every phone sends, and every session needs.
var neededHistory = []waE2E.HistorySyncType{waE2E.HistorySyncType_INITIAL_BOOTSTRAP, waE2E.HistorySyncType_PUSH_NAME}

// missing asks the phone for parts of its history that it has not told of, or
// that a kill took between the network's forgetting and our writing down. It
// returns after what time to look again.
func (w *historyWorker) missing(ctx context.Context, l *link) time.Duration {
	kinds, err := w.m.store.HistoryKinds(ctx)
	if err != nil {
		return historyPause
	}
	var missing []waE2E.HistorySyncType
	for _, kind := range neededHistory {
		if !kinds[kind.String()] {
			missing = append(missing, kind)
		}
	}
	if len(missing) == 0 {
		w.missingSince = time.Time{}
		return historyIdle
	}
	if w.missingSince.IsZero() || w.missingIn != l {
		w.missingSince, w.missingIn = time.Now(), l
	}
	count, last := w.asked(ctx)
	due := w.missingSince.Add(historyPatience)
	if next := last.Add(historyAskPause); count > 0 && next.After(due) {
		due = next
	}
	switch wait := time.Until(due); {
	case count >= historyAsks:
		return historyIdle
	case wait > 0:
		return wait
	}
	if err := w.ask(ctx, l, missing, count+1); err != nil {
		w.m.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("the phone could not be asked for its history")
		return historyPause
	}
	return historyIdle
}

func (w *historyWorker) asked(ctx context.Context) (count int, last time.Time) {
	text, err := w.m.store.Setting(ctx, settingHistoryAsked)
	if err != nil {
		return historyAsks, time.Time{} // what cannot be noted is not asked
	}
	number, at, _ := strings.Cut(text, " ")
	count, _ = strconv.Atoi(number) // 0 where nobody was asked
	seconds, _ := strconv.ParseInt(at, 10, 64)
	return count, time.Unix(seconds, 0)
}

// ask notes the request before it makes it.
func (w *historyWorker) ask(ctx context.Context, l *link, kinds []waE2E.HistorySyncType, count int) error {
	if err := w.m.store.SetSetting(ctx, settingHistoryAsked, fmt.Sprintf("%d %d", count, time.Now().Unix())); err != nil {
		return err
	}
	for _, kind := range kinds {
		w.m.log.Info().Str("kind", kind.String()).Int("time", count).Msg("the phone has not told of its history: asking for it")
		if _, err := l.cli.SendPeerMessage(ctx, historyRequest(kind)); err != nil {
			return err
		}
	}
	return nil
}

// historyRequest asks the phone to make a part of its history again.
func historyRequest(kind waE2E.HistorySyncType) *waE2E.Message {
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

// AskHistory asks the phone for messages of a chat from before the oldest one that
// is stored, and returns the request's id. What the phone sends is imported
// later. It fails with [bridge.CodeNotConnected].
func (m *Manager) AskHistory(ctx context.Context, oldest bridge.Message, count int) (string, error) {
	l, err := m.open()
	if err != nil {
		return "", err
	}
	ctx, cancel := m.within(ctx, historyAskTimeout)
	defer cancel()
	info := &types.MessageInfo{ID: m.wireID(ctx, oldest.Chat, oldest.ID), Timestamp: oldest.Timestamp.Time,
		MessageSource: types.MessageSource{Chat: convert.WireJID(l.hidden(ctx, oldest.Chat)), IsFromMe: oldest.FromMe}}
	sent, err := l.cli.SendPeerMessage(ctx, l.cli.BuildHistorySyncRequest(info, count))
	if err != nil {
		return "", bridge.NotConnected("the phone could not be asked for older messages: try again in a moment").Because(err)
	}
	m.log.Info().Str("chat", oldest.Chat.Redacted()).Int("count", count).Msg("the phone was asked for older messages")
	return sent.ID, nil
}

// historyAskTimeout bounds how long the network may take to accept a request to
// the phone.
const historyAskTimeout = 30 * time.Second
