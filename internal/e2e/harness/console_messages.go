package harness

import (
	"bytes"
	"encoding/binary"
	"math"
)

// Tone returns a WAV file of a sound that swells and fades.
func Tone(seconds int) []byte {
	const rate = 8000
	var b bytes.Buffer
	size := uint32(seconds * rate * 2)
	b.WriteString("RIFF")
	_ = binary.Write(&b, binary.LittleEndian, 36+size) // writing to a bytes.Buffer cannot fail
	b.WriteString("WAVEfmt ")
	for _, field := range []any{uint32(16), uint16(1), uint16(1), uint32(rate), uint32(2 * rate), uint16(2), uint16(16)} {
		_ = binary.Write(&b, binary.LittleEndian, field)
	}
	b.WriteString("data")
	_ = binary.Write(&b, binary.LittleEndian, size)
	for i := range seconds * rate {
		at := float64(i) / rate
		_ = binary.Write(&b, binary.LittleEndian, int16(8000*math.Sin(at*2*math.Pi*300)*math.Abs(math.Sin(at*2))))
	}
	return b.Bytes()
}
