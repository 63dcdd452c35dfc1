package formats

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
	. "bridged/internal/e2e/harness"
	"bridged/internal/media/mediatest"
	"bridged/internal/simnet"
)

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
	file := Must(phone.Download(Within(t), got))(t)
	if !bytes.HasPrefix(file, []byte("OggS")) || !bytes.Contains(file[:64], []byte("OpusHead")) || uint64(len(file)) != audio.GetFileLength() {
		t.Errorf("%d bytes arrived, which begin %q", len(file), file[:min(len(file), 64)])
	}
}

// Any sound is a voice note for the phones, by whatever way it is sent, and once under one key.
func TestSounds_BecomeVoiceNotes(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback, WithFFmpeg(t))
	to := bridge.JID(c.Anna.PN().String())
	web := NewWebsite(t)
	arrives := func(id simnet.MessageID) *simnet.Received { return Must(c.Anna.ReceivedID(Within(t), id))(t) }

	byURL := Object{"jid": to, "url": web.Has("/tone.wav", Tone(3)), "type": "audio", "ptt": true}
	id := SentID(t, c.Bridge.Post("/api/messages/send-media", byURL, "Idempotency-Key", "by-URL"))
	isVoiceNote(t, c.Anna, arrives(id), 3)
	download := bridge.DownloadPath(to, id)
	c.Bridge.Answers("/api/messages/media-info/"+strings.TrimPrefix(download, "/api/messages/media/"), Object{
		"chatJid": to, "msgId": id,
		"media": Object{
			"type": "audio", "mimetype": "audio/ogg; codecs=opus", "durationSec": 3, "ptt": true, "viewOnce": false, "size": arrives(id).Message.Message.GetAudioMessage().GetFileLength(),
			"downloadUrl": download,
		},
	})
	named := SentID(t, c.Bridge.Post("/api/messages/send-media", With(byURL, Object{"mimetype": "audio/wav"})))
	isVoiceNote(t, c.Anna, arrives(named), 3)
	upload := func(key string) client.Sent {
		return Must(c.Bridge.API.SendFile(Within(t), client.Upload{To: to, FileName: "tone", PTT: true}, bytes.NewReader(Tone(2)), key))(t)
	}
	sent := upload("as-a-form")
	isVoiceNote(t, c.Anna, arrives(sent.ID), 2)
	voice := demo.Voice(2)
	kept := Must(c.Bridge.API.SendFile(Within(t), client.Upload{To: to, FileName: "voice", PTT: true}, bytes.NewReader(voice), ""))(t)
	if file := Must(c.Anna.Download(Within(t), arrives(kept.ID)))(t); !bytes.Equal(file, voice) {
		t.Error("a voice note was converted")
	}
	plain := arrives(SentID(t, c.Bridge.Post("/api/messages/send-media", With(byURL, Object{"ptt": false})))).Message.Message.GetAudioMessage()
	if plain.GetMimetype() != "audio/mp4" || plain.GetPTT() || plain.GetSeconds() != 3 {
		t.Errorf("a sound that computers refuse, and that is no voice note, arrived as %v", plain)
	}
	for _, bad := range []Object{{"url": web.Has("/list.m3u8", []byte("#EXTM3U\n#EXTINF:3,\nfile:///etc/passwd\n"))}, {"url": web.Has("/words", []byte("just words"))}, {"url": web.Has("/torn", Tone(1)[:44])}} {
		Refused(t, c.Bridge.Post("/api/messages/send-media", With(byURL, bad)), 400, bridge.CodeUnsupportedMedia)
	}

	c.Bridge.Stop()
	c.Bridge.Set("FFMPEG=off")
	c.Bridge.Start()
	c.Bridge.Becomes(bridge.StateOpen)
	if again := SentID(t, c.Bridge.Post("/api/messages/send-media", byURL, "Idempotency-Key", "by-URL")); again != id {
		t.Errorf("the repeated call sent %s", again)
	}
	if again := upload("as-a-form"); again.ID != sent.ID || !again.Replayed {
		t.Errorf("the repeated upload sent %+v", again)
	}
	Refused(t, c.Bridge.Post("/api/messages/send-media", With(byURL, Object{"mimetype": "audio/wav"})), 400, bridge.CodeUnsupportedMedia, "install ffmpeg")
	Refused(t, c.Bridge.Post("/api/messages/send-media", byURL), 400, bridge.CodeUnsupportedMedia, "install ffmpeg")
	c.Bridge.LeavesNoFile()
}

