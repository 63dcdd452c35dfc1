package media

import (
	"cmp"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/media/mediatest"
)

func TestPrepare_VideoAndSound(t *testing.T) {
	w := newWeb(t)
	video := mediatest.MP4("isom", 12500, mediatest.Track{Handler: "soun"}, mediatest.Track{Handler: "vide", Width: 640, Height: 360, Turned: true})
	for name, c := range map[string]struct {
		body    []byte
		served  string
		req     Request
		want    bridge.File
		drawing bool
	}{
		"video":             {body: video, req: Request{Type: bridge.MediaVideo}, want: bridge.File{MimeType: "video/mp4", Width: 360, Height: 640, Seconds: 13}},
		"mp3":               {body: mediatest.MP3(200), served: "audio/mp3", req: Request{Type: bridge.MediaAudio}, want: bridge.File{MimeType: "audio/mpeg", Seconds: 5}},
		"m4a":               {body: mediatest.MP4("M4A ", 61000, mediatest.Track{Handler: "soun"}), served: "audio/x-m4a", req: Request{Type: bridge.MediaAudio}, want: bridge.File{MimeType: "audio/mp4", Seconds: 61}},
		"sound in mp4":      {body: mediatest.MP4("isom", 61000, mediatest.Track{Handler: "soun"}), served: "video/mp4", req: Request{Type: bridge.MediaAudio}, want: bridge.File{MimeType: "audio/mp4", Seconds: 61}},
		"opus":              {body: mediatest.Opus(mediatest.Repeat(60, 200)...), served: "application/ogg", req: Request{Type: bridge.MediaAudio}, want: bridge.File{MimeType: bridge.VoiceType, Seconds: 4}},
		"voice note":        {body: mediatest.Opus(mediatest.Repeat(60, 200)...), served: "audio/ogg", req: Request{Type: bridge.MediaAudio, PTT: true}, want: bridge.File{MimeType: bridge.VoiceType, Seconds: 4}, drawing: true},
		"voice note, named": {body: mediatest.Opus(mediatest.Repeat(60, 200)...), req: Request{Type: bridge.MediaAudio, PTT: true, MimeType: "audio/ogg"}, want: bridge.File{MimeType: bridge.VoiceType, Seconds: 4}, drawing: true},
		"unmarked mp3":      {body: append(make([]byte, 3000), mediatest.MP3(200)...), served: "audio/mpeg", req: Request{Type: bridge.MediaAudio}, want: bridge.File{MimeType: "audio/mpeg", Seconds: 5}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := w.prepare(served{body: c.body, contentType: cmp.Or(c.served, bridge.UnknownMIMEType)}, c.req)
			if err != nil {
				t.Fatal(err)
			}
			if f.MimeType != c.want.MimeType || f.Seconds != c.want.Seconds || f.Width != c.want.Width || f.Height != c.want.Height {
				t.Errorf("got %s, %d s, %d by %d; want %+v", f.MimeType, f.Seconds, f.Width, f.Height, c.want)
			}
			if drawn := len(f.Waveform) == 64; drawn != c.drawing {
				t.Errorf("waveform of %d values", len(f.Waveform))
			}
		})
	}
}

