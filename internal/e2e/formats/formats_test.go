package formats

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/agent"
	"bridged/internal/longtest"
	"bridged/internal/simnet"
)

// aFormat is a file of a format that the API takes.
type aFormat struct {
	name   string
	kind   bridge.MediaType
	file   []byte
	isOpen bool // computers open it as it is, or as it is sent without ffmpeg
}

var openedAsTheyAre = map[string]bool{
	"sound.mp3": true, "sound.m4a": true, "sound.mp4": true, "sound.3gp": true, "sound.aac": true, "sound.amr": true, "opus.ogg": true, "fragmented.m4a": true,
	"video.mp4": true, "video.m4v": true, "video.3gp": true, "fragmented.mp4": true,
}

// formatsOf returns a file of every format, of the formats of package media and others.
func formatsOf(t *testing.T) []aFormat {
	t.Helper()
	const dir = "../../media/testdata/formats"
	formats := []aFormat{
		{"picture.png", bridge.MediaImage, demo.Picture(64, 40), true},
		{"photo.jpg", bridge.MediaImage, Photo(t, 64, 40), true},
		{"drawing.svg", bridge.MediaDocument, []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>`), true},
		{"Drawing.SVG", bridge.MediaDocument, []byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`), true},
		{"paper.pdf", bridge.MediaDocument, demo.PDF(), true},
	}
	for _, entry := range Must(os.ReadDir(dir))(t) {
		name := entry.Name()
		if name == "README.md" {
			continue
		}
		kind := bridge.MediaAudio
		for _, video := range []string{"video.", "silent", "clip.", "mjpeg.", "fragmented.mp4"} {
			if strings.HasPrefix(name, video) {
				kind = bridge.MediaVideo
			}
		}
		formats = append(formats, aFormat{name, kind, Must(os.ReadFile(filepath.Join(dir, name)))(t), openedAsTheyAre[name]})
	}
	return formats
}

// formatScene is a bridge with all ways to send a file.
type formatScene struct {
	CompatScene
	to      bridge.JID
	web     *Website
	agent   Agent
	visitor *Visitor
	csrf    string
}

func newFormatScene(t *testing.T, setting string) formatScene {
	t.Helper()
	s := formatScene{CompatScene: NewCompatScene(t, "COMPAT=waha,evolution,cloud", "MCP=send", "MCP_SENDS_PER_MINUTE=600", FetchesLoopback, setting), web: NewWebsite(t)}
	s.to = bridge.JID(s.Friend.PN().String())
	agents := s.Token(t, "agent", []bridge.JID{s.to}, bridge.ScopeRead, bridge.ScopeSend)
	s.agent = Must(Connect(s.CompatScene.Process, t, agents, nil))(t)
	s.visitor = NewVisitor(t, "http://"+s.Process.Address)
	if status, page := s.visitor.LogIn(TestToken); status != http.StatusOK {
		t.Fatalf("log in: %d %s", status, page)
	}
	_, page := s.visitor.Get(s.chatPage())
	s.csrf = CsrfField.FindStringSubmatch(page)[1]
	return s
}

// way sends a file. It returns the text of a refusal with its status, or an empty one.
type way struct {
	name string
	send func(s formatScene, t *testing.T, f aFormat) (refused string)
}

func answered(status int, body string) string {
	if status >= 200 && status < 300 {
		return ""
	}
	return http.StatusText(status) + ": " + body
}

func ofError(err error) string {
	if err == nil {
		return ""
	}
	return string(bridge.CodeOf(err)) + ": " + err.Error()
}

