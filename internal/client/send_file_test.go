package client_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

func TestSendFile_StreamsTheForm(t *testing.T) {
	t.Parallel()
	var got []string
	c := handled(func(w http.ResponseWriter, r *http.Request) {
		parts, err := r.MultipartReader()
		if err != nil {
			t.Error(err)
			return
		}
		for {
			part, err := parts.NextPart()
			if err != nil {
				break
			}
			value, _ := io.ReadAll(part)
			got = append(got, part.FormName()+"="+string(value)+part.FileName())
		}
		got = append(got, r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, `{"ok":true,"msgId":"M1","chatJid":"15550100301@s.whatsapp.net"}`)
	})
	upload := client.Upload{To: grace, FileName: "a \"b\"\x1b\r.txt", Caption: "hello", PTT: true, Convert: true, QuotedMsgID: "Q1", QuotedChatJID: club, Type: bridge.MediaDocument}
	sent, err := c.SendFile(t.Context(), upload, strings.NewReader("bytes"), "key")
	if err != nil || sent.ID != "M1" || sent.Chat != grace {
		t.Errorf("%+v, %v", sent, err)
	}
	want := `jid=` + string(grace) + `|type=document|caption=hello|quotedMsgId=Q1|quotedChatJid=` + string(club) + `|ptt=true|convert=true|file=bytesa "b".txt|key|Bearer ` + token
	if all := strings.Join(got, "|"); all != want {
		t.Errorf("got  %s\nwant %s", all, want)
	}
}

// A refusal ends the reading of the file; the error is the bridge's.
func TestSendFile_RefusedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	c := handled(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"error":"sending is switched off","code":"send_disabled"}`)
	})
	_, err := c.SendFile(t.Context(), client.Upload{To: grace, FileName: "x"}, endless{}, "")
	if bridge.CodeOf(err) != bridge.CodeSendDisabled {
		t.Errorf("error %v", err)
	}
}

// A file that cannot be read is not sent.
func TestSendFile_AFileThatBreaksOff(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	c := handled(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err == nil {
			t.Error("the body ended well")
		}
		w.WriteHeader(http.StatusBadRequest)
	})
	if _, err := c.SendFile(t.Context(), client.Upload{To: grace, FileName: "x"}, io.MultiReader(strings.NewReader("x"), failing{broken}), ""); err == nil {
		t.Error("it was sent")
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
