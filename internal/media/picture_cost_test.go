package media

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"bridged/internal/bridge"
)

// jpegOf returns a JPEG of grey whose blocks take a bit or two each (ITU T.81): as
// large a picture as so few bytes can be. Four components are CMYK; transform is
// Adobe's mark, 0 for components that are colours as they are.
func jpegOf(width, height, components int, progressive bool, transform byte) []byte {
	segment := func(marker byte, body ...byte) []byte {
		return append([]byte{0xFF, marker, byte((len(body) + 2) >> 8), byte(len(body) + 2)}, body...)
	}
	frame := byte(0xC0)
	lastCoefficient := byte(63)
	if progressive {
		frame, lastCoefficient = 0xC2, 0
	}
	sof := []byte{8, byte(height >> 8), byte(height), byte(width >> 8), byte(width), byte(components)}
	sos := []byte{byte(components)}
	for c := range components {
		sof = append(sof, byte(c+1), 0x11, 0)
		sos = append(sos, byte(c+1), 0)
	}
	oneCode := append([]byte{1}, make([]byte, 16)...) // "0" stands for 0
	file := bytes.Join([][]byte{
		{0xFF, 0xD8},
		segment(0xEE, append([]byte("Adobe\x00\x64\x00\x00\x00\x00"), transform)...),
		segment(0xDB, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...),
		segment(frame, sof...),
		segment(0xC4, append([]byte{0x00}, oneCode...)...),
		segment(0xC4, append([]byte{0x10}, oneCode...)...),
		segment(0xDA, append(sos, 0, lastCoefficient, 0)...),
	}, nil)
	blocks := ((width + 7) / 8) * ((height + 7) / 8) * components
	bits := 2
	if progressive {
		bits = 1
	}
	return append(append(file, make([]byte, blocks*bits/8+64)...), 0xFF, 0xD9)
}

// pngOf returns an empty PNG, interlaced or not.
func pngOf(t *testing.T, width, height int, depth, colorType byte, transparent []byte, interlaced bool) []byte {
	t.Helper()
	channels := map[byte]int{0: 1, 2: 3, 6: 4}[colorType]
	rows := func(w, h int) int {
		if w == 0 || h == 0 {
			return 0
		}
		return h * (1 + (w*channels*int(depth)+7)/8)
	}
	pixels := rows(width, height)
	if interlaced {
		pixels = 0
		for _, pass := range [][4]int{{8, 8, 0, 0}, {8, 8, 4, 0}, {4, 8, 0, 4}, {4, 4, 2, 0}, {2, 4, 0, 2}, {2, 2, 1, 0}, {1, 2, 0, 1}} {
			pixels += rows((width-pass[2]+pass[0]-1)/pass[0], (height-pass[3]+pass[1]-1)/pass[1])
		}
	}
	var data bytes.Buffer
	deflated := zlib.NewWriter(&data)
	if _, err := deflated.Write(make([]byte, pixels)); err != nil {
		t.Fatal(err)
	}
	if err := deflated.Close(); err != nil {
		t.Fatal(err)
	}
	chunk := func(name string, body []byte) []byte {
		out := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), append([]byte(name), body...)...)
		return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(width)), uint32(height))
	method := byte(0)
	if interlaced {
		method = 1
	}
	file := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(head, depth, colorType, 0, 0, method))...)
	if transparent != nil {
		file = append(file, chunk("tRNS", transparent)...)
	}
	return append(append(file, chunk("IDAT", data.Bytes())...), chunk("IEND", nil)...)
}

// gifOf returns a GIF whose picture is interlaced.
func gifOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := gif.Encode(&out, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.White}), nil); err != nil {
		t.Fatal(err)
	}
	file := out.Bytes()
	at := bytes.IndexByte(file[13:], 0x2C) + 13 // the image descriptor
	file[at+9] |= 0x40
	return file
}