// posts sends JSON to a compatibility API.
func (s formatScene) posts(t *testing.T, path, body string) string {
	t.Helper()
	req := Must(http.NewRequestWithContext(Within(t), http.MethodPost, "http://"+s.Address+path, strings.NewReader(body)))(t)
	for name, value := range map[string]string{"X-Api-Key": s.Full, "apikey": s.Full, "Authorization": "Bearer " + s.Full, "Content-Type": "application/json"} {
		req.Header.Set(name, value)
	}
	resp := Must(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	var text bytes.Buffer
	Must(text.ReadFrom(resp.Body))(t)
	return answered(resp.StatusCode, text.String())
}

func (s formatScene) waha(t *testing.T, f aFormat, file string) string {
	t.Helper()
	route := map[bridge.MediaType]string{bridge.MediaImage: "sendImage", bridge.MediaVideo: "sendVideo", bridge.MediaAudio: "sendVoice", bridge.MediaDocument: "sendFile"}[f.kind]
	return s.posts(t, "/waha/api/"+route, `{"chatId":"15550100301@c.us","file":{"mimetype":"image/svg+xml","filename":"`+f.name+`",`+file+`}}`)
}

func (s formatScene) evolution(t *testing.T, f aFormat, file string) string {
	t.Helper()
	return s.posts(t, "/evolution/message/sendMedia/bridged", `{"number":"15550100301","mediatype":"`+string(f.kind)+`","fileName":"`+f.name+`","media":"`+file+`"}`)
}

func (s formatScene) cloud(t *testing.T, f aFormat, file string) string {
	t.Helper()
	kind := string(f.kind)
	return s.posts(t, "/cloud/v21.0/"+CloudAccount+"/messages", `{"to":"15550100301","type":"`+kind+`","`+kind+`":{`+file+`}}`)
}

func (s formatScene) url(f aFormat) string { return s.web.Has("/"+f.name, f.file) }

func (s formatScene) chatPage() string { return "/console/chats/" + string(s.to) }

// fromConsole sends a file as the page of a chat does.
func (s formatScene) fromConsole(t *testing.T, f aFormat) string {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	err := w.WriteField("csrf", s.csrf)
	part, partErr := w.CreateFormFile("file", f.name)
	if err := errors.Join(err, partErr); err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write(f.file); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	req := Must(http.NewRequest(http.MethodPost, "http://"+s.Address+s.chatPage()+"/file", &form))(t)
	req.Header.Set("Content-Type", w.FormDataContentType())
	req.Header.Set("Accept", "application/json")
	return answered(s.visitor.Open(req))
}

func (s formatScene) upload(t *testing.T, f aFormat, kind bridge.MediaType) string {
	t.Helper()
	_, err := s.API.SendFile(Within(t), client.Upload{To: s.to, FileName: f.name, Type: kind}, bytes.NewReader(f.file), "")
	return ofError(err)
}

var waysToSend = []way{
	{"send-media", func(s formatScene, t *testing.T, f aFormat) string {
		_, err := s.API.Send(Within(t), client.File{To: s.to, URL: s.url(f), Type: f.kind}, "")
		return ofError(err)
	}},
	{"send-file", func(s formatScene, t *testing.T, f aFormat) string { return s.upload(t, f, f.kind) }},
	{"send-file without a type", func(s formatScene, t *testing.T, f aFormat) string { return s.upload(t, f, "") }},
	{"WAHA, by URL", func(s formatScene, t *testing.T, f aFormat) string { return s.waha(t, f, `"url":"`+s.url(f)+`"`) }},
	{"WAHA, in base64", func(s formatScene, t *testing.T, f aFormat) string {
		return s.waha(t, f, `"data":"`+InBase64(f.file)+`"`)
	}},
	{"Evolution, by URL", func(s formatScene, t *testing.T, f aFormat) string { return s.evolution(t, f, s.url(f)) }},
	{"Evolution, in base64", func(s formatScene, t *testing.T, f aFormat) string { return s.evolution(t, f, InBase64(f.file)) }},
	{"Cloud, by link", func(s formatScene, t *testing.T, f aFormat) string { return s.cloud(t, f, `"link":"`+s.url(f)+`"`) }},
	{"Cloud, uploaded", func(s formatScene, t *testing.T, f aFormat) string {
		return s.cloud(t, f, `"id":"`+s.UploadTo(t, f.name, f.file)+`"`)
	}},
	{"MCP", func(s formatScene, t *testing.T, f aFormat) string {
		name := ""
		if f.kind == bridge.MediaDocument {
			name = f.name
		}
		text, isError := s.agent.Call("send_file", map[string]any{"jid": s.to, "type": f.kind, "data": InBase64(f.file), "fileName": name})
		if !isError {
			text = ""
		}
		return text
	}},
	{"console", func(s formatScene, t *testing.T, f aFormat) string { return s.fromConsole(t, f) }},
}

// Every format, by every way to send: what arrives is opened by WhatsApp Web, as the kind of file that it is, or the caller
// is refused with a remedy. Each format goes one way, and each way sends some; in the long form each way sends each format
// without ffmpeg, and all formats are converted.
func TestFormats_ComputersOpenWhatArrives(t *testing.T) {
	t.Parallel()
	for setting, converts := range map[string]bool{"FFMPEG=off": false, "with ffmpeg": true} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			if converts {
				setting = WithFFmpeg(t)
			}
			s := newFormatScene(t, setting)
			formats := formatsOf(t)
			if converts && !longtest.Enabled() { // the tests of package media convert all of them
				formats = slices.DeleteFunc(formats, func(f aFormat) bool { return f.isOpen })[:len(waysToSend)]
			}
			for i, f := range formats {
				ways := waysToSend
				if converts || !longtest.Enabled() {
					ways = waysToSend[i%len(waysToSend):][:1]
				}
				for _, way := range ways {
					s.arrives(t, way, f, converts || f.isOpen)
				}
			}
			s.LeavesNoFile()
		})
	}
}