func TestPrepare_BytesThatContradictTheType(t *testing.T) {
	w := newWeb(t)
	picture := mediatest.JPEG(t, mediatest.Quarters(20, 20))
	video := mediatest.MP4("isom", 1000, mediatest.Track{Handler: "vide", Width: 8, Height: 8})
	for name, c := range map[string]struct {
		served served
		req    Request
	}{
		"text as image":           {served{body: []byte("hello, this is no picture")}, Request{Type: bridge.MediaImage}},
		"text called image":       {served{body: []byte("hello, this is no picture"), contentType: "image/jpeg"}, Request{Type: bridge.MediaImage}},
		"text said to be image":   {served{body: []byte("hello, this is no picture")}, Request{Type: bridge.MediaImage, MimeType: "image/jpeg"}},
		"noise called image":      {served{body: mediatest.RandomBytes(999), contentType: "image/jpeg"}, Request{Type: bridge.MediaImage}},
		"noise":                   {served{body: mediatest.RandomBytes(999)}, Request{Type: bridge.MediaVideo}},
		"noise called sound":      {served{body: mediatest.RandomBytes(999), contentType: "audio/mpeg"}, Request{Type: bridge.MediaAudio}},
		"json as video":           {served{body: []byte(`{"error":"no"}`), contentType: "video/mp4"}, Request{Type: bridge.MediaVideo}},
		"drawing as image":        {served{body: []byte(`<svg xmlns="http://www.w3.org/2000/svg"></svg>`), contentType: "image/svg+xml"}, Request{Type: bridge.MediaImage}},
		"picture as video":        {served{body: picture}, Request{Type: bridge.MediaVideo}},
		"video as image":          {served{body: video}, Request{Type: bridge.MediaImage}},
		"video as sound":          {served{body: video}, Request{Type: bridge.MediaAudio}},
		"sound as video":          {served{body: mediatest.MP4("isom", 1000, mediatest.Track{Handler: "soun"}), contentType: "video/mp4"}, Request{Type: bridge.MediaVideo}},
		"ogg sound as video":      {served{body: mediatest.Opus(9, 9)}, Request{Type: bridge.MediaVideo}},
		"mimetype of other type":  {served{body: picture}, Request{Type: bridge.MediaImage, MimeType: "video/mp4"}},
		"mp3 as voice note":       {served{body: mediatest.MP3(9), contentType: bridge.VoiceType}, Request{Type: bridge.MediaAudio, PTT: true, MimeType: bridge.VoiceType}},
		"vorbis as voice note":    {served{body: mediatest.Vorbis(44100, 44100)}, Request{Type: bridge.MediaAudio, PTT: true}},
		"m4a as voice note":       {served{body: mediatest.MP4("M4A ", 1000, mediatest.Track{Handler: "soun"})}, Request{Type: bridge.MediaAudio, PTT: true}},
		"film of quicktime":       {served{body: mediatest.MP4("qt  ", 2000, mediatest.Track{Handler: "vide", Width: 4, Height: 3})}, Request{Type: bridge.MediaVideo}},
		"film called quicktime":   {served{body: video}, Request{Type: bridge.MediaVideo, MimeType: "video/quicktime"}},
		"mp3 called wave":         {served{body: mediatest.MP3(9)}, Request{Type: bridge.MediaAudio, MimeType: "audio/wav"}},
		"mp3 called ogg":          {served{body: mediatest.MP3(9)}, Request{Type: bridge.MediaAudio, MimeType: "audio/ogg"}},
		"vorbis":                  {served{body: mediatest.Vorbis(44100, 441000)}, Request{Type: bridge.MediaAudio}},
		"vorbis called opus":      {served{body: mediatest.Vorbis(44100, 441000)}, Request{Type: bridge.MediaAudio, MimeType: bridge.VoiceType}},
		"transport stream":        {served{body: append([]byte{0x47, 0x40}, make([]byte, 374)...), contentType: "video/mp2t"}, Request{Type: bridge.MediaVideo}},
		"voice note called other": {served{body: mediatest.Opus(9, 9)}, Request{Type: bridge.MediaAudio, PTT: true, MimeType: "audio/mpeg"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.prepare(c.served, c.req)
			mediatest.WantCode(t, err, bridge.CodeUnsupportedMedia)
		})
	}
	_, err := w.prepare(served{body: picture}, Request{Type: bridge.MediaImage, MimeType: "jpeg; =", URL: w.url})
	mediatest.WantCode(t, err, bridge.CodeInvalid)
}

