package media

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math"
	"reflect"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

// corner returns the colour of a thumbnail's upper left corner: r, g, b or w.
func corner(t *testing.T, thumbnail []byte) (name string, size image.Point) {
	t.Helper()
	m, err := jpeg.Decode(bytes.NewReader(thumbnail))
	if err != nil {
		t.Fatal(err)
	}
	size = m.Bounds().Size()
	r, g, b, _ := m.At(size.X/8, size.Y/8).RGBA()
	for i, v := range []uint32{r, g, b} {
		if v > 0x8000 {
			name += string("rgb"[i])
		}
	}
	return name, size
}

func TestImage_StandsUprightAsExifSays(t *testing.T) {
	// What is at the upper left once the picture is upright.
	want := []string{1: "r", 2: "g", 3: "rgb", 4: "b", 5: "r", 6: "b", 7: "rgb", 8: "g"}
	for orientation := 1; orientation <= 8; orientation++ {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			t.Run(fmt.Sprint(orientation, order), func(t *testing.T) {
				p := NewPreparer(PreparerOptions{})
				var f bridge.File
				file := withExif(jpegFile(t, quarters(400, 200)), order, orientation)
				if err := p.measureImage(t.Context(), &f, bytes.NewReader(file)); err != nil {
					t.Fatal(err)
				}
				wantSize, wantSmall := image.Pt(400, 200), image.Pt(100, 50)
				if orientation > 4 {
					wantSize, wantSmall = image.Pt(200, 400), image.Pt(50, 100)
				}
				if got := image.Pt(f.Width, f.Height); got != wantSize {
					t.Errorf("size %v, want %v", got, wantSize)
				}
				got, size := corner(t, f.Thumbnail)
				if got != want[orientation] || size != wantSmall {
					t.Errorf("corner %s of %v, want %s of %v", got, size, want[orientation], wantSmall)
				}
			})
		}
	}
}

func TestUpright_TurnsEveryCorner(t *testing.T) {
	// Corners in reading order: red, green, blue, white.
	want := []string{1: "RGBW", 2: "GRWB", 3: "WBGR", 4: "BWRG", 5: "RBGW", 6: "BRWG", 7: "WGBR", 8: "GWRB"}
	for orientation := 1; orientation <= 8; orientation++ {
		m := upright(quarters(8, 4), orientation)
		w, h := m.Bounds().Dx(), m.Bounds().Dy()
		got := ""
		for _, p := range []image.Point{{0, 0}, {w - 1, 0}, {0, h - 1}, {w - 1, h - 1}} {
			switch m.RGBAAt(p.X, p.Y) {
			case color.RGBA{255, 0, 0, 255}:
				got += "R"
			case color.RGBA{0, 255, 0, 255}:
				got += "G"
			case color.RGBA{0, 0, 255, 255}:
				got += "B"
			default:
				got += "W"
			}
		}
		if got != want[orientation] {
			t.Errorf("orientation %d: %s, want %s", orientation, got, want[orientation])
		}
	}
}

func TestImage_TransparentIsOnWhite(t *testing.T) {
	p := NewPreparer(PreparerOptions{})
	var f bridge.File
	if err := p.measureImage(t.Context(), &f, bytes.NewReader(pngFile(t, image.NewNRGBA(image.Rect(0, 0, 300, 10))))); err != nil {
		t.Fatal(err)
	}
	if got, size := corner(t, f.Thumbnail); got != "rgb" || size != image.Pt(100, 3) {
		t.Errorf("corner %s of %v", got, size)
	}
}

// bomb returns the head of a PNG picture of that size, without the picture.
func bomb(w, h uint32) []byte {
	chunk := append([]byte("IHDR"), words(w, h)...)
	chunk = append(chunk, 8, 6, 0, 0, 0)
	file := append([]byte("\x89PNG\r\n\x1a\n"), words(13)...)
	file = append(file, chunk...)
	return append(file, words(crc32.ChecksumIEEE(chunk))...)
}