// Names of documents whose bytes look like another format arrive as they were given, whichever way the document is sent.
func TestDocuments_GivenNamesArrive(t *testing.T) {
	t.Parallel()
	s := newFormatScene(t, "FFMPEG=off")
	table := []byte("flour,200\nsugar,100\nbutter,50\n")
	ways := append(slices.Clone(waysToSend), shellAsDocument,
		way{"send-media, by Content-Disposition", func(s formatScene, t *testing.T, f aFormat) string {
			url := s.web.Serves("/download/"+f.name, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Disposition", `attachment; filename="`+f.name+`"`)
				if _, err := w.Write(f.file); err != nil {
					t.Error(err)
				}
			})
			_, err := s.API.Send(Within(t), client.File{To: s.to, URL: url, Type: f.kind}, "")
			return ofError(err)
		}},
		way{"send-media, with a name", func(s formatScene, t *testing.T, f aFormat) string {
			_, err := s.API.Send(Within(t), client.File{To: s.to, URL: s.web.Has("/other.csv", f.file), Type: f.kind, FileName: f.name}, "")
			return ofError(err)
		}},
		way{"Cloud, by link with a name, as Chatwoot", func(s formatScene, t *testing.T, f aFormat) string {
			return s.cloud(t, f, `"filename":"`+f.name+`","link":"`+s.web.Has("/other.csv", f.file)+`"`)
		}},
		way{"MCP, by URL", func(s formatScene, t *testing.T, f aFormat) string {
			text, isError := s.agent.Call("send_file", map[string]any{"jid": s.to, "type": f.kind, "url": s.url(f)})
			if !isError {
				text = ""
			}
			return text
		}},
	)
	for _, f := range []aFormat{
		{"recipe.txt", bridge.MediaDocument, table, true},
		{"today.log", bridge.MediaDocument, table, true},
		{"tour.gpx", bridge.MediaDocument, []byte(`<?xml version="1.0"?><gpx version="1.1"></gpx>`), true},
		{"budget.xlsm", bridge.MediaDocument, workbook(t), true},
		{"paper.final", bridge.MediaDocument, demo.PDF(), true},
	} {
		for _, way := range ways {
			s.arrives(t, way, f, true)
		}
	}
}