func TestPrepare_TypeOfTheBytes(t *testing.T) {
	w := newWeb(t)
	picture := mediatest.JPEG(t, mediatest.Quarters(4, 4))
	pdf := []byte("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	video := mediatest.MP4("isom", 1000, mediatest.Track{Handler: "vide", Width: 8, Height: 8})
	for name, c := range map[string]struct {
		given, served string
		body          []byte
		kind          bridge.MediaType
		want          string
	}{
		"given first":                   {"video/3gpp", "video/quicktime", video, bridge.MediaVideo, "video/3gpp"},
		"then told":                     {"", "video/3gpp", video, bridge.MediaVideo, "video/3gpp"},
		"told what computers refuse":    {"", "video/quicktime", video, bridge.MediaVideo, "video/mp4"},
		"told Ogg of another sound":     {"", "audio/ogg", mediatest.MP3(9), bridge.MediaAudio, "audio/mpeg"},
		"another name given":            {"audio/mp3", "", mediatest.MP3(9), bridge.MediaAudio, "audio/mpeg"},
		"Opus given without its coding": {"audio/ogg", "", mediatest.Opus(9, 9), bridge.MediaAudio, bridge.VoiceType},
		"Opus given without a space":    {"audio/ogg;codecs=opus", "", mediatest.Opus(9, 9), bridge.MediaAudio, bridge.VoiceType},
		"parameters of a sound given":   {"audio/mp4; codecs=mp4a.40.2", "", mediatest.MP3(9), bridge.MediaAudio, "audio/mp4"},
		"a drawing":                     {"", "", []byte(`<svg xmlns="http://www.w3.org/2000/svg"></svg>`), bridge.MediaDocument, bridge.UnknownMIMEType},
		"a drawing told":                {"", "image/svg+xml; charset=utf-8", []byte("<svg/>"), bridge.MediaDocument, bridge.UnknownMIMEType},
		"a drawing given":               {"image/SVG+xml; charset=utf-8", "", []byte("<svg/>"), bridge.MediaDocument, bridge.UnknownMIMEType},
		"told with parameters":          {"", "video/mp4; charset=binary", video, bridge.MediaVideo, "video/mp4"},
		"told otherwise":                {"", "video/x-m4v", video, bridge.MediaVideo, "video/mp4"},
		"told of another kind":          {"", "image/png", video, bridge.MediaVideo, "video/mp4"},
		"told nothing":                  {"", "", video, bridge.MediaVideo, "video/mp4"},
		"told nothing in particular":    {"", "application/octet-stream", video, bridge.MediaVideo, "video/mp4"},
		"told what servers do not know": {"", "text/plain; charset=utf-8", video, bridge.MediaVideo, "video/mp4"},
		"told nonsense":                 {"", ";;;", video, bridge.MediaVideo, "video/mp4"},
		"image given":                   {"image/png", "image/gif", picture, bridge.MediaImage, "image/jpeg"},
		"image told":                    {"", "image/webp", picture, bridge.MediaImage, "image/jpeg"},
		"image of the other kind":       {"image/webp", "image/webp", mediatest.PNG(t, mediatest.Quarters(4, 4)), bridge.MediaImage, "image/jpeg"},
		"document given":                {"application/x-special", "application/pdf", pdf, bridge.MediaDocument, "application/x-special"},
		"document told":                 {"", "application/x-told", pdf, bridge.MediaDocument, "application/x-told"},
		"document seen":                 {"", "application/octet-stream", pdf, bridge.MediaDocument, "application/pdf"},
		"document of noise":             {"", "", mediatest.RandomBytes(999), bridge.MediaDocument, bridge.UnknownMIMEType},
		"parameters given":              {"text/plain; charset=iso-8859-1", "", []byte("hello"), bridge.MediaDocument, "text/plain; charset=iso-8859-1"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := w.prepare(served{body: c.body, contentType: c.served}, Request{Type: c.kind, MimeType: c.given})
			if err != nil {
				t.Fatal(err)
			}
			if f.MimeType != c.want {
				t.Errorf("got %s, want %s", f.MimeType, c.want)
			}
		})
	}
}

