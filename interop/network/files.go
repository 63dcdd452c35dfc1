package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image/jpeg"
	"image/png"
	"net/http"

	"bridged/internal/demo"
)

// serveFile serves a sample file of the requested kind.
func serveFile(w http.ResponseWriter, r *http.Request) {
	var content []byte
	var kind string
	switch r.PathValue("name") {
	case "picture.jpg":
		content, kind = picture(), "image/jpeg"
	case "picture.png":
		content, kind = demo.Picture(160, 100), "image/png"
	case "clip.mp4":
		content, kind = clip(), "video/mp4"
	case "voice.ogg":
		content, kind = demo.Voice(3), "audio/ogg; codecs=opus"
	case "page.pdf":
		content, kind = demo.PDF(), "application/pdf"
	case "sticker.webp":
		content, kind = sticker(), "image/webp"
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(content) // fails only if the caller is gone
}

// picture returns the demo's landscape as a JPEG.
func picture() []byte {
	landscape, err := png.Decode(bytes.NewReader(demo.Picture(160, 100)))
	if err != nil {
		panic(err) // it was encoded a moment ago
	}
	var out bytes.Buffer
	_ = jpeg.Encode(&out, landscape, nil) // writing to a bytes.Buffer cannot fail
	return out.Bytes()
}

// sticker returns a WebP of one pixel.
func sticker() []byte {
	out, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	if err != nil {
		panic(err) // the constant is valid
	}
	return out
}

// clip returns the head of an MP4 with two seconds of H.264, 160 by 100, and no
// frames.
func clip() []byte {
	const width, height, millis = 160, 100, 2000
	matrix := words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
	entry := binary.BigEndian.AppendUint16(make([]byte, 24), width)
	entry = append(binary.BigEndian.AppendUint16(entry, height), make([]byte, 50)...)
	description := box("stsd", words(0, 1), box("avc1", entry, box("avcC", []byte{1, 66, 0, 30, 0xFF, 0xE0, 0})))
	track := box("trak",
		box("tkhd", words(3, 0, 0, 1, 0, millis, 0, 0, 0, 0), matrix, words(width<<16, height<<16)),
		box("mdia", box("hdlr", words(0, 0), []byte("vide"), words(0, 0, 0), []byte{0}), box("minf", box("stbl", description))))
	header := box("mvhd", words(0, 0, 0, 1000, millis, 0x10000, 0x01000000, 0, 0), matrix, make([]byte, 24), words(2))
	return bytes.Join([][]byte{
		box("ftyp", []byte("isom"), words(0x200), []byte("isommp42")), box("moov", header, track), box("mdat", make([]byte, 64)),
	}, nil)
}

func box(name string, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), name...), body...)
}

func words(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}