// workbook returns the bytes of a spreadsheet.
func workbook(t *testing.T) []byte {
	t.Helper()
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	for _, name := range []string{"[Content_Types].xml", "_rels/.rels", "xl/workbook.xml"} {
		part := Must(w.Create(name))(t)
		Must(io.WriteString(part, `<?xml version="1.0"?><x/>`))(t)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// arrives sends a file, and opens at the computer what arrives.
func (s formatScene) arrives(t *testing.T, way way, f aFormat, isOpened bool) {
	t.Helper()
	s.Friend.Forget()
	refused := way.send(s, t, f)
	if !isOpened {
		if !strings.Contains(refused, "send it as a document, or install ffmpeg") {
			t.Errorf("%s by %s: refused with %q", f.name, way.name, refused)
		}
		if left := s.Friend.Messages(); len(left) > 0 {
			t.Errorf("%s by %s arrived although it was refused", f.name, way.name)
		}
		return
	}
	if refused != "" {
		t.Errorf("%s by %s: %s", f.name, way.name, refused)
		return
	}
	got := Must(s.Friend.Received(Within(t), func(*simnet.Received) bool { return true }))(t)
	data, err := s.Friend.Computer().Open(Within(t), got)
	if err != nil {
		t.Errorf("%s by %s: %v", f.name, way.name, err)
	}
	m := got.Message.Message
	document := m.GetDocumentMessage()
	for kind, is := range map[bridge.MediaType]bool{
		bridge.MediaImage: m.ImageMessage != nil, bridge.MediaVideo: m.VideoMessage != nil, bridge.MediaAudio: m.AudioMessage != nil, bridge.MediaDocument: document != nil,
	} {
		if is != (kind == f.kind) {
			t.Errorf("%s by %s arrived as %v", f.name, way.name, m)
		}
	}
	if document != nil && (!bytes.Equal(data, f.file) || document.GetFileName() != f.name) {
		t.Errorf("%s by %s arrived as %s, %d bytes", f.name, way.name, document.GetFileName(), len(data))
	}
}

// The shell sends as the API does, and as a document where it is asked for that.
func TestFormats_FromTheShell(t *testing.T) {
	t.Parallel()
	s := newFormatScene(t, "FFMPEG=off")
	formats := slices.DeleteFunc(formatsOf(t), func(f aFormat) bool {
		return !slices.Contains([]string{"sound.mp3", "drawing.svg", "video.mov", "sound.wav", "clip.webm"}, f.name)
	})
	for _, f := range formats {
		s.arrives(t, fromShell, f, f.isOpen)
		s.arrives(t, shellAsDocument, aFormat{f.name, bridge.MediaDocument, f.file, true}, true)
	}
}

// shell sends a file with the command.
func (s formatScene) shell(t *testing.T, f aFormat, options ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), f.name)
	if err := os.WriteFile(path, f.file, 0o600); err != nil {
		t.Fatal(err)
	}
	c := s.Begin(nil, append([]string{"send", s.to.User(), "--file", path}, options...)...)
	var lines []string
	for line := range c.Lines {
		lines = append(lines, line)
	}
	if c.Ends() == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + c.Stderr.String()
}

var (
	fromShell       = way{"shell", func(s formatScene, t *testing.T, f aFormat) string { return s.shell(t, f) }}
	shellAsDocument = way{"shell, as a document", func(s formatScene, t *testing.T, f aFormat) string { return s.shell(t, f, "--document") }}
)