// A film is converted if computers refuse it, and where that is asked for and needed.
func TestSounds_FilmsAreConverted(t *testing.T) {
	t.Parallel()
	setting := WithFFmpeg(t)
	c := PairedCast(t, FetchesLoopback, setting)
	web := NewWebsite(t)
	webm := filepath.Join(t.TempDir(), "film.webm")
	makes := exec.CommandContext(t.Context(), strings.TrimPrefix(setting, "FFMPEG="), "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc=s=1600x900:d=2:r=2", "-c:v", "libvpx", "-deadline", "realtime", webm)
	if out, err := makes.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	body := Object{"jid": c.Anna.PN().String(), "url": web.Has("/film.webm", Must(os.ReadFile(webm))(t)), "type": "video"}
	var file []byte
	for _, isAsked := range []bool{false, true} {
		got := Must(c.Anna.ReceivedID(Within(t), c.SendsMedia(t, With(body, Object{"convert": isAsked}))))(t)
		video := got.Message.Message.GetVideoMessage()
		if video.GetMimetype() != "video/mp4" || video.GetWidth() != 1280 || video.GetHeight() != 720 || video.GetSeconds() != 2 {
			t.Errorf("arrived as %v", got.Message.Message)
		}
		file = Must(c.Anna.Computer().Open(Within(t), got))(t)
		if !bytes.Contains(file, []byte("avc1")) {
			t.Errorf("%d bytes arrived, which begin %q", len(file), file[:min(len(file), 64)])
		}
	}
	again := c.SendsMedia(t, With(body, Object{"url": web.Has("/film.mp4", file), "convert": true}))
	if same := Must(c.Anna.Download(Within(t), Must(c.Anna.ReceivedID(Within(t), again))(t)))(t); !bytes.Equal(same, file) {
		t.Error("a film that the phones play was converted again")
	}
	Refused(t, c.Bridge.Post("/api/messages/send-media", With(body, Object{"type": "image", "convert": true})), 400, bridge.CodeInvalid, "convert is for video only")
	c.Bridge.LeavesNoFile()
}

