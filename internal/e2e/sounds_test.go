package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/demo"
	"bridged/internal/simnet"
)

// withFFmpeg returns the setting that names ffmpeg.
func withFFmpeg(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Skip("ffmpeg is not installed")
	}
	return "FFMPEG=" + program
}

// isVoiceNote checks what a phone got of a sound of so many seconds that swells and fades.
func isVoiceNote(t *testing.T, phone *simnet.Phone, got *simnet.Received, seconds int) {
	t.Helper()
	audio := got.Message.Message.GetAudioMessage()
	if audio == nil || !audio.GetPTT() || audio.GetMimetype() != "audio/ogg; codecs=opus" || audio.GetSeconds() != uint32(seconds) {
		t.Fatalf("arrived as %v", got.Message.Message)
	}
	bars := audio.GetWaveform()
	if len(bars) != 64 || slices.Max(bars) != 100 || slices.Min(bars) > 30 {
		t.Errorf("the waveform is %v", bars)
	}
	file := must(phone.Download(within(t), got))(t)
	if !bytes.HasPrefix(file, []byte("OggS")) || !bytes.Contains(file[:64], []byte("OpusHead")) || uint64(len(file)) != audio.GetFileLength() {
		t.Errorf("%d bytes arrived, which begin %q", len(file), file[:min(len(file), 64)])
	}
}

// Any sound is a voice note for the phones, by whatever way it is sent, and once under one key.
func TestSounds_BecomeVoiceNotes(t *testing.T) {
	t.Parallel()
	c := pairedCast(t, fetchesLoopback, withFFmpeg(t))
	to := bridge.JID(c.anna.PN().String())
	web := newWebsite(t)
	arrives := func(id simnet.MessageID) *simnet.Received { return must(c.anna.ReceivedID(within(t), id))(t) }

	byURL := object{"jid": to, "url": web.has("/tone.wav", tone(3)), "type": "audio", "ptt": true}
	id := sentID(t, c.bridge.Post("/api/messages/send-media", byURL, "Idempotency-Key", "by-URL"))
	isVoiceNote(t, c.anna, arrives(id), 3)
	download := bridge.DownloadPath(to, id)
	c.bridge.answers("/api/messages/media-info/"+strings.TrimPrefix(download, "/api/messages/media/"), object{
		"chatJid": to, "msgId": id,
		"media": object{
			"type": "audio", "mimetype": "audio/ogg; codecs=opus", "durationSec": 3, "ptt": true, "size": arrives(id).Message.Message.GetAudioMessage().GetFileLength(),
			"downloadUrl": download,
		},
	})
	named := sentID(t, c.bridge.Post("/api/messages/send-media", with(byURL, object{"mimetype": "audio/wav"})))
	isVoiceNote(t, c.anna, arrives(named), 3)
	upload := func(key string) client.Sent {
		return must(c.bridge.api.SendFile(within(t), client.Upload{To: to, FileName: "tone", PTT: true}, bytes.NewReader(tone(2)), key))(t)
	}
	sent := upload("as-a-form")
	isVoiceNote(t, c.anna, arrives(sent.ID), 2)
	voice := demo.Voice(2)
	kept := must(c.bridge.api.SendFile(within(t), client.Upload{To: to, FileName: "voice", PTT: true}, bytes.NewReader(voice), ""))(t)
	if file := must(c.anna.Download(within(t), arrives(kept.ID)))(t); !bytes.Equal(file, voice) {
		t.Error("a voice note was converted")
	}
	plain := arrives(sentID(t, c.bridge.Post("/api/messages/send-media", with(byURL, object{"ptt": false})))).Message.Message.GetAudioMessage()
	if plain.GetMimetype() != "audio/mp4" || plain.GetPTT() || plain.GetSeconds() != 3 {
		t.Errorf("a sound that computers refuse, and that is no voice note, arrived as %v", plain)
	}
	for _, bad := range []object{{"url": web.has("/list.m3u8", []byte("#EXTM3U\n#EXTINF:3,\nfile:///etc/passwd\n"))}, {"url": web.has("/words", []byte("just words"))}, {"url": web.has("/torn", tone(1)[:44])}} {
		refused(t, c.bridge.Post("/api/messages/send-media", with(byURL, bad)), 400, bridge.CodeUnsupportedMedia)
	}

	c.bridge.stop()
	c.bridge.set("FFMPEG=off")
	c.bridge.start()
	c.bridge.becomes(bridge.StateOpen)
	if again := sentID(t, c.bridge.Post("/api/messages/send-media", byURL, "Idempotency-Key", "by-URL")); again != id {
		t.Errorf("the repeated call sent %s", again)
	}
	if again := upload("as-a-form"); again.ID != sent.ID || !again.Replayed {
		t.Errorf("the repeated upload sent %+v", again)
	}
	refused(t, c.bridge.Post("/api/messages/send-media", with(byURL, object{"mimetype": "audio/wav"})), 400, bridge.CodeUnsupportedMedia, "install ffmpeg")
	refused(t, c.bridge.Post("/api/messages/send-media", byURL), 400, bridge.CodeUnsupportedMedia, "install ffmpeg")
	c.bridge.leavesNoFile()
}