// A forwarded file is declared as computers compare it, or refused with a remedy.
func TestFormats_Forwarded(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	opus := demo.Voice(1)
	jpeg, movie := Photo(t, 8, 8), Film()
	send := map[bridge.MediaType]func(simnet.Media) (simnet.MessageID, error){
		bridge.MediaImage: func(m simnet.Media) (simnet.MessageID, error) { return c.Anna.SendImage(Within(t), c.Owner.PN(), m) },
		bridge.MediaVideo: func(m simnet.Media) (simnet.MessageID, error) { return c.Anna.SendVideo(Within(t), c.Owner.PN(), m) },
		bridge.MediaAudio: func(m simnet.Media) (simnet.MessageID, error) { return c.Anna.SendAudio(Within(t), c.Owner.PN(), m) },
		bridge.MediaSticker: func(m simnet.Media) (simnet.MessageID, error) {
			return c.Anna.SendSticker(Within(t), c.Owner.PN(), m)
		},
		bridge.MediaDocument: func(m simnet.Media) (simnet.MessageID, error) {
			return c.Anna.SendDocument(Within(t), c.Owner.PN(), m)
		},
	}
	for _, f := range []struct {
		kind  bridge.MediaType
		media simnet.Media
		want  string // the declared type; empty if it is refused
	}{
		{bridge.MediaImage, simnet.Media{Data: jpeg, Mimetype: "image/JPG"}, "image/jpeg"},
		{bridge.MediaImage, simnet.Media{Data: []byte("GIF89a"), Mimetype: "image/gif"}, ""},
		{bridge.MediaVideo, simnet.Media{Data: movie, Mimetype: "video/x-m4v"}, "video/mp4"},
		{bridge.MediaVideo, simnet.Media{Data: movie, Mimetype: "video/mp4; codecs=avc1", GIF: true}, "video/mp4"},
		{bridge.MediaVideo, simnet.Media{Data: movie, Mimetype: "video/quicktime"}, ""},
		{bridge.MediaAudio, simnet.Media{Data: opus, Mimetype: "audio/ogg", Voice: true}, "audio/ogg; codecs=opus"},
		{bridge.MediaAudio, simnet.Media{Data: opus, Mimetype: "audio/ogg;codecs=opus"}, "audio/ogg; codecs=opus"},
		{bridge.MediaAudio, simnet.Media{Data: Song(), Mimetype: "audio/mp3"}, "audio/mpeg"},
		{bridge.MediaAudio, simnet.Media{Data: Tone(1), Mimetype: "audio/x-wav"}, ""},
		{bridge.MediaSticker, simnet.Media{Data: jpeg, Mimetype: "image/png"}, ""},
		{bridge.MediaDocument, simnet.Media{Data: []byte("<svg/>"), Mimetype: "image/SVG+xml; charset=utf-8", FileName: "a.svg", Caption: "the plan"}, "application/octet-stream"},
		{bridge.MediaDocument, simnet.Media{Data: Tone(1), Mimetype: "audio/wav", FileName: "a.wav"}, "audio/wav"},
	} {
		id := Must(send[f.kind](f.media))(t)
		c.Stored(t, id)
		c.Ben.Forget()
		answer := c.Bridge.Post("/api/messages/forward", Object{"sourceChatJid": c.Anna.PN().String(), "sourceMsgId": id, "destJid": c.Ben.PN().String()})
		if f.want == "" {
			Refused(t, answer, http.StatusBadRequest, bridge.CodeUnsupportedMedia, "send it as a document", "ffmpeg")
			continue
		}
		sent := SentID(t, answer)
		got := Must(c.Ben.ReceivedID(Within(t), sent))(t)
		if data, err := c.Ben.Computer().Open(Within(t), got); err != nil || !bytes.Equal(data, f.media.Data) {
			t.Errorf("%s %s: %d bytes, %v", f.kind, f.media.Mimetype, len(data), err)
		}
		if m := Must(c.Bridge.API.Message(Within(t), bridge.JID(c.Ben.PN().String()), sent))(t); m.Media == nil || m.Media.MimeType != f.want {
			t.Errorf("%s %s is stored as %+v, want %s", f.kind, f.media.Mimetype, m.Media, f.want)
		}
	}
}