func TestPrepare_NamesOfDocuments(t *testing.T) {
	w := newWeb(t)
	pdf, text, page := []byte("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []byte("a,b\n1,2\n3,4\n"), []byte("<!DOCTYPE html><html></html>")
	for name, c := range map[string]struct {
		given, path, disposition, served string
		body                             []byte
		want, mimeType                   string
	}{
		"given":                {given: "Q3.final", path: "/x.pdf", body: pdf, want: "Q3.final", mimeType: "application/pdf"},
		"text that looks CSV":  {path: "/recipe.txt", body: text, want: "recipe.txt", mimeType: "text/plain"},
		"a log":                {path: "/2026-11-28.log", body: text, want: "2026-11-28.log", mimeType: "text/plain"},
		"a track":              {path: "/tour.gpx", body: []byte(`<?xml version="1.0"?><gpx version="1.1"></gpx>`), want: "tour.gpx", mimeType: "application/gpx+xml"},
		"an unknown extension": {path: "/save.sav2", body: pdf, want: "save.sav2", mimeType: "application/pdf"},
		"named without":        {path: "/x", disposition: `attachment; filename="LICENSE"`, body: text, want: "LICENSE", mimeType: "text/csv"},
		"named like a script":  {path: "/x", disposition: `attachment; filename="index.php"`, body: pdf, want: "index.php", mimeType: "application/pdf"},
		"named by a browser":   {path: "/x", disposition: `attachment; filename="blob"`, body: pdf, want: "blob.pdf", mimeType: "application/pdf"},
		"from the answer":      {path: "/dl?id=1", disposition: `attachment; filename="Übersicht.pdf"; filename*=UTF-8''%C3%9Cbersicht.pdf`, body: pdf, want: "Übersicht.pdf", mimeType: "application/pdf"},
		"from the URL":         {path: "/a/report.pdf?token=1", body: pdf, want: "report.pdf", mimeType: "application/pdf"},
		"other extension":      {path: "/report.v2", body: pdf, want: "report.v2.pdf", mimeType: "application/pdf"},
		"no extension":         {path: "/report", body: pdf, want: "report.pdf", mimeType: "application/pdf"},
		"made by a script":     {path: "/download.php", body: pdf, want: "download.pdf", mimeType: "application/pdf"},
		"no name":              {path: "/", body: pdf, want: "document.pdf", mimeType: "application/pdf"},
		"no name, no type":     {path: "/", body: mediatest.RandomBytes(999), want: "document.bin", mimeType: bridge.UnknownMIMEType},
		"name, no type":        {path: "/firmware.img", body: mediatest.RandomBytes(999), want: "firmware.img", mimeType: bridge.UnknownMIMEType},
		"bare name, no type":   {path: "/firmware", body: mediatest.RandomBytes(999), want: "firmware", mimeType: bridge.UnknownMIMEType},
		"text by its name":     {path: "/table.csv", served: "text/plain", body: text, want: "table.csv", mimeType: "text/csv"},
		"a drawing":            {path: "/plan", body: []byte(`<svg xmlns="http://www.w3.org/2000/svg"></svg>`), want: "plan.svg", mimeType: bridge.UnknownMIMEType},
		"a drawing, given":     {given: "Plan.SVG", path: "/x", body: []byte(`<svg xmlns="http://www.w3.org/2000/svg"></svg>`), want: "Plan.SVG", mimeType: bridge.UnknownMIMEType},
		"upper case":           {path: "/REPORT.PDF", body: pdf, want: "REPORT.PDF", mimeType: "application/pdf"},
		"web page by name":     {path: "/page.html", served: "text/html", body: page, want: "page.html", mimeType: "text/html"},
		"markdown":             {path: "/notes.md", body: []byte("# Notes\n\nhello"), want: "notes.md", mimeType: "text/markdown"},
		"type without a table": {path: "/x", served: "application/yaml", body: []byte("a: b\n"), want: "x.yaml", mimeType: "application/yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := w.prepare(served{body: c.body, contentType: cmp.Or(c.served, bridge.UnknownMIMEType), disposition: c.disposition},
				Request{Type: bridge.MediaDocument, FileName: c.given, URL: w.url + c.path, Caption: "here"})
			if err != nil {
				t.Fatal(err)
			}
			if f.FileName != c.want || f.MimeType != c.mimeType {
				t.Errorf("got %q (%s), want %q (%s)", f.FileName, f.MimeType, c.want, c.mimeType)
			}
		})
	}
}

func TestPrepare_WebPageAsADocumentWhereMeant(t *testing.T) {
	w := newWeb(t)
	f, err := w.prepare(served{body: []byte("<!DOCTYPE html><html></html>"), contentType: "text/html"}, Request{Type: bridge.MediaDocument, MimeType: "text/html; charset=utf-8"})
	if err != nil || f.MimeType != "text/html; charset=utf-8" {
		t.Errorf("got %s: %v", f.MimeType, err)
	}
}
