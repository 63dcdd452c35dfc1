package history

import (
	"bytes"
	"compress/zlib"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

func compressed(t *testing.T, raw []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestEachPiece_IsTheWholePart: the pieces add up to the part, fields beyond single
// chats first, and without messages if those are not wanted.
func TestEachPiece_IsTheWholePart(t *testing.T) {
	whole := &waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_RECENT.Enum(), NctSalt: []byte("salt"), ChunkOrder: proto.Uint32(3),
		Pushnames: []*waHistorySync.Pushname{{ID: proto.String("1@s.whatsapp.net"), Pushname: proto.String("One")}},
	}
	for range 30 {
		chat := &waHistorySync.Conversation{ID: proto.String("15550100301@s.whatsapp.net"), Name: proto.String("Anna"), EphemeralExpiration: proto.Uint32(60), TcToken: []byte("token")}
		for range 10 {
			chat.Messages = append(chat.Messages, &waHistorySync.HistorySyncMsg{Message: &waWeb.WebMessageInfo{
				Key: nil, PushName: proto.String(strings.Repeat("long ", 2000)),
			}})
		}
		whole.Conversations = append(whole.Conversations, chat)
	}
	raw, err := proto.MarshalOptions{AllowPartial: true}.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, withMessages := range []bool{false, true} {
		var sizes []int
		got := new(waHistorySync.HistorySync)
		err := eachPiece(compressed(t, raw), waHistorySync.HistorySync_RECENT, withMessages, func(piece []byte) error {
			part := new(waHistorySync.HistorySync)
			if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(piece, part); err != nil {
				return err
			}
			if len(sizes) == 0 && (string(part.GetNctSalt()) != "salt" || len(part.GetConversations()) != 0) {
				t.Errorf("the first piece: %v", part)
			}
			sizes = append(sizes, len(piece))
			proto.Merge(got, part)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := proto.Clone(whole).(*waHistorySync.HistorySync)
		want.ChunkOrder = nil
		if !withMessages {
			for _, chat := range want.Conversations {
				chat.Messages = nil
			}
		}
		if !proto.Equal(got, want) {
			t.Errorf("with messages %v: the pieces are not the part", withMessages)
		}
		if withMessages && len(sizes) < 3 {
			t.Errorf("%d bytes came in pieces of %v", len(raw), sizes)
		}
	}
}

// TestEachPiece_IsBounded: neither a claimed length nor a decompression bomb fills
// the memory.
func TestEachPiece_IsBounded(t *testing.T) {
	bomb := protowire.AppendVarint(protowire.AppendTag(nil, 7, protowire.BytesType), maxRecord)
	for name, raw := range map[string][]byte{
		"a claim": protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.BytesType), maxRecord+1),
		"a bomb":  bytes.Repeat(append(bomb, make([]byte, 1<<20)...), 3),
	} {
		err := eachPiece(compressed(t, raw), waHistorySync.HistorySync_FULL, false, func([]byte) error { return nil })
		if err == nil {
			t.Errorf("%s was read", name)
		}
	}
	endless := http.MaxBytesReader(nil, io.NopCloser(zeros{}), 1<<20)
	if _, err := io.Copy(io.Discard, endless); !isTooLarge(err) {
		t.Errorf("an endless part: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestBounded_EndsLongAnswers: an answer beyond the limit is an error, with or
// without its length.
func TestBounded_EndsLongAnswers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/flowing" {
			w.(http.Flusher).Flush()
		}
		_, _ = w.Write(make([]byte, 1000))
	}))
	defer server.Close()
	for path, limit := range map[string]int64{"/flowing": 999, "/announced": 999, "/enough": 1000} {
		client := bounded(server.Client(), limit)
		resp, err := client.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
		if isTooLarge(err) != (limit < 1000) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
