package history

import (
	"bytes"
	"compress/zlib"
	"testing"

	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"google.golang.org/protobuf/proto"

	"bridged/internal/fuzzbudget"
)

// A part of the history is read in pieces that take no more memory than the part,
// and each piece is either of the expected kind or refused.
func FuzzHistoryPieces(f *testing.F) {
	whole := &waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_RECENT.Enum(), Pushnames: []*waHistorySync.Pushname{{ID: proto.String("1@s.whatsapp.net"), Pushname: proto.String("One")}},
		Conversations: []*waHistorySync.Conversation{{ID: proto.String("1@s.whatsapp.net"), Messages: []*waHistorySync.HistorySyncMsg{{MsgOrderID: proto.Uint64(1)}}}},
	}
	raw, err := proto.Marshal(whole)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw, true)
	f.Add(append(raw, raw...), false)
	f.Add([]byte("\x12\xff\xff\xff\xff\x0f"), true)
	f.Add([]byte("\x0b\x0b\x0b\x0c"), true)
	perPart := fuzzbudget.Budget{Base: 4 << 20, PerByte: 256, Time: fuzzbudget.Usual.Time}
	f.Fuzz(func(t *testing.T, raw []byte, withMessages bool) {
		var part bytes.Buffer
		w := zlib.NewWriter(&part)
		if _, err := w.Write(raw); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		perPart.Check(t, len(raw), func() {
			total := 0
			err := eachPiece(part.Bytes(), waHistorySync.HistorySync_RECENT, withMessages, func(piece []byte) error {
				if total += len(piece); total > 2*len(raw)+100 {
					t.Errorf("%d bytes of pieces of %d", total, len(raw))
				}
				return nil
			})
			if err != nil && err.Error() == "" {
				t.Error("an error without a word")
			}
		})
		// The download need not even be compressed.
		perPart.Check(t, len(raw), func() {
			_ = eachPiece(raw, waHistorySync.HistorySync_RECENT, withMessages, func([]byte) error { return nil })
		})
	})
}