func TestImage_EnormousPicturesAreNotDecoded(t *testing.T) {
	p := NewPreparer(PreparerOptions{})
	var f bridge.File
	err := p.measureImage(t.Context(), &f, bytes.NewReader(bomb(60000, 60000)))
	if err == nil || f.Thumbnail != nil || f.Width != 60000 || f.Height != 60000 {
		t.Errorf("%d by %d, thumbnail of %d bytes: %v", f.Width, f.Height, len(f.Thumbnail), err)
	}
	for _, c := range []struct {
		config      image.Config
		format      string
		progressive bool
		affordable  bool
	}{
		{image.Config{Width: 8000, Height: 6000, ColorModel: color.YCbCrModel}, "jpeg", false, true}, // large phones' pictures
		{image.Config{Width: 9000, Height: 9000, ColorModel: color.YCbCrModel}, "jpeg", false, false},
		{image.Config{Width: 6000, Height: 4000}, "jpeg", true, false},
		{image.Config{Width: 3000, Height: 3000}, "jpeg", true, true},
		{image.Config{Width: 6000, Height: 4000, ColorModel: color.NRGBAModel}, "png", false, true},
		{image.Config{Width: 6000, Height: 4000, ColorModel: color.NRGBA64Model}, "png", false, false},
		{image.Config{Width: 1 << 31, Height: 1 << 31}, "gif", false, false},
	} {
		head := pictureHead{Config: c.config, format: c.format, jpegHead: jpegHead{progressive: c.progressive}}
		if got := head.cost() <= maxDecoded; got != c.affordable {
			t.Errorf("%s %d by %d (progressive %v): affordable %v", c.format, c.config.Width, c.config.Height, c.progressive, got)
		}
	}
}

func TestExif_StrangeIsUpright(t *testing.T) {
	for _, b := range []string{
		"", "Exif\x00\x00", "Exif\x00\x00MM\x00\x2a\xff\xff\xff\xff\x00\x01", "Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\xff\xff\x00",
		"Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x09\x00\x00",
	} {
		if got := exifOrientation([]byte(b)); got != 1 {
			t.Errorf("%q: %d", b, got)
		}
	}
}

func TestMovie(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		want movie
	}{
		"video":      {mp4File("isom", 12500, track{handler: "soun"}, track{handler: "vide", width: 640, height: 360}), movie{12.5, 640, 360, true, nil}},
		"turned":     {mp4File("mp42", 1000, track{handler: "vide", width: 640, height: 360, turned: true}), movie{1, 360, 640, true, nil}},
		"sound":      {mp4File("M4A ", 61000, track{handler: "soun"}), movie{61, 0, 0, false, nil}},
		"broken off": {mp4File("isom", 5000, track{handler: "vide", width: 10, height: 20})[:400], movie{5, 10, 20, true, nil}},
		"unknown length, fragments": {bytes.Join([][]byte{box("ftyp", []byte("iso5"), words(0)), box("moov",
			box("mvhd", words(0, 0, 0, 1000, 0, 0x10000, 0x01000000, 0, 0), make([]byte, 60), words(9)),
			box("mvex", box("mehd", words(0, 7000))))}, nil), movie{seconds: 7}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readMovie(bytes.NewReader(c.file))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(*got, c.want) {
				t.Errorf("got %+v, want %+v", *got, c.want)
			}
		})
	}
}

