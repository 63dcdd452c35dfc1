package wa

import (
	"bytes"
	"compress/zlib"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

// Cards of strangers are read in whatever form they are.
func FuzzReadVCard(f *testing.F) {
	for _, card := range []string{
		"BEGIN:VCARD\nVERSION:3.0\nFN:Ada\nitem1.TEL;waid=15551234567:+1 555\nEND:VCARD", "N;ENCODING=QUOTED-PRINTABLE:=41=\n=42;x", "TEL;TYPE=a,b:\n tel", strings.Repeat("X:=\n", 100),
		strings.Repeat("NOTE;QUOTED-PRINTABLE:x=\n", 100), strings.Repeat("A;", 100) + ":x",
	} {
		f.Add(card)
	}
	f.Fuzz(func(t *testing.T, card string) {
		fuzzbudget.Usual.Check(t, len(card), func() {
			properties := vcardProperties(card)
			if len(properties) > maxListed {
				t.Errorf("%q has %d properties", card, len(properties))
			}
			for _, p := range properties {
				if p.text(); slices.Contains(p.components(), "") {
					t.Errorf("%q: %+v has an empty part", card, p)
				}
			}
		})
	})
}

// A part of the history is read in pieces, which take no more than it does, and
// each of which is what was asked for or refused.
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
		// As it comes, it need not even be compressed.
		perPart.Check(t, len(raw), func() {
			_ = eachPiece(raw, waHistorySync.HistorySync_RECENT, withMessages, func([]byte) error { return nil })
		})
	})
}

// The names that strangers have others read are bounded and valid.
func FuzzMessageID(f *testing.F) {
	for _, id := range []string{"3EB0ABC", "..", "a/b", "%2e", "\xff", "x-1", strings.Repeat("é", 300)} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		fuzzbudget.Usual.Check(t, len(id), func() {
			segment := bridge.PathID(id)
			if again, err := bridge.ParsePathID(segment); utf8.ValidString(id) && id != "" && (err != nil || again != id) {
				t.Errorf("%q has the path %q, which is %q, %v", id, segment, again, err)
			}
		})
	})
}