// A film is converted if computers refuse it, and where that is asked for and needed.
func TestSounds_FilmsAreConverted(t *testing.T) {
	t.Parallel()
	setting := withFFmpeg(t)
	c := pairedCast(t, fetchesLoopback, setting)
	web := newWebsite(t)
	webm := filepath.Join(t.TempDir(), "film.webm")
	makes := exec.CommandContext(t.Context(), strings.TrimPrefix(setting, "FFMPEG="), "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc=s=1600x900:d=2:r=5", "-c:v", "libvpx", "-deadline", "realtime", webm)
	if out, err := makes.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	body := object{"jid": c.anna.PN().String(), "url": web.has("/film.webm", must(os.ReadFile(webm))(t)), "type": "video"}
	var file []byte
	for _, isAsked := range []bool{false, true} {
		got := must(c.anna.ReceivedID(within(t), c.sendsMedia(t, with(body, object{"convert": isAsked}))))(t)
		video := got.Message.Message.GetVideoMessage()
		if video.GetMimetype() != "video/mp4" || video.GetWidth() != 1280 || video.GetHeight() != 720 || video.GetSeconds() != 2 {
			t.Errorf("arrived as %v", got.Message.Message)
		}
		file = must(c.anna.Computer().Open(within(t), got))(t)
		if !bytes.Contains(file, []byte("avc1")) {
			t.Errorf("%d bytes arrived, which begin %q", len(file), file[:min(len(file), 64)])
		}
	}
	again := c.sendsMedia(t, with(body, object{"url": web.has("/film.mp4", file), "convert": true}))
	if same := must(c.anna.Download(within(t), must(c.anna.ReceivedID(within(t), again))(t)))(t); !bytes.Equal(same, file) {
		t.Error("a film that the phones play was converted again")
	}
	refused(t, c.bridge.Post("/api/messages/send-media", with(body, object{"type": "image", "convert": true})), 400, bridge.CodeInvalid, "convert is for video only")
	c.bridge.leavesNoFile()
}

// A form whose caller does not wait for its converting is sent all the same, and once under its key.
func TestSounds_AreSentWhenTheirCallerLeaves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, started, goesOn := filepath.Join(dir, "ffmpeg"), filepath.Join(dir, "started"), filepath.Join(dir, "goes-on")
	script := fmt.Sprintf("#!/bin/sh\n: > %s\nwhile [ ! -e %s ]; do sleep 0.02; done\nexec %s \"$@\"\n", started, goesOn, strings.TrimPrefix(withFFmpeg(t), "FFMPEG="))
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c := pairedCast(t, "FFMPEG="+program)
	upload := func(ctx context.Context) (client.Sent, error) {
		return c.bridge.api.SendFile(ctx, client.Upload{To: bridge.JID(c.anna.PN().String()), FileName: "tone", PTT: true}, bytes.NewReader(tone(2)), "once")
	}
	hasty, leave := context.WithCancel(within(t))
	left := make(chan error, 1)
	go func() {
		_, err := upload(hasty)
		left <- err
	}()
	eventually(t, func() error {
		_, err := os.Stat(started)
		return err
	})
	leave()
	if err := <-left; err == nil {
		t.Fatal("the hasty caller has an answer")
	}
	if err := os.WriteFile(goesOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := must(c.anna.Received(within(t), func(got *simnet.Received) bool { return got.Message.Message.GetAudioMessage() != nil }))(t)
	isVoiceNote(t, c.anna, got, 2)
	eventually(t, func() error { // while the first call ends, its key is busy
		again, err := upload(within(t))
		if err == nil && (again.ID != got.Message.Info.ID || !again.Replayed) {
			t.Fatalf("the repeated call sent %+v", again)
		}
		return err
	})
	c.bridge.leavesNoFile()
}

