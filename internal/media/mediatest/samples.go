package mediatest

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"testing"

	"github.com/HugoSmits86/nativewebp"
)

// Quarters returns a picture with red, green, blue and white quarters, so that every
// rotation shows.
func Quarters(w, h int) *image.RGBA {
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

func PNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func JPEG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func GIF(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := gif.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webpFile returns a WebP picture of one pixel.
func WebPPixel(t testing.TB) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// WithExif adds an EXIF orientation to a JPEG file.
func WithExif(file []byte, order binary.AppendByteOrder, orientation int) []byte {
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

// Box returns an MP4 box.
func Box(name string, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8)), name...), body...)
}

func Words(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

type Track struct {
	Handler       string
	Width, Height uint32
	Turned        bool
}

// mp4File returns the head of an MP4 file, followed by some bytes.
func MP4(brand string, millis uint32, tracks ...Track) []byte {
	moov := [][]byte{Box("mvhd", Words(0, 0, 0, 1000, millis, 0x10000, 0x01000000, 0, 0), make([]byte, 36+24), Words(9))}
	for i, tr := range tracks {
		matrix := Words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
		if tr.Turned {
			matrix = Words(0, 0x10000, 0, 0xFFFF0000, 0, 0, 0, 0, 0x40000000)
		}
		moov = append(moov, Box("trak",
			Box("tkhd", Words(3, 0, 0, uint32(i+1), 0, millis, 0, 0, 0, 0), matrix, Words(tr.Width<<16, tr.Height<<16)),
			Box("mdia", Box("hdlr", Words(0, 0), []byte(tr.Handler), Words(0, 0, 0), []byte("h\x00")))))
	}
	return bytes.Join([][]byte{Box("ftyp", []byte(brand), Words(0), []byte(brand)), Box("moov", moov...), Box("mdat", make([]byte, 500))}, nil)
}

// mp3File returns a number of frames of 128 kbit/s at 44.1 kHz.
func MP3(frames int) []byte {
	frame := make([]byte, 417)
	copy(frame, []byte{0xFF, 0xFB, 0x90, 0x00})
	return bytes.Repeat(frame, frames)
}

// OggPage returns a page of whole packets, without a checksum.
func OggPage(granule int64, flags byte, packets ...[]byte) []byte {
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

// OfSerial gives the pages of a file another serial number.
func OfSerial(serial uint32, file []byte) []byte {
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
func Opus(sizes ...int) []byte {
	head := append([]byte("OpusHead\x01\x01"), byte(opusPreskip&0xFF), byte(opusPreskip>>8), 0x80, 0xBB, 0, 0, 0, 0, 0)
	file := append(OggPage(0, 2, head), OggPage(0, 0, append([]byte("OpusTags"), make([]byte, 600)...))...)
	at := int64(opusPreskip)
	for _, size := range sizes {
		packet := make([]byte, size)
		packet[0] = 9 << 3 // SILK wide band, 20 ms, one frame
		at += 960
		file = append(file, OggPage(at, 0, packet)...)
	}
	return file
}

func Repeat(size, n int) []int {
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = size
	}
	return sizes
}

func Vorbis(rate uint32, granule int64) []byte {
	head := append([]byte("\x01vorbis\x00\x00\x00\x00\x02"), binary.LittleEndian.AppendUint32(nil, rate)...)
	head = append(head, make([]byte, 14)...)
	return append(OggPage(0, 2, head), OggPage(granule, 4, make([]byte, 100))...)
}

// jpegOf returns a JPEG of grey whose blocks take a bit or two each (ITU T.81): as
// large a picture as so few bytes can be. Four components are CMYK; transform is
// Adobe's mark, 0 for components that are colours as they are.
func GreyJPEG(width, height, components int, progressive bool, transform byte) []byte {
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
func EmptyPNG(t *testing.T, width, height int, depth, colorType byte, transparent []byte, interlaced bool) []byte {
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

// Noise returns a picture that cannot be compressed.
func Noise(side int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = uint8(random.UintN(256))
	}
	return img
}

func WebP(t testing.TB, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := nativewebp.Encode(&out, img, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Bomb returns the head of a PNG picture of that size, without the picture.
func Bomb(w, h uint32) []byte {
	chunk := append([]byte("IHDR"), Words(w, h)...)
	chunk = append(chunk, 8, 6, 0, 0, 0)
	file := append([]byte("\x89PNG\r\n\x1a\n"), Words(13)...)
	file = append(file, chunk...)
	return append(file, Words(crc32.ChecksumIEEE(chunk))...)
}
