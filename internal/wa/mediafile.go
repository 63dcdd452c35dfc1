package wa

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"bridged/internal/bridge"
)

// uploadBudget is how long a file may take that is sent, beside sendBudget.
const uploadBudget = 15 * time.Minute

// CDN is the network's media servers. Who calls it names the hosts.
type CDN interface {
	Upload(ctx context.Context, conns bridge.MediaConns, f bridge.File) (bridge.UploadedFile, error)
	// Exists reports whether a file is still there.
	Exists(ctx context.Context, conns bridge.MediaConns, file *bridge.Media) (bool, error)
	// HTTPClient reaches the media servers, for whatsmeow's own downloads.
	HTTPClient() *http.Client
}

// budgetOf returns how long a message may take to be composed and sent.
func budgetOf(content bridge.Content) time.Duration {
	if _, isFile := content.(bridge.File); isFile {
		return sendBudget + uploadBudget
	}
	return sendBudget
}

// fileMessage uploads a prepared file and describes it as the official clients do.
func (m *Manager) fileMessage(ctx context.Context, l *link, f bridge.File) (*waE2E.Message, error) {
	up, err := m.opts.CDN.Upload(ctx, l.mediaConn, f)
	if err != nil {
		return nil, err
	}
	length, now := proto.Uint64(uint64(up.Size)), proto.Int64(time.Now().Unix())
	switch f.Type {
	case bridge.MediaImage:
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now,
			FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256, FileLength: length,
			Mimetype: &f.MimeType, Caption: optional(f.Caption), Width: optionalSize(f.Width), Height: optionalSize(f.Height), JPEGThumbnail: f.Thumbnail,
		}}, nil
	case bridge.MediaVideo:
		return &waE2E.Message{VideoMessage: &waE2E.VideoMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now,
			FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256, FileLength: length,
			Mimetype: &f.MimeType, Caption: optional(f.Caption), Width: optionalSize(f.Width), Height: optionalSize(f.Height), JPEGThumbnail: f.Thumbnail,
			Seconds: optionalSize(f.Seconds),
		}}, nil
	case bridge.MediaAudio:
		return &waE2E.Message{AudioMessage: &waE2E.AudioMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now,
			FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256, FileLength: length,
			Mimetype: &f.MimeType, Seconds: optionalSize(f.Seconds), PTT: &f.PTT, Waveform: f.Waveform,
		}}, nil
	}
	msg := &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now,
		FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256, FileLength: length,
		Mimetype: &f.MimeType, FileName: optional(f.FileName), Title: optional(f.FileName), Caption: optional(f.Caption), JPEGThumbnail: f.Thumbnail,
	}}
	if f.Caption != "" {
		return captioned(msg), nil
	}
	return msg, nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func optionalSize(n int) *uint32 {
	if n <= 0 {
		return nil
	}
	return proto.Uint32(uint32(n))
}

// MediaConn returns the hosts and the right that the network names now, or, with
// refresh, names anew. It needs the socket.
func (m *Manager) MediaConn(ctx context.Context, refresh bool) (bridge.MediaConn, error) {
	l, err := m.open()
	if err != nil {
		return bridge.MediaConn{}, err
	}
	return l.mediaConn(ctx, refresh)
}

func (l *link) mediaConn(ctx context.Context, refresh bool) (bridge.MediaConn, error) {
	//lint:ignore SA1019 there is no other way to the media hosts, and the version of the library is pinned
	named, err := l.cli.DangerousInternals().RefreshMediaConn(ctx, refresh)
	if err == nil && len(named.Hosts) == 0 {
		err = errors.New("the network named no media hosts")
	}
	if err != nil {
		return bridge.MediaConn{}, bridge.NotConnected("the network did not name its media hosts: try again in a moment").Because(err)
	}
	conn := bridge.MediaConn{Auth: named.Auth}
	for _, host := range named.Hosts {
		conn.Hosts = append(conn.Hosts, host.Hostname)
	}
	return conn, nil
}

// setDirectPath gives the content's file a new place. The URL is the old
// place's and goes.
func setDirectPath(msg *waE2E.Message, path string) {
	field := contentField(msg)
	content := msg.ProtoReflect().Mutable(field).Message()
	fields := content.Descriptor().Fields()
	if direct := fields.ByName("directPath"); direct != nil {
		content.Set(direct, protoreflect.ValueOfString(path))
	}
	if url := fields.ByName("URL"); url != nil {
		content.Clear(url)
	}
}

