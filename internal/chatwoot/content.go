package chatwoot

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"os"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat/cloud"
)

// content returns the text of a message in Chatwoot. A note begins with author and time, because Chatwoot shows
// its own user as the author and stamps each message with the time at which it is created.
func (t *thread) content(m bridge.Message) string {
	text := t.Text(m)
	switch {
	case t.private:
		text = cloud.HistoryMark + "**" + t.author(m) + "** · " + m.Timestamp.In(t.Zone).Format("2006-01-02 15:04 -07:00") + "\n\n" + text
	case t.chat.IsGroup && !m.FromMe:
		return t.author(m) + ": " + text
	case !m.FromMe:
		return text
	}
	return literal(text)
}

// author returns the name of a message's author on one line.
func (t *thread) author(m bridge.Message) string {
	name := nameOf(t.chat)
	switch {
	case m.FromMe:
		name = "+" + t.Own.User()
	case t.chat.IsGroup:
		name = cmp.Or(m.PushName, "+"+m.SenderJID.User())
	}
	return strings.Join(strings.Fields(name), " ")
}

// literal separates characters that Chatwoot would evaluate in outgoing messages and notes: tags of templates, into
// which it also wraps code between backquotes, and the address that notifies an agent who is mentioned in a note.
func literal(text string) string {
	text = strings.ReplaceAll(text, "mention://", "mention:\u200b//")
	var b strings.Builder
	for i := range len(text) {
		b.WriteByte(text[i])
		if text[i] == '{' && i+1 < len(text) && strings.IndexByte("{%`", text[i+1]) >= 0 {
			b.WriteString("\u200b")
		}
	}
	return b.String()
}

// tempFile is a downloaded file that is removed when it is closed.
type tempFile struct {
	*formFile
	file *os.File
}

func (f *tempFile) close() {
	_ = f.file.Close()           // it was only read
	_ = os.Remove(f.file.Name()) // most often it is removed already
}

// download downloads the file of a message. It returns nil if the file is too large or can never be had.
func (t *thread) download(ctx context.Context, m bridge.Message) (*tempFile, error) {
	if m.Media.Size > t.MaxFile {
		t.result.FilesLeft++
		return nil, nil
	}
	file, err := t.save(ctx, m)
	switch bridge.CodeOf(err) {
	case bridge.CodeMediaGone, bridge.CodeMediaInvalid, bridge.CodeMediaTooLarge, bridge.CodeNotFound:
		t.result.FilesLeft++
		return nil, nil
	}
	return file, err
}

var errLarge = bridge.Fail(bridge.CodeMediaTooLarge, "the file is larger than the message says")

func (t *thread) save(ctx context.Context, m bridge.Message) (_ *tempFile, err error) {
	content, _, err := t.Bridge.Download(ctx, t.chat.JID, m.ID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	file, err := os.CreateTemp("", "bridged-chatwoot-*")
	if err != nil {
		return nil, err
	}
	temp := &tempFile{file: file}
	_ = os.Remove(file.Name()) // so that a kill leaves nothing; some systems only remove closed files
	size, err := io.Copy(file, io.LimitReader(content, t.MaxFile+1))
	if err == nil && size > t.MaxFile {
		err = errLarge
	}
	if err != nil {
		temp.close()
		return nil, err
	}
	temp.formFile = fromDisk(file, size, fileName(m), m.Media.MimeType)
	return temp, nil
}

// fileName returns the file's own name, or one with the extension of its type.
func fileName(m bridge.Message) string {
	if name := bridge.PlainFileName(m.Media.FileName); name != "" {
		return name
	}
	kind, _, _ := mime.ParseMediaType(m.Media.MimeType)
	extension := map[string]string{"image/jpeg": ".jpg", "audio/ogg": ".ogg", "video/mp4": ".mp4", "image/webp": ".webp"}[kind]
	if extension == "" {
		if all, err := mime.ExtensionsByType(kind); err == nil && len(all) > 0 {
			extension = all[0]
		}
	}
	return string(m.Media.Type) + extension
}