// A form whose caller does not wait for its converting is sent all the same, and once under its key.
func TestSounds_AreSentWhenTheirCallerLeaves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, started, goesOn := filepath.Join(dir, "ffmpeg"), filepath.Join(dir, "started"), filepath.Join(dir, "goes-on")
	script := fmt.Sprintf("#!/bin/sh\n: > %s\nwhile [ ! -e %s ]; do sleep 0.02; done\nexec %s \"$@\"\n", started, goesOn, strings.TrimPrefix(WithFFmpeg(t), "FFMPEG="))
	mediatest.WriteProgram(t, program, []byte(script))
	c := PairedCast(t, "FFMPEG="+program)
	upload := func(ctx context.Context) (client.Sent, error) {
		return c.Bridge.API.SendFile(ctx, client.Upload{To: bridge.JID(c.Anna.PN().String()), FileName: "tone", PTT: true}, bytes.NewReader(Tone(2)), "once")
	}
	hasty, leave := context.WithCancel(Within(t))
	left := make(chan error, 1)
	go func() {
		_, err := upload(hasty)
		left <- err
	}()
	Eventually(t, func() error {
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
	got := Must(c.Anna.Received(Within(t), func(got *simnet.Received) bool { return got.Message.Message.GetAudioMessage() != nil }))(t)
	isVoiceNote(t, c.Anna, got, 2)
	Eventually(t, func() error { // while the first call ends, its key is busy
		again, err := upload(Within(t))
		if err == nil && (again.ID != got.Message.Info.ID || !again.Replayed) {
			t.Fatalf("the repeated call sent %+v", again)
		}
		return err
	})
	c.Bridge.LeavesNoFile()
}

// A bridge that is stopped, or killed, ends what converts; its caller is told.
func TestSounds_NothingConvertsOnWithoutTheBridge(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("processes die with the bridge on Linux")
	}
	for name, end := range map[string]func(*Process){
		"stopped": (*Process).Stop, "stopped, with a form": (*Process).Stop,
		"killed": func(p *Process) { p.Signal(syscall.SIGKILL); <-p.Exited },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			fake, started := filepath.Join(dir, "ffmpeg"), filepath.Join(dir, "started")
			script := fmt.Sprintf("#!/bin/sh\necho $$ > %[1]s.new; mv %[1]s.new %[1]s; exec sleep 1000\n", started)
			mediatest.WriteProgram(t, fake, []byte(script))
			c := PairedCast(t, FetchesLoopback, "FFMPEG="+fake)
			url := NewWebsite(t).Has("/tone.wav", Tone(1))
			answered := make(chan apitest.Response, 1)
			go func() {
				if name == "killed" { // nobody answers then
					_, _ = c.Bridge.RawPost(t.Context(), "/api/messages/send-media", fmt.Sprintf(`{"jid":"%s","url":"%s","type":"audio","ptt":true}`, c.Anna.PN(), url), "k")
					close(answered)
					return
				}
				if name == "stopped, with a form" {
					_, err := c.Bridge.API.SendFile(t.Context(), client.Upload{To: bridge.JID(c.Anna.PN().String()), FileName: "x", PTT: true}, bytes.NewReader(Tone(1)), "")
					if code := bridge.CodeOf(err); code != bridge.CodeNotConnected {
						t.Errorf("the upload was answered %v", err)
					}
					close(answered)
					return
				}
				answered <- c.Bridge.Post("/api/messages/send-media", Object{"jid": c.Anna.PN().String(), "url": url, "type": "audio", "ptt": true})
			}()
			var pid string
			Eventually(t, func() error {
				data, err := os.ReadFile(started)
				pid = strings.TrimSpace(string(data))
				return err
			})
			end(c.Bridge)
			if answer, isAnswered := <-answered; isAnswered {
				Refused(t, answer, http.StatusServiceUnavailable, bridge.CodeNotConnected, "stopping")
			}
			Eventually(t, func() error {
				stat, err := os.ReadFile("/proc/" + pid + "/stat")
				if err == nil && !bytes.Contains(stat, []byte(") Z ")) {
					return fmt.Errorf("process %s still runs", pid)
				}
				return nil
			})
			if name != "killed" {
				c.Bridge.LeavesNoFile()
			}
		})
	}
}

// The compatibility APIs also convert audio to voice notes.
func TestSounds_ThroughCompatibilityAPIs(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t, "COMPAT=waha,evolution,cloud", FetchesLoopback, WithFFmpeg(t))
	sound := NewWebsite(t).Has("/tone.wav", Tone(2))
	data := InBase64(Tone(2))
	json := map[string]string{"X-Api-Key": s.Full, "apikey": s.Full, "Authorization": "Bearer " + s.Full, "Content-Type": "application/json"}
	for _, r := range []CompatRequest{
		{Method: "POST", Address: s.Address + "/waha/api/sendVoice", Header: json, Body: `{"chatId":"15550100301@c.us","file":{"url":"` + sound + `"},"convert":true}`},
		{Method: "POST", Address: s.Address + "/waha/api/sendVoice", Header: json, Body: `{"chatId":"15550100301@c.us","file":{"data":"` + data + `","mimetype":"audio/wav"}}`},
		{Method: "POST", Address: s.Address + "/evolution/message/sendWhatsAppAudio/bridged", Header: json, Body: `{"number":"15550100301","audio":"` + sound + `"}`},
		{Method: "POST", Address: s.Address + "/evolution/message/sendWhatsAppAudio/bridged", Header: json, Body: `{"number":"15550100301","audio":"` + data + `"}`},
		{Method: "POST", Address: s.Address + "/cloud/v21.0/" + CloudAccount + "/messages", Header: json, Body: `{"to":"15550100301","type":"audio","audio":{"link":"` + sound + `","voice":true}}`},
	} {
		s.Friend.Forget()
		resp, answer := s.Ask(t, r)
		if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %d %v", r.Address, resp.StatusCode, answer)
		}
		got := Must(s.Friend.Received(Within(t), func(got *simnet.Received) bool { return got.Message.Message.GetAudioMessage() != nil }))(t)
		isVoiceNote(t, s.Friend, got, 2)
	}
}