func TestMovie_HostileBoxesEnd(t *testing.T) {
	deep := []byte{}
	for range 1000 {
		deep = box("moov", deep)
	}
	for name, file := range map[string][]byte{
		"nothing":       nil,
		"no header":     box("ftyp", []byte("isom")),
		"size 1":        {0, 0, 0, 1, 'm', 'o', 'o', 'v', 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"size 4":        {0, 0, 0, 4, 'm', 'o', 'o', 'v'},
		"too long":      {0xFF, 0xFF, 0xFF, 0xFF, 'm', 'o', 'o', 'v'},
		"deep":          deep,
		"many":          bytes.Repeat(box("free"), maxBoxes+10),
		"short header":  box("moov", box("mvhd", make([]byte, 10))),
		"other version": box("moov", box("mvhd", append([]byte{2}, make([]byte, 100)...))),
		"cut header":    box("moov", box("mvhd", make([]byte, 30)))[:30],
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := readMovie(bytes.NewReader(file)); err == nil {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestOgg(t *testing.T) {
	for name, c := range map[string]struct {
		file    []byte
		seconds float64
		isOpus  bool
	}{
		"opus":       {opusFile(repeat(80, 150)...), 3, true},
		"big packet": {opusFile(255, 254, 256, 510, 1000), 0.1, true},
		"vorbis":     {vorbisFile(44100, 44100*5), 5, false},
		// A voice note that is longer than its first stream would get past the minutes of a month.
		"chained":          {append(opusFile(repeat(80, 150)...), ofSerial(78, opusFile(repeat(80, 50)...))...), 4, true},
		"chained vorbis":   {append(vorbisFile(44100, 44100*5), vorbisFile(44100, 44100*2)...), 7, false},
		"and another kind": {append(opusFile(repeat(80, 150)...), vorbisFile(44100, 44100*2)...), 3, true},
		"broken off":       {opusFile(repeat(80, 151)...)[:len(opusFile(repeat(80, 150)...))+30], 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readOgg(bytes.NewReader(c.file))
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.seconds()-c.seconds) > 0.001 || got.isOpus != c.isOpus {
				t.Errorf("%v s, opus %v; want %v s, %v", got.seconds(), got.isOpus, c.seconds, c.isOpus)
			}
			if packets := float64(got.samples) / opusRate; c.isOpus && math.Abs(packets-c.seconds) > 0.03 {
				t.Errorf("packets of %v s, want %v s", packets, c.seconds)
			}
		})
	}
	for name, file := range map[string][]byte{"nothing": nil, "no ogg": randomBytes(1000), "other codec": oggPage(0, 2, []byte("\x80theora..........")), "no clock": vorbisFile(0, 100)} {
		if got, err := readOgg(bytes.NewReader(file)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestOgg_PlayingTimeOfPackets(t *testing.T) {
	for _, c := range []struct {
		head []byte
		ms   float64
	}{{nil, 0}, {[]byte{3 << 3}, 60}, {[]byte{12 << 3}, 10}, {[]byte{13<<3 | 1}, 40}, {[]byte{16<<3 | 2}, 5}, {[]byte{31<<3 | 3, 3}, 60}, {[]byte{31<<3 | 3}, 0}} {
		if got := float64(opusSamples(c.head)) / 48; got != c.ms {
			t.Errorf("%v: %v ms, want %v", c.head, got, c.ms)
		}
	}
}

func TestMP3(t *testing.T) {
	const frame = 1152.0 / 44100
	tag := append([]byte("ID3\x04\x00\x00\x00\x00\x10\x00"), bytes.Repeat([]byte{0xFF, 0xFB, 0x90, 0}, 512)...)
	for name, c := range map[string]struct {
		file []byte
		want float64
	}{
		"frames":       {mp3File(100), 100 * frame},
		"tag in front": {append(tag, mp3File(50)...), 50 * frame},
		"tag behind":   {append(mp3File(50), append([]byte("TAG"), make([]byte, 125)...)...), 50 * frame},
		"junk first":   {append(bytes.Repeat([]byte{0xFF, 0xFB, 0x90, 1}, 3), mp3File(50)...), 50 * frame},
		"junk between": {append(append(mp3File(10), make([]byte, 999)...), mp3File(10)...), 20 * frame},
		"one frame":    {mp3File(1), frame},
		"22 kHz":       {bytes.Repeat(append([]byte{0xFF, 0xF3, 0x80, 0}, make([]byte, 208-4)...), 10), 10 * 576.0 / 22050},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := mp3Seconds(bytes.NewReader(c.file))
			if err != nil || math.Abs(got-c.want) > 0.03 {
				t.Errorf("%v s, want %v: %v", got, c.want, err)
			}
		})
	}
	for name, file := range map[string][]byte{"nothing": nil, "zeros": make([]byte, 200000), "short": {0xFF, 0xFB}, "tag without end": []byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7f")} {
		if got, err := mp3Seconds(bytes.NewReader(file)); err == nil {
			t.Errorf("%s: %v s", name, got)
		}
	}
}

func TestWholeSeconds(t *testing.T) {
	for seconds, want := range map[float64]int{0: 0, -1: 0, 0.02: 1, 1.4: 1, 1.5: 2, 3600: 3600, 1e12: 0} {
		if got := wholeSeconds(seconds); got != want {
			t.Errorf("%v: %d, want %d", seconds, got, want)
		}
	}
	if got := wholeSeconds(math.NaN()); got != 0 {
		t.Errorf("NaN: %d", got)
	}
}

func TestGuarded_APanicIsAnError(t *testing.T) {
	_, err := guarded(bytes.NewReader(nil), func(io.ReadSeeker) (int, error) { panic("decoder") })
	if err == nil {
		t.Error("the panic was lost")
	}
}

func FuzzProbes(f *testing.F) {
	f.Add(mp4File("isom", 12500, track{handler: "vide", width: 640, height: 360, turned: true}))
	f.Add(opusFile(20, 300, 255))
	f.Add(vorbisFile(44100, 441000))
	f.Add(mp3File(3))
	f.Add(withExif(jpegFile(f, quarters(16, 8)), binary.LittleEndian, 6))
	f.Add(webpFile(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzbudget.Usual.Check(t, len(b), func() {
			r := bytes.NewReader(b)
			if k, err := sniff(r); err != nil {
				t.Errorf("sniff: %v", err)
			} else if k.movie != nil && (k.movie.width < 0 || k.movie.seconds < 0) {
				t.Errorf("movie %+v", *k.movie)
			}
			_, _ = readOgg(bytes.NewReader(b))
			if seconds, err := mp3Seconds(bytes.NewReader(b)); err == nil && seconds <= 0 {
				t.Errorf("MP3 of %v s", seconds)
			}
			if head, err := readJPEGHead(bytes.NewReader(b)); err == nil && (head.orientation < 1 || head.orientation > 8) {
				t.Errorf("orientation %d", head.orientation)
			}
		})
	})
}
