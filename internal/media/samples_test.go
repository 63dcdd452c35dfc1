package media

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"
)

// quarters returns a picture with red, green, blue and white quarters, so that every
// rotation shows.
func quarters(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{255, 255, 255, 255}
			switch {
			case x < w/2 && y < h/2:
				c = color.RGBA{255, 0, 0, 255}
			case y < h/2:
				c = color.RGBA{0, 255, 0, 255}
			case x < w/2:
				c = color.RGBA{0, 0, 255, 255}
			}
			m.SetRGBA(x, y, c)
		}
	}
	return m
}

func pngFile(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jpegFile(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gifFile(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := gif.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webpFile returns a WebP picture of one pixel.
func webpFile(t testing.TB) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// withExif adds an EXIF orientation to a JPEG file.
func withExif(file []byte, order binary.AppendByteOrder, orientation int) []byte {
	tiff := []byte("MM")
	if order.String() == "LittleEndian" {
		tiff = []byte("II")
	}
	tiff = order.AppendUint16(tiff, 42)
	tiff = order.AppendUint32(tiff, 8)
	tiff = order.AppendUint16(tiff, 2)
	for _, entry := range [][2]uint16{{0x010F, 7}, {0x0112, uint16(orientation)}} {
		tiff = order.AppendUint16(tiff, entry[0])
		tiff = order.AppendUint16(tiff, 3)
		tiff = order.AppendUint32(tiff, 1)
		tiff = order.AppendUint16(tiff, entry[1])
		tiff = order.AppendUint16(tiff, 0)
	}
	body := append([]byte("Exif\x00\x00"), tiff...)
	segment := binary.BigEndian.AppendUint16([]byte{0xFF, 0xE1}, uint16(len(body)+2))
	return bytes.Join([][]byte{file[:2], segment, body, file[2:]}, nil)
}

// box returns an MP4 box.
func box(name string, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8)), name...), body...)
}

func words(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

type track struct {
	handler       string
	width, height uint32
	turned        bool
}

// mp4File returns the head of an MP4 file, followed by some bytes.
func mp4File(brand string, millis uint32, tracks ...track) []byte {
	moov := [][]byte{box("mvhd", words(0, 0, 0, 1000, millis, 0x10000, 0x01000000, 0, 0), make([]byte, 36+24), words(9))}
	for i, tr := range tracks {
		matrix := words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
		if tr.turned {
			matrix = words(0, 0x10000, 0, 0xFFFF0000, 0, 0, 0, 0, 0x40000000)
		}
		moov = append(moov, box("trak",
			box("tkhd", words(3, 0, 0, uint32(i+1), 0, millis, 0, 0, 0, 0), matrix, words(tr.width<<16, tr.height<<16)),
			box("mdia", box("hdlr", words(0, 0), []byte(tr.handler), words(0, 0, 0), []byte("h\x00")))))
	}
	return bytes.Join([][]byte{box("ftyp", []byte(brand), words(0), []byte(brand)), box("moov", moov...), box("mdat", make([]byte, 500))}, nil)
}

// mp3File returns a number of frames of 128 kbit/s at 44.1 kHz.
func mp3File(frames int) []byte {
	frame := make([]byte, 417)
	copy(frame, []byte{0xFF, 0xFB, 0x90, 0x00})
	return bytes.Repeat(frame, frames)
}

// oggPage returns a page of whole packets, without a checksum.
func oggPage(granule int64, flags byte, packets ...[]byte) []byte {
	var lacing, body []byte
	for _, p := range packets {
		for n := len(p); ; n -= 255 {
			lacing = append(lacing, byte(min(n, 255)))
			if n < 255 {
				break
			}
		}
		body = append(body, p...)
	}
	page := append([]byte("OggS\x00"), flags)
	page = binary.LittleEndian.AppendUint64(page, uint64(granule))
	page = binary.LittleEndian.AppendUint32(page, 77)
	page = append(page, make([]byte, 8)...)
	page = append(page, byte(len(lacing)))
	return append(append(page, lacing...), body...)
}

// ofSerial gives the pages of a file another serial number.
func ofSerial(serial uint32, file []byte) []byte {
	for page := file; len(page) > 0; {
		binary.LittleEndian.PutUint32(page[14:], serial)
		size := 27 + int(page[26])
		for _, n := range page[27:size] {
			size += int(n)
		}
		page = page[size:]
	}
	return file
}

const opusPreskip = 312

// opusFile returns an Ogg file with a packet of 20 ms of each size.
func opusFile(sizes ...int) []byte {
	head := append([]byte("OpusHead\x01\x01"), byte(opusPreskip&0xFF), byte(opusPreskip>>8), 0x80, 0xBB, 0, 0, 0, 0, 0)
	file := append(oggPage(0, 2, head), oggPage(0, 0, append([]byte("OpusTags"), make([]byte, 600)...))...)
	at := int64(opusPreskip)
	for _, size := range sizes {
		packet := make([]byte, size)
		packet[0] = 9 << 3 // SILK wide band, 20 ms, one frame
		at += 960
		file = append(file, oggPage(at, 0, packet)...)
	}
	return file
}

func repeat(size, n int) []int {
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = size
	}
	return sizes
}

func vorbisFile(rate uint32, granule int64) []byte {
	head := append([]byte("\x01vorbis\x00\x00\x00\x00\x02"), binary.LittleEndian.AppendUint32(nil, rate)...)
	head = append(head, make([]byte, 14)...)
	return append(oggPage(0, 2, head), oggPage(granule, 4, make([]byte, 100))...)
}
