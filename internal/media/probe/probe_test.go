package probe

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"reflect"
	"testing"

	"bridged/internal/fuzzbudget"
	"bridged/internal/media/mediatest"
)

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
		want Movie
	}{
		"video":      {mediatest.MP4("isom", 12500, mediatest.Track{Handler: "soun"}, mediatest.Track{Handler: "vide", Width: 640, Height: 360}), Movie{12.5, 640, 360, true, nil}},
		"turned":     {mediatest.MP4("mp42", 1000, mediatest.Track{Handler: "vide", Width: 640, Height: 360, Turned: true}), Movie{1, 360, 640, true, nil}},
		"sound":      {mediatest.MP4("M4A ", 61000, mediatest.Track{Handler: "soun"}), Movie{61, 0, 0, false, nil}},
		"broken off": {mediatest.MP4("isom", 5000, mediatest.Track{Handler: "vide", Width: 10, Height: 20})[:400], Movie{5, 10, 20, true, nil}},
		"unknown length, fragments": {bytes.Join([][]byte{mediatest.Box("ftyp", []byte("iso5"), mediatest.Words(0)), mediatest.Box("moov",
			mediatest.Box("mvhd", mediatest.Words(0, 0, 0, 1000, 0, 0x10000, 0x01000000, 0, 0), make([]byte, 60), mediatest.Words(9)),
			mediatest.Box("mvex", mediatest.Box("mehd", mediatest.Words(0, 7000))))}, nil), Movie{Seconds: 7}},
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
		deep = mediatest.Box("moov", deep)
	}
	for name, file := range map[string][]byte{
		"nothing":       nil,
		"no header":     mediatest.Box("ftyp", []byte("isom")),
		"size 1":        {0, 0, 0, 1, 'm', 'o', 'o', 'v', 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"size 4":        {0, 0, 0, 4, 'm', 'o', 'o', 'v'},
		"too long":      {0xFF, 0xFF, 0xFF, 0xFF, 'm', 'o', 'o', 'v'},
		"deep":          deep,
		"many":          bytes.Repeat(mediatest.Box("free"), maxBoxes+10),
		"short header":  mediatest.Box("moov", mediatest.Box("mvhd", make([]byte, 10))),
		"other version": mediatest.Box("moov", mediatest.Box("mvhd", append([]byte{2}, make([]byte, 100)...))),
		"cut header":    mediatest.Box("moov", mediatest.Box("mvhd", make([]byte, 30)))[:30],
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
		"opus":       {mediatest.Opus(mediatest.Repeat(80, 150)...), 3, true},
		"big packet": {mediatest.Opus(255, 254, 256, 510, 1000), 0.1, true},
		"vorbis":     {mediatest.Vorbis(44100, 44100*5), 5, false},
		// A voice note that is longer than its first stream would get past the minutes of a month.
		"chained":          {append(mediatest.Opus(mediatest.Repeat(80, 150)...), mediatest.OfSerial(78, mediatest.Opus(mediatest.Repeat(80, 50)...))...), 4, true},
		"chained vorbis":   {append(mediatest.Vorbis(44100, 44100*5), mediatest.Vorbis(44100, 44100*2)...), 7, false},
		"and another kind": {append(mediatest.Opus(mediatest.Repeat(80, 150)...), mediatest.Vorbis(44100, 44100*2)...), 3, true},
		"broken off":       {mediatest.Opus(mediatest.Repeat(80, 151)...)[:len(mediatest.Opus(mediatest.Repeat(80, 150)...))+30], 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readOgg(bytes.NewReader(c.file))
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.seconds()-c.seconds) > 0.001 || got.IsOpus != c.isOpus {
				t.Errorf("%v s, opus %v; want %v s, %v", got.seconds(), got.IsOpus, c.seconds, c.isOpus)
			}
			if packets := float64(got.samples) / opusRate; c.isOpus && math.Abs(packets-c.seconds) > 0.03 {
				t.Errorf("packets of %v s, want %v s", packets, c.seconds)
			}
		})
	}
	for name, file := range map[string][]byte{"nothing": nil, "no ogg": mediatest.RandomBytes(1000), "other codec": mediatest.OggPage(0, 2, []byte("\x80theora..........")), "no clock": mediatest.Vorbis(0, 100)} {
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
		"frames":       {mediatest.MP3(100), 100 * frame},
		"tag in front": {append(tag, mediatest.MP3(50)...), 50 * frame},
		"tag behind":   {append(mediatest.MP3(50), append([]byte("TAG"), make([]byte, 125)...)...), 50 * frame},
		"junk first":   {append(bytes.Repeat([]byte{0xFF, 0xFB, 0x90, 1}, 3), mediatest.MP3(50)...), 50 * frame},
		"junk between": {append(append(mediatest.MP3(10), make([]byte, 999)...), mediatest.MP3(10)...), 20 * frame},
		"one frame":    {mediatest.MP3(1), frame},
		"22 kHz":       {bytes.Repeat(append([]byte{0xFF, 0xF3, 0x80, 0}, make([]byte, 208-4)...), 10), 10 * 576.0 / 22050},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := MP3Seconds(bytes.NewReader(c.file))
			if err != nil || math.Abs(got-c.want) > 0.03 {
				t.Errorf("%v s, want %v: %v", got, c.want, err)
			}
		})
	}
	for name, file := range map[string][]byte{"nothing": nil, "zeros": make([]byte, 200000), "short": {0xFF, 0xFB}, "tag without end": []byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7f")} {
		if got, err := MP3Seconds(bytes.NewReader(file)); err == nil {
			t.Errorf("%s: %v s", name, got)
		}
	}
}