// reuploads are the requests to the phone under way, one per message whoever
// waits for it.
type reuploads struct {
	mu      sync.Mutex
	waiting map[string]*reupload // by message id; guarded by mu
}

type reupload struct {
	done chan struct{}
	path string
	err  error
	row  bridge.Message
}

// reuploadWait is how long the phone may take.
const reuploadWait = 30 * time.Second

// Reupload asks the phone to upload a message's file again, once for all who
// wait, and answers its new place, which is stored as well. It fails with
// [bridge.CodeMediaGone] when the phone has lost the file too or stays silent.
func (m *Manager) Reupload(ctx context.Context, row bridge.Message) (string, error) {
	if row.Media == nil || len(row.Media.Ref.MediaKey) == 0 {
		return "", mediaGone(errors.New("no media key"))
	}
	l, err := m.open()
	if err != nil {
		return "", err
	}
	r, first := m.reupload.join(row)
	if first {
		m.workers.Go(func() { m.askPhone(l, row, r) })
	}
	select {
	case <-r.done:
		return r.path, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (u *reuploads) join(row bridge.Message) (r *reupload, first bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if r, ok := u.waiting[row.ID]; ok {
		return r, false
	}
	if u.waiting == nil {
		u.waiting = map[string]*reupload{}
	}
	r = &reupload{done: make(chan struct{}), row: row}
	u.waiting[row.ID] = r
	return r, true
}

// end settles a request; the first settlement holds.
func (u *reuploads) end(id, path string, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if r, ok := u.waiting[id]; ok {
		r.path, r.err = path, err
		delete(u.waiting, id)
		close(r.done)
	}
}

// reuploaded is the phone's answer. The new place is stored before anybody is
// woken, so that nobody asks for it again.
func (m *Manager) reuploaded(e *events.MediaRetry) {
	m.reupload.mu.Lock()
	r := m.reupload.waiting[idOf(e.MessageID)]
	m.reupload.mu.Unlock()
	if r == nil {
		return
	}
	path, err := newPlace(e, r.row.Media.Ref.MediaKey)
	if err == nil {
		ctx, cancel := context.WithTimeout(m.background, saveTimeout)
		defer cancel()
		if err := m.store.Save(ctx, bridge.MediaMoved{Chat: r.row.Chat, ID: r.row.ID, DirectPath: path}); err != nil {
			m.log.Warn().Err(err).Str("msg_id", r.row.ID).Msg("new place of a file not stored")
		}
	}
	m.reupload.end(r.row.ID, path, err)
}

// newPlace reads where the phone has put the file.
func newPlace(e *events.MediaRetry, key []byte) (string, error) {
	notice, err := opened(func() (*waMmsRetry.MediaRetryNotification, error) {
		return whatsmeow.DecryptMediaRetryNotification(e, key)
	})
	if err != nil {
		return "", mediaGone(err)
	}
	if notice.GetResult() != waMmsRetry.MediaRetryNotification_SUCCESS || notice.GetDirectPath() == "" {
		return "", mediaGone(fmt.Errorf("the phone answered %s", notice.GetResult()))
	}
	return notice.GetDirectPath(), nil
}

// askPhone sends the request and waits for its end.
func (m *Manager) askPhone(l *link, row bridge.Message, r *reupload) {
	ctx, cancel := context.WithTimeout(m.background, reuploadWait)
	defer cancel()
	info := &types.MessageInfo{ID: row.ID, MessageSource: types.MessageSource{
		Chat: toWA(row.Chat), Sender: toWA(row.SenderJID), IsFromMe: row.FromMe, IsGroup: row.Chat.IsGroup()}}
	if err := l.cli.SendMediaRetryReceipt(ctx, info, row.Media.Ref.MediaKey); err != nil {
		m.reupload.end(row.ID, "", bridge.NotConnected("the phone could not be asked for the file: try again in a moment").Because(err))
		return
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		m.reupload.end(row.ID, "", mediaGone(errors.New("the phone did not answer")))
	}
}

func mediaGone(cause error) error {
	return bridge.Fail(bridge.CodeMediaGone, "the network no longer has the file, and the phone could not upload it again: it cannot be recovered").Because(cause)
}
