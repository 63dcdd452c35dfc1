package bounds

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
)

// TestFigures_Media prints how long BRIDGE_TOKEN's voice note and picture wait while a token of one chat
// sends sounds and pictures that are expensive to convert.
func TestFigures_Media(t *testing.T) {
	if !*figures {
		t.Skip("they are printed with -figures")
	}
	c := PairedCast(t, WithFFmpeg(t), "LOG_LEVEL=info")
	p, to := c.Bridge, bridge.JID(c.Anna.PN().String())
	made := Must(p.API.CreateToken(Within(t), client.NewToken{Name: "sends", Scopes: []bridge.Scope{bridge.ScopeRead, bridge.ScopeSend}, Chats: []bridge.JID{to}}))(t)
	p.Secrets = append(p.Secrets, made.Secret)
	limited := client.New("http://"+p.Address, made.Secret)
	defer limited.Close()
	var picture bytes.Buffer
	if err := jpeg.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 1600, 1200)), nil); err != nil {
		t.Fatal(err)
	}
	voice := client.Upload{To: to, FileName: "sound", PTT: true}
	image := client.Upload{To: to, FileName: "picture.jpg", Type: bridge.MediaImage}
	flac := silence(t)
	nameless := bytes.Clone(flac) // its head does not say how long it is
	nameless[21] &= 0xF0
	clear(nameless[22:26])
	began := time.Now()
	_, err := p.API.SendFile(Within(t), voice, bytes.NewReader(Tone(3)), "")
	t.Logf("without another sender, BRIDGE_TOKEN's voice note: %.1f s, %v", time.Since(began).Seconds(), err)
	for _, attack := range []struct {
		name        string
		upload      client.Upload
		file        []byte
		atOnce      int
		own         client.Upload
		ownFile     []byte
		ownFileName string
	}{
		{"eleven hours of silence in a FLAC", voice, flac, 4, voice, Tone(3), "voice note"},
		{"the same, whose head does not say how long it is", voice, nameless, 4, voice, Tone(3), "voice note"},
		{"JPEGs with 1,000 scans", image, scans(3000, 1000), 16, image, picture.Bytes(), "picture"},
		{"JPEGs with 60 scans, which are accepted", image, scans(3000, 60), 16, image, picture.Bytes(), "picture"},
	} {
		costs(p, t, fmt.Sprintf("%d at once of %d KB in a loop, %s", attack.atOnce, len(attack.file)>>10, attack.name), func() {
			ended, answers := make(chan struct{}), make(map[string]int)
			var mu sync.Mutex
			var attackers sync.WaitGroup
			for range attack.atOnce {
				attackers.Go(func() {
					for {
						select {
						case <-ended:
							return
						default:
						}
						_, err := limited.SendFile(Within(t), attack.upload, bytes.NewReader(attack.file), "")
						answer := "sent"
						if err != nil {
							answer = string(bridge.CodeOf(err))
						}
						mu.Lock()
						answers[answer]++
						mu.Unlock()
					}
				})
			}
			Eventually(t, func() error {
				mu.Lock()
				defer mu.Unlock()
				if len(answers) == 0 {
					return errors.New("none of the files is answered")
				}
				return nil
			})
			for range 5 {
				began := time.Now()
				_, err := p.API.SendFile(Within(t), attack.own, bytes.NewReader(attack.ownFile), "")
				t.Logf("BRIDGE_TOKEN's %s: %.1f s, %v", attack.ownFileName, time.Since(began).Seconds(), err)
			}
			close(ended)
			attackers.Wait()
			t.Logf("answers of the token: %v", answers)
		})
	}
}

// silence returns a FLAC of eleven hours in about 80 KB.
func silence(t *testing.T) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "silence.flac")
	if out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono", "-t", "39600", "-c:a", "flac", "-frame_size", "65535", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return Must(os.ReadFile(file))(t)
}

// scans returns a progressive JPEG with so many scans, in each of which every block has no coefficients.
func scans(side, count int) []byte {
	blocks := (side + 7) / 8 * ((side + 7) / 8)
	code := append([]byte{1}, make([]byte, 15)...) // one code of one bit
	table := func(class byte, value byte) []byte {
		return append(append([]byte{0xFF, 0xC4, 0, 20, class}, code...), value)
	}
	file := append([]byte{0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0}, bytes.Repeat([]byte{1}, 64)...)
	file = append(file, 0xFF, 0xC2, 0, 17, 8, byte(side>>8), byte(side), byte(side>>8), byte(side), 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0)
	file = append(append(file, table(0x00, 0)...), 0xFF, 0xDA, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 0, 0)
	file = append(append(file, make([]byte, blocks*3/8+64)...), table(0x10, 0xE0)...)
	runs := blocks/(1<<14) + 1 // a code and its 14 bits end up to 32,767 blocks
	scan := append([]byte{0xFF, 0xDA, 0, 8, 1, 1, 0, 1, 63, 0}, make([]byte, runs*15/8+1)...)
	return append(append(file, bytes.Repeat(scan, count)...), 0xFF, 0xD9)
}