func TestWholeSeconds(t *testing.T) {
	for seconds, want := range map[float64]int{0: 0, -1: 0, 0.02: 1, 1.4: 1, 1.5: 2, 3600: 3600, 1e12: 0} {
		if got := WholeSeconds(seconds); got != want {
			t.Errorf("%v: %d, want %d", seconds, got, want)
		}
	}
	if got := WholeSeconds(math.NaN()); got != 0 {
		t.Errorf("NaN: %d", got)
	}
}

func TestGuarded_APanicIsAnError(t *testing.T) {
	_, err := Guarded(bytes.NewReader(nil), func(io.ReadSeeker) (int, error) { panic("decoder") })
	if err == nil {
		t.Error("the panic was lost")
	}
}

func FuzzProbes(f *testing.F) {
	f.Add(mediatest.MP4("isom", 12500, mediatest.Track{Handler: "vide", Width: 640, Height: 360, Turned: true}))
	f.Add(mediatest.Opus(20, 300, 255))
	f.Add(mediatest.Vorbis(44100, 441000))
	f.Add(mediatest.MP3(3))
	f.Add(mediatest.WithExif(mediatest.JPEG(f, mediatest.Quarters(16, 8)), binary.LittleEndian, 6))
	f.Add(mediatest.WebPPixel(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzbudget.Usual.Check(t, len(b), func() {
			r := bytes.NewReader(b)
			if k, err := Sniff(r); err != nil {
				t.Errorf("sniff: %v", err)
			} else if k.Movie != nil && (k.Movie.Width < 0 || k.Movie.Seconds < 0) {
				t.Errorf("movie %+v", *k.Movie)
			}
			_, _ = readOgg(bytes.NewReader(b))
			if seconds, err := MP3Seconds(bytes.NewReader(b)); err == nil && seconds <= 0 {
				t.Errorf("MP3 of %v s", seconds)
			}
			if head, err := readJPEGHead(bytes.NewReader(b)); err == nil && (head.Orientation < 1 || head.Orientation > 8) {
				t.Errorf("orientation %d", head.Orientation)
			}
		})
	})
}