// allocated returns how many bytes f allocates. Nothing else runs meanwhile.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// What a picture is taken to cost covers what its decoder allocates, and is not far
// above.
func TestPictureCost_CoversTheDecoders(t *testing.T) {
	const side = 1000
	const slack = 1 << 20
	files := map[string][]byte{
		"png":                       pngOf(t, side, side, 8, 6, nil, false),
		"png, interlaced":           pngOf(t, side, side, 8, 6, nil, true),
		"png of 16 bits":            pngOf(t, side, side, 16, 6, nil, false),
		"png of 16 bits, interl.":   pngOf(t, side, side, 16, 6, nil, true),
		"png, grey of 16 bits":      pngOf(t, side, side, 16, 0, []byte{0, 1}, false),
		"png, grey, interlaced":     pngOf(t, side, side, 16, 0, []byte{0, 1}, true),
		"png of one transparency":   pngOf(t, side, side, 8, 2, make([]byte, 6), true),
		"gif, interlaced":           gifOf(t, side, side),
		"webp, lossless":            webpOf(t, noise(800)),
		"jpeg, tall":                jpegOf(1, 60_000, 3, true, 1),
		"jpeg with unknown markers": append([]byte{0xFF, 0xD8, 0xFF, 0xD0}, jpegOf(side, side, 3, true, 1)[2:]...),
	}
	for _, progressive := range []bool{false, true} {
		for _, components := range []int{1, 3, 4} {
			for _, transform := range []byte{0, 1, 2} {
				files[fmt.Sprintf("jpeg of %d components, transform %d, progressive %t", components, transform, progressive)] = jpegOf(side, side, components, progressive, transform)
			}
		}
	}
	for name, file := range files {
		head, err := readPictureHead(bytes.NewReader(file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		took := float64(allocated(func() { _, _, err = image.Decode(bytes.NewReader(file)) }))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if cost := head.cost(); took > cost+slack || took < cost/10-slack {
			t.Errorf("%s of %d KB: decoding takes %.1f MB, and the cost is %.1f MB", name, len(file)>>10, took/(1<<20), cost/(1<<20))
		}
	}
}

// A progressive JPEG of 563 KB would take 550 MB as a sticker; see
// [TestPictureCost_CoversTheDecoders] for the others.
func TestPictureCost_ExpensiveOnesAreRefusedBeforeTheyAreDecoded(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		kind bridge.MediaType
	}{
		"a progressive JPEG as a sticker":  {jpegOf(6_000, 6_000, 3, true, 1), bridge.MediaSticker},
		"behind markers that are no heads": {append([]byte{0xFF, 0xD8, 0xFF, 0xD0}, jpegOf(6_000, 6_000, 3, true, 1)[2:]...), bridge.MediaSticker},
		"an interlaced PNG as a sticker":   {pngOf(t, 5_500, 5_500, 8, 6, nil, true), bridge.MediaSticker},
	} {
		t.Run(name, func(t *testing.T) {
			p := newStickers(t)
			received, err := p.Receive(t.Context(), Incoming{From: bytes.NewReader(c.file), Announced: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer received.Close()
			var refused *bridge.Error
			took := allocated(func() {
				_, err = p.PrepareReceived(t.Context(), Request{Type: c.kind}, received, "x", "")
			})
			if !errors.As(err, &refused) || refused.Code != bridge.CodeUnsupportedMedia || took > 8<<20 {
				t.Errorf("%d KB took %d MB, and answered %v", len(c.file)>>10, took>>20, err)
			}
		})
	}
}

// slow is a file of which each piece takes long.
type slow struct{ io.Reader }

func (s slow) Read(p []byte) (int, error) {
	time.Sleep(maxDecoding / 3)
	return s.Reader.Read(p)
}

// A picture that takes too long ends.
func TestPictureCost_SlowOnesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := jpegOf(3_000, 3_000, 3, true, 1)
		began := time.Now()
		if _, err := decodeInTime(slow{bytes.NewReader(file)}, maxDecoding); !errors.Is(err, errSlow) || time.Since(began) > 2*maxDecoding {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}
