package history

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waGroupHistory"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// These are the key derivation and the media type of a bundle, which whatsmeow lacks. WhatsApp
// Web (MEDIA_TYPES.GROUP_HISTORY), whatsapp-rust and zapo use the same.
const (
	bundleKeys = whatsmeow.MediaType("Group History")
	bundleType = "group-history"
)

const (
	maxBundle   = 32 << 20 // decompressed; the apps share 25 to 100 messages
	maxShared   = 1000     // messages of a bundle
	justJoined  = 24 * time.Hour
	lengthOfKey = 32
)

// importBundle stores the messages that a member of a group shares with the account after it has
// joined, if messages are imported. Any member can create such a bundle and claim in it who wrote
// what. So it is only imported while the store has no older messages of the group, and it never
// changes a stored message.
func (h *History) importBundle(ctx context.Context, c Conn, part *bridge.HistoryPart) (err error) {
	defer func() {
		if r := recover(); r != nil {
			h.o.Log.Error().Str("panic", bridge.Redact(fmt.Sprint(r))).Bytes("stack", debug.Stack()).Msg("panic while importing shared messages")
			err = fmt.Errorf("panic: %T", r)
		}
	}()
	info := new(waWeb.WebMessageInfo)
	if err := proto.Unmarshal(part.Notification, info); err != nil {
		return err
	}
	group, err := types.ParseJID(info.GetKey().GetRemoteJID())
	if err != nil {
		return err
	}
	at := time.Unix(int64(info.GetMessageTimestamp()), 0)
	wanted, err := h.wantsBundle(ctx, *part, convert.JID(group), at)
	if err != nil {
		return err
	}
	t := &partImport{Conn: c, o: h.o, part: part, imports: true, since: h.since()}
	if wanted {
		compressed, err := downloadBundle(ctx, c, info.GetMessage().GetMessageHistoryBundle())
		if err != nil {
			return err
		}
		shared, err := readBundle(compressed)
		if err != nil {
			return err
		}
		if err := t.importShared(ctx, group, info.GetParticipant(), at, shared); err != nil {
			return err
		}
	}
	step := part.HistoryStep
	step.State, step.Position, step.Tries, step.NextAt = bridge.HistoryDone, t.seen, 0, bridge.At(time.Now())
	if err := h.o.Store.Save(ctx, step); err != nil {
		return err
	}
	h.o.Log.Info().Bool("taken", wanted).Int("messages", t.seen).Msg("a member shared messages of a group")
	return nil
}

// wantsBundle reports whether to import a bundle: messages are imported, and the account has just
// joined the group. A half-imported bundle is wanted.
func (h *History) wantsBundle(ctx context.Context, part bridge.HistoryPart, group bridge.JID, at time.Time) (bool, error) {
	if !h.o.Import.IsOn() || !group.IsGroup() {
		return false, nil
	}
	if part.Position > 0 {
		return true, nil
	}
	oldest, found, err := h.o.Store.OldestKnown(ctx, group)
	if bridge.CodeOf(err) == bridge.CodeNotFound { // the chat does not exist yet
		return true, nil
	}
	return err == nil && (!found || oldest.Timestamp.After(at.Add(-justJoined))), err
}

func downloadBundle(ctx context.Context, c Conn, b *waE2E.MessageHistoryBundle) ([]byte, error) {
	if len(b.GetMediaKey()) != lengthOfKey || len(b.GetFileEncSHA256()) != lengthOfKey || len(b.GetFileSHA256()) != lengthOfKey {
		return nil, fmt.Errorf("%w: without keys or hashes", errNoBundle)
	}
	data, err := c.DownloadMediaWithPath(ctx, b.GetDirectPath(), b.GetFileEncSHA256(), b.GetFileSHA256(), b.GetMediaKey(), bundleKeys, bundleType, false)
	if err != nil {
		return nil, fmt.Errorf("download: %w", withoutAddress(err))
	}
	return data, nil
}

// errNoBundle means that a bundle has an unknown form.
var errNoBundle = errors.New("not a bundle of messages")

// readBundle parses the messages of a bundle, including album parts and pinned messages.
func readBundle(compressed []byte) ([]*waWeb.WebMessageInfo, error) {
	inflated, err := zlib.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoBundle, err)
	}
	defer inflated.Close()
	data, err := io.ReadAll(http.MaxBytesReader(nil, inflated, maxBundle))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	history := new(waGroupHistory.GroupHistory)
	if err := proto.Unmarshal(data, history); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoBundle, err)
	}
	messages := append(history.GetMessages(), history.GetOutOfWindowPinnedMessages()...)
	for _, list := range history.GetUncountedAssociatedMessageLists() {
		messages = append(messages, list.GetMessages()...)
	}
	return messages[:min(len(messages), maxShared)], nil
}

// importShared stores the messages of a bundle that a member made at a given time.
func (t *partImport) importShared(ctx context.Context, group types.JID, member string, made time.Time, messages []*waWeb.WebMessageInfo) error {
	for _, message := range messages {
		t.seen++
		at := time.Unix(int64(message.GetMessageTimestamp()), 0)
		if t.seen <= t.part.Position || at.Before(t.since) || at.After(made) || !t.localise(group, member, message) {
			continue
		}
		for _, fact := range t.importedFacts(group, message) {
			if imported, ok := fact.(bridge.Imported); ok {
				imported.Shared = true
				if err := t.add(ctx, imported); err != nil {
					return err
				}
			}
		}
	}
	return t.flush(ctx)
}

// localise changes a message from the member's point of view to the account's, as WhatsApp Web
// does (WAWebGroupHistoryBundleProcessor). It returns false for messages without a sender and for
// messages of the account itself, because no other member may speak for the account.
func (t *partImport) localise(group types.JID, member string, message *waWeb.WebMessageInfo) bool {
	author := message.GetParticipant()
	if author == "" {
		author = message.GetKey().GetParticipant()
	}
	if message.GetKey().GetFromMe() {
		author = member
	}
	pn, lid := t.o.Own()
	if person := convert.ParseJID(author); !person.IsPerson() || person == pn || person == lid {
		return false
	}
	message.Participant = &author
	message.Key = &waCommon.MessageKey{RemoteJID: proto.String(group.String()), ID: message.GetKey().ID, FromMe: proto.Bool(false), Participant: &author}
	for _, r := range message.GetReactions() {
		localiseKey(r.GetKey(), member)
	}
	for _, u := range message.GetPollUpdates() {
		localiseKey(u.GetPollUpdateMessageKey(), member)
	}
	for _, r := range message.GetEventResponses() {
		localiseKey(r.GetEventResponseMessageKey(), member)
	}
	return true
}

func localiseKey(key *waCommon.MessageKey, member string) {
	if key.GetFromMe() {
		key.FromMe, key.Participant = proto.Bool(false), &member
	}
}