// A bridge that is stopped, or killed, ends what converts; its caller is told.
func TestSounds_NothingConvertsOnWithoutTheBridge(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("processes die with the bridge on Linux")
	}
	for name, end := range map[string]func(*process){
		"stopped": (*process).stop, "stopped, with a form": (*process).stop,
		"killed": func(p *process) { p.signal(syscall.SIGKILL); <-p.exited },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			fake, started := filepath.Join(dir, "ffmpeg"), filepath.Join(dir, "started")
			script := fmt.Sprintf("#!/bin/sh\necho $$ > %[1]s.new; mv %[1]s.new %[1]s; exec sleep 1000\n", started)
			if err := os.WriteFile(fake, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			c := pairedCast(t, fetchesLoopback, "FFMPEG="+fake)
			url := newWebsite(t).has("/tone.wav", tone(1))
			answered := make(chan apitest.Response, 1)
			go func() {
				if name == "killed" { // nobody answers then
					_, _ = c.bridge.rawPost(t.Context(), "/api/messages/send-media", fmt.Sprintf(`{"jid":"%s","url":"%s","type":"audio","ptt":true}`, c.anna.PN(), url), "k")
					close(answered)
					return
				}
				if name == "stopped, with a form" {
					_, err := c.bridge.api.SendFile(t.Context(), client.Upload{To: bridge.JID(c.anna.PN().String()), FileName: "x", PTT: true}, bytes.NewReader(tone(1)), "")
					if code := bridge.CodeOf(err); code != bridge.CodeNotConnected {
						t.Errorf("the upload was answered %v", err)
					}
					close(answered)
					return
				}
				answered <- c.bridge.Post("/api/messages/send-media", object{"jid": c.anna.PN().String(), "url": url, "type": "audio", "ptt": true})
			}()
			var pid string
			eventually(t, func() error {
				data, err := os.ReadFile(started)
				pid = strings.TrimSpace(string(data))
				return err
			})
			end(c.bridge)
			if answer, isAnswered := <-answered; isAnswered {
				refused(t, answer, http.StatusServiceUnavailable, bridge.CodeNotConnected, "stopping")
			}
			eventually(t, func() error {
				stat, err := os.ReadFile("/proc/" + pid + "/stat")
				if err == nil && !bytes.Contains(stat, []byte(") Z ")) {
					return fmt.Errorf("process %s still runs", pid)
				}
				return nil
			})
			if name != "killed" {
				c.bridge.leavesNoFile()
			}
		})
	}
}

// The doors make voice notes of sounds, too.
func TestSounds_ThroughTheDoors(t *testing.T) {
	t.Parallel()
	s := newDoorScene(t, "COMPAT=waha,evolution,cloud", fetchesLoopback, withFFmpeg(t))
	sound := newWebsite(t).has("/tone.wav", tone(2))
	data := inBase64(tone(2))
	json := map[string]string{"X-Api-Key": s.full, "apikey": s.full, "Authorization": "Bearer " + s.full, "Content-Type": "application/json"}
	for _, r := range []doorRequest{
		{"POST", s.address + "/waha/api/sendVoice", json, `{"chatId":"15550100301@c.us","file":{"url":"` + sound + `"},"convert":true}`},
		{"POST", s.address + "/waha/api/sendVoice", json, `{"chatId":"15550100301@c.us","file":{"data":"` + data + `","mimetype":"audio/wav"}}`},
		{"POST", s.address + "/evolution/message/sendWhatsAppAudio/bridged", json, `{"number":"15550100301","audio":"` + sound + `"}`},
		{"POST", s.address + "/evolution/message/sendWhatsAppAudio/bridged", json, `{"number":"15550100301","audio":"` + data + `"}`},
		{"POST", s.address + "/cloud/v21.0/" + cloudAccount + "/messages", json, `{"to":"15550100301","type":"audio","audio":{"link":"` + sound + `","voice":true}}`},
	} {
		s.friend.Forget()
		resp, answer := s.ask(t, r)
		if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %d %v", r.address, resp.StatusCode, answer)
		}
		got := must(s.friend.Received(within(t), func(got *simnet.Received) bool { return got.Message.Message.GetAudioMessage() != nil }))(t)
		isVoiceNote(t, s.friend, got, 2)
	}
}
