package demo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
)

// Picture returns a PNG of a landscape with sky, hills and a path.
func Picture(width, height int) []byte {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.Set(x, y, landscape(x, y, width, height))
		}
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img) // writing to a bytes.Buffer cannot fail
	return b.Bytes()
}

func landscape(x, y, width, height int) color.Color {
	hill := height/2 + (x-width/2)*(x-width/2)/(width*2) - (x%40)/8
	switch {
	case y < hill:
		return color.RGBA{R: uint8(120 + y/4), G: uint8(170 + y/5), B: 235, A: 255}
	case (x-width/2)*3 < (y-hill) && (width/2-x)*3 < (y-hill):
		return color.RGBA{R: 196, G: 170, B: 120, A: 255}
	}
	return color.RGBA{R: 60, G: uint8(150 - (y-hill)/3), B: 70, A: 255}
}

// Portrait returns a PNG of a head and shoulders before a background.
func Portrait(size int, background color.RGBA) []byte {
	img := image.NewRGBA(image.Rect(0, 0, size, size))
	within := func(x, y, middleX, middleY, radius float64) bool {
		dx, dy := x-middleX, y-middleY
		return dx*dx+dy*dy < radius*radius
	}
	for y := range size {
		for x := range size {
			across, down := float64(x)/float64(size), float64(y)/float64(size)
			shade := background
			switch {
			case within(across, down, .5, .4, .17):
				shade = color.RGBA{R: 236, G: 200, B: 170, A: 255}
			case within(across, down, .5, .36, .21) && down < .42:
				shade = color.RGBA{R: 62, G: 44, B: 38, A: 255}
			case within(across, down, .5, 1, .36):
				shade = color.RGBA{R: background.R / 2, G: background.G / 2, B: background.B / 2, A: 255}
			}
			img.SetRGBA(x, y, shade)
		}
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img) // writing to a bytes.Buffer cannot fail
	return b.Bytes()
}

// Voice returns a silent Ogg Opus file (RFC 7845): 50 packets of 20 ms per second, on one page.
func Voice(seconds int) []byte {
	var b bytes.Buffer
	head := append([]byte("OpusHead"), 1, 1, 0, 0, 0x80, 0xBB, 0, 0, 0, 0, 0)
	oggPage(&b, 2, 0, 0, head)
	tags := append([]byte("OpusTags"), 4, 0, 0, 0, 'd', 'e', 'm', 'o', 0, 0, 0, 0)
	oggPage(&b, 0, 0, 1, tags)
	for second := range seconds {
		packets := make([][]byte, 50)
		for i := range packets {
			packets[i] = []byte{0xF8, 0xFF, 0xFE} // a packet of silence
		}
		kind := byte(0)
		if second == seconds-1 {
			kind = 4
		}
		oggPage(&b, kind, uint64(second+1)*48000, uint32(second+2), packets...)
	}
	return b.Bytes()
}

// oggPage writes a page of short packets (RFC 3533, section 6).
func oggPage(b *bytes.Buffer, kind byte, granule uint64, sequence uint32, packets ...[]byte) {
	page := append([]byte("OggS\x00"), kind)
	page = binary.LittleEndian.AppendUint64(page, granule)
	page = binary.LittleEndian.AppendUint32(page, 1)
	page = binary.LittleEndian.AppendUint32(page, sequence)
	page = append(page, 0, 0, 0, 0, byte(len(packets)))
	for _, packet := range packets {
		page = append(page, byte(len(packet)))
	}
	for _, packet := range packets {
		page = append(page, packet...)
	}
	binary.LittleEndian.PutUint32(page[22:], oggChecksum(page))
	b.Write(page)
}

// oggChecksum returns Ogg's CRC: polynomial 0x04c11db7, neither reflected nor inverted.
func oggChecksum(page []byte) (crc uint32) {
	for _, octet := range page {
		crc ^= uint32(octet) << 24
		for range 8 {
			if crc&0x80000000 != 0 {
				crc = crc<<1 ^ 0x04c11db7
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}

// PDF returns a page with one line.
func PDF() []byte { return pageWith("Saturday: meet at nine") }

func pageWith(words string) []byte {
	var b bytes.Buffer
	var offsets []int
	object := func(text string) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(offsets), text)
	}
	b.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
	object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>")
	line := "BT /F1 18 Tf 40 100 Td (" + words + ") Tj ET"
	object(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(line), line))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, start)
	return b.Bytes()
}
