package bounds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
)

// TestFigures_Imports prints what small archives take that unpack to much, and what is computed after an
// import was ended.
func TestFigures_Imports(t *testing.T) {
	if !*figures {
		t.Skip("they are printed with -figures")
	}
	p := StartBridge(t, NewNetwork(t), "LOG_LEVEL=info")
	archive := func(size int, line func(n int) string) []byte {
		var text bytes.Buffer
		for n := 0; text.Len() < size; n++ {
			text.WriteString(line(n))
		}
		return exporttest.Zip(t, exporttest.Entry{Name: "WhatsApp Chat with Anna.txt", Data: text.Bytes()})
	}
	line := func(n int) string { return fmt.Sprintf("01.01.24, 10:00 - Anna: %d\n", n%7) }
	t.Logf("at rest: %d MB", p.Memory(t)>>20)
	megabyte := strings.Repeat("x", 1<<20-100)
	for name, zip := range map[string][]byte{
		"texts of a megabyte": archive(190<<20, func(n int) string { return fmt.Sprintf("01.01.24, %02d:%02d - Anna: %s\n", n/60, n%60, megabyte) }),
		"texts of 60 KB": archive(190<<20, func(n int) string {
			return fmt.Sprintf("01.01.24, %02d:%02d - Anna: %s\n", n/60%24, n%60, megabyte[:60_000])
		}),
	} {
		costs(p, t, fmt.Sprintf("an import of %d KB, %s", len(zip)>>10, name), func() {
			done, err := p.API.ImportChat(Within(t), client.ChatExport{Chat: name, Timezone: "UTC", FileName: "chat.zip"}, bytes.NewReader(zip))
			for err == nil && done.State == bridge.ImportRunning {
				done, err = p.API.Import(Within(t), done.ID)
			}
			t.Logf("%s, %v", done.State, err)
		})
	}
	long, short := archive(120<<20, line), archive(10<<20, line) // the short one begins within a few seconds
	for _, end := range []struct {
		name string
		zip  []byte
		do   func(id string, token client.MadeToken, leave func()) error
	}{
		{"its caller leaves", long, func(_ string, _ client.MadeToken, leave func()) error { leave(); return nil }},
		{"its token is revoked", long, func(_ string, token client.MadeToken, _ func()) error { return p.API.RevokeToken(Within(t), token.ID) }},
		{"DELETE", short, func(id string, _ client.MadeToken, _ func()) error {
			_, err := p.API.EndImport(Within(t), id, false)
			return err
		}},
		{"SIGTERM", long, func(string, client.MadeToken, func()) error { p.Signal(syscall.SIGTERM); return nil }},
	} {
		token := Must(p.API.CreateToken(Within(t), client.NewToken{Name: end.name, Scopes: []bridge.Scope{bridge.ScopeRead, bridge.ScopeManage}}))(t)
		p.Secrets = append(p.Secrets, token.Secret)
		api := client.New("http://"+p.Address, token.Secret)
		ctx, leave := context.WithCancel(Within(t))
		computed, id := processor(p, t), ""
		start := func() (bridge.Import, error) {
			return api.ImportChat(ctx, client.ChatExport{Chat: end.name, Timezone: "UTC", FileName: "chat.zip", Async: true}, bytes.NewReader(end.zip))
		}
		if end.name == "DELETE" {
			id = Must(start())(t).ID
		} else {
			go func() { _, _ = start() }() // it is ended while it is read
		}
		Eventually(t, func() error {
			if processor(p, t)-computed < 2*time.Second {
				return errors.New("it has not begun")
			}
			return nil
		})
		ended, before := time.Now(), processor(p, t)
		t.Logf("an import of %d KB: %.1f s of the processor before %s", len(end.zip)>>10, (before - computed).Seconds(), end.name)
		if err := end.do(id, token, leave); err != nil {
			t.Error(err)
		}
		answered := time.Since(ended)
		if end.name == "SIGTERM" {
			<-p.Exited
			t.Logf("%s: ended after %.1f s, %.1f s of the processor in all", end.name, time.Since(ended).Seconds(), (p.Cmd.ProcessState.UserTime() + p.Cmd.ProcessState.SystemTime() - before).Seconds())
		} else {
			time.Sleep(5 * time.Second)
			t.Logf("%s: answered after %.1f s, %.1f s of the processor in the next 5 s", end.name, answered.Seconds(), (processor(p, t) - before).Seconds())
		}
		leave()
		api.Close()
	}
}
