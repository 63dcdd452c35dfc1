package bounds

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/agent"
	"bridged/internal/simnet"
)

// figures prints what greedy callers cost, for the table in docs/reliability.md:
//
//	go test ./internal/e2e/bounds -run TestFigures -figures -v
var figures = flag.Bool("figures", false, "print what greedy callers cost the program in memory, processor time and disk")

// clockTicks is the unit of /proc/<pid>/stat, in a second.
const clockTicks = 100

// processor returns the processor's time of the program and of its children that have ended.
func processor(p *Process, t *testing.T) time.Duration {
	t.Helper()
	stat := string(Must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Cmd.Process.Pid)))(t))
	ticks := 0
	for _, field := range strings.Fields(stat[strings.LastIndex(stat, ")"):])[12:16] {
		ticks += Must(strconv.Atoi(field))(t)
	}
	return time.Duration(ticks) * time.Second / clockTicks
}

// stored returns the size of the files in the data directory.
func stored(p *Process, t *testing.T) (sum int64) {
	t.Helper()
	err := filepath.Walk(p.Env["DATA_DIR"], func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil // a file may go meanwhile
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// costs prints what a part of a test costs the program.
func costs(p *Process, t *testing.T, what string, do func()) {
	t.Helper()
	disk, computed, began := stored(p, t), processor(p, t), time.Now()
	p.ResetPeak(t)
	do()
	t.Logf("%s: %d MB of memory, %.1f s of the processor, %+d MB of disk, in %.1f s", what, p.Peak(t)>>20, (processor(p, t) - computed).Seconds(), (stored(p, t)-disk)>>20, time.Since(began).Seconds())
}

// childrenPeak returns the most memory that a process has which the program starts, until ended is
// closed.
func childrenPeak(p *Process, ended <-chan struct{}) (most int) {
	for {
		select {
		case <-ended:
			return most
		case <-time.After(time.Millisecond):
		}
		children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.Cmd.Process.Pid))
		for _, file := range children {
			list, _ := os.ReadFile(file) // it may have ended
			for pid := range strings.FieldsSeq(string(list)) {
				status, _ := os.ReadFile("/proc/" + pid + "/status")
				_, line, _ := strings.Cut(string(status), "VmHWM:")
				kilobytes := 0
				_, _ = fmt.Sscan(line, &kilobytes)
				most = max(most, kilobytes<<10)
			}
		}
	}
}

// together runs a call several times at once.
func together(count int, call func(i int)) {
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() { call(i) })
	}
	all.Wait()
}

func TestFigures(t *testing.T) {
	if !*figures {
		t.Skip("they are printed with -figures")
	}
	s := newUnreadScene(t)
	t.Logf("at rest: %d MB", s.Memory(t)>>20)
	chat := bridge.JID(s.Friend.PN().String())
	reader, sender := s.Token(t, "reads", []bridge.JID{chat}, bridge.ScopeRead), s.Token(t, "sends", []bridge.JID{chat}, bridge.ScopeRead, bridge.ScopeSend)
	post := func(token, path, body string) int {
		return s.SendAnew(t, fmt.Sprintf(asPost(path, body), "Host: bridged\r\n"+foreignHeader(token)))
	}
	t.Run("bodies", func(t *testing.T) {
		body := `{"type":"contacts","contacts":[{}` + strings.Repeat(",{}", 349_000) + `]}`
		for name, token := range map[string]string{"without the scope": reader, "with the scope": sender} {
			for _, atOnce := range []int{1, 4} {
				costs(s.CompatScene.Process, t, fmt.Sprintf("%d bodies of a megabyte at the Cloud API, %s", atOnce, name), func() {
					together(atOnce, func(int) { post(token, "/cloud/v21.0/"+s.Owner.PN().User+"/messages", body) })
				})
			}
		}
	})
	t.Run("lists", func(t *testing.T) {
		find := fmt.Sprintf(asPost("/evolution/chat/findMessages/bridged", `{"where":{"key":{"remoteJid":"`+chat.User()+`","fromMe":false}},"offset":1000}`), "Host: bridged\r\n"+foreignHeader(reader))
		costs(s.CompatScene.Process, t, "one list of Evolution, read", func() { drain(s.CompatScene.Process, t, find) })
		waha := "GET /waha/api/default/chats/" + chat.User() + "@c.us/messages?limit=120 HTTP/1.1\r\nHost: bridged\r\n" + foreignHeader(reader) + "\r\n\r\n"
		costs(s.CompatScene.Process, t, "one list of WAHA with limit=120, read", func() { drain(s.CompatScene.Process, t, waha) })
		own := fmt.Sprintf("GET %s?limit=1000 HTTP/1.1\r\nHost: bridged\r\n%s\r\n\r\n", Path("/api/messages/individual/%s", s.Friend.PN()), foreignHeader(reader))
		for name, c := range map[string]struct {
			request string
			count   int
		}{"lists of Evolution": {find, 10}, "pages of the API": {own, 200}} {
			costs(s.CompatScene.Process, t, fmt.Sprintf("%d %s, not read", c.count, name), func() {
				for range c.count {
					defer sendWithoutReading(s.CompatScene.Process, t, c.request).Close()
				}
				for range 3 { // BRIDGE_TOKEN gets through
					if status := s.SendAnew(t, strings.ReplaceAll(own, reader, TestToken)); status != http.StatusOK {
						t.Errorf("BRIDGE_TOKEN: %d", status)
					}
				}
			})
		}
	})
	t.Run("read_file", func(t *testing.T) {
		text := []byte(strings.Repeat("0123456789abcde\n", 10<<20/16))
		id := Must(s.Friend.SendDocument(Within(t), s.Owner.PN(), simnet.Media{Data: text, Mimetype: "text/plain", FileName: "big.txt"}))(t)
		if err := s.Device.WaitAcknowledged(Within(t), id); err != nil {
			t.Fatal(err)
		}
		for _, calls := range []int{1, 16, 40} {
			costs(s.CompatScene.Process, t, fmt.Sprintf("%d calls of read_file of 10 MiB", calls), func() {
				together(calls, func(i int) {
					agent := Single{T: t, At: s.Address, Token: reader, Capabilities: `{}`}
					if got := agent.Call("read_file", Fields{"arguments": Fields{"jid": chat, "msgId": id, "offset": i * 200_000}}); got["isError"] == true {
						t.Errorf("a call: %.300v", got)
					}
				})
			})
		}
	})
	t.Run("documents", func(t *testing.T) {
		for name, document := range hostilePDFs(t) {
			id := Must(s.Friend.SendDocument(Within(t), s.Owner.PN(), simnet.Media{Data: document, Mimetype: "application/pdf", FileName: "x.pdf"}))(t)
			if err := s.Device.WaitAcknowledged(Within(t), id); err != nil {
				t.Fatal(err)
			}
			costs(s.CompatScene.Process, t, fmt.Sprintf("read_file of %s, %d bytes", name, len(document)), func() {
				ended, peak := make(chan struct{}), make(chan int)
				go func() { peak <- childrenPeak(s.CompatScene.Process, ended) }()
				got := Single{T: t, At: s.Address, Token: reader, Capabilities: `{}`}.Call("read_file", Fields{"arguments": Fields{"jid": chat, "msgId": id}})
				close(ended)
				t.Logf("the process that reads it takes %d MB: %.200s", <-peak>>20, TextOf(got))
			})
		}
	})
	t.Run("uploads", func(t *testing.T) { uploadsCost(t, s) })
	t.Run("imports", func(t *testing.T) { importsCost(t, s) })
}

// uploadsCost has tokens that a token made fill the room for uploads with files of a byte.
func uploadsCost(t *testing.T, s unreadScene) {
	maker := Must(s.API.CreateToken(Within(t), client.NewToken{Name: "maker", Scopes: []bridge.Scope{bridge.ScopeSend, bridge.ScopeManage}}))(t)
	s.Secrets = append(s.Secrets, maker.Secret)
	form := "--b\r\nContent-Disposition: form-data; name=\"type\"\r\n\r\ntext/plain\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nx\r\n--b--\r\n"
	upload := func(token string) int {
		req := Must(http.NewRequestWithContext(Within(t), http.MethodPost, "http://"+s.Address+"/cloud/v21.0/"+s.Owner.PN().User+"/media", strings.NewReader(form)))(t)
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		resp := Must(http.DefaultClient.Do(req))(t)
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	costs(s.CompatScene.Process, t, "uploads of one token tree", func() {
		stored := 0
		for stored < 5000 && upload(maker.Secret) == http.StatusOK {
			stored++
		}
		t.Logf("%d files of one byte are taken; BRIDGE_TOKEN's upload: %d", stored, upload(TestToken))
	})
	if err := s.API.RevokeToken(Within(t), maker.ID); err != nil {
		t.Fatal(err)
	}
	Eventually(t, func() error {
		if left := Must(filepath.Glob(filepath.Join(s.Env["DATA_DIR"], "uploads", "*")))(t); len(left) > 4 {
			return fmt.Errorf("%d files are left after the revocation", len(left))
		}
		return nil
	})
}

// importsCost imports exports that cost as much as they can.
func importsCost(t *testing.T, s unreadScene) {
	chat := bridge.JID(s.Friend.PN().String())
	manager := Must(s.API.CreateToken(Within(t), client.NewToken{Name: "manager", Scopes: []bridge.Scope{bridge.ScopeRead, bridge.ScopeManage}}))(t)
	s.Secrets = append(s.Secrets, manager.Secret)
	api := client.New("http://"+s.Address, manager.Secret)
	defer api.Close()
	imported := func(name, into string, export []byte) {
		done, err := api.ImportChat(Within(t), client.ChatExport{Chat: into, Timezone: "UTC", FileName: name}, bytes.NewReader(export))
		for err == nil && done.State == bridge.ImportRunning {
			done, err = api.Import(Within(t), done.ID)
		}
		t.Logf("%s of %d KB: %s, %v", name, len(export)>>10, done.State, err)
	}
	hostile := Must(s.Friend.SendText(Within(t), s.Owner.PN(), strings.Repeat("@"+s.Owner.PN().User+" aaa ", 3800), simnet.Mentioning(s.Owner.PN())))(t)
	if err := s.Device.WaitAcknowledged(Within(t), hostile); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	costs(s.CompatScene.Process, t, "the import of a message with 3,800 mentions", func() {
		imported("mentions.txt", string(chat), []byte(now.Format("02.01.06, 15:04")+" - Sam: "+strings.Repeat("@Ada aaa ", 3800)+"b\n"))
	})
	lines := func(size int) []byte {
		var text bytes.Buffer
		for n := 0; text.Len() < size; n++ {
			fmt.Fprintf(&text, "%s - Anna: %s\n", time.Unix(1_500_000_000+int64(60*n), 0).UTC().Format("02.01.06, 15:04"), strings.Repeat("x", 60_000))
		}
		return exporttest.Zip(t, exporttest.Entry{Name: "WhatsApp Chat with Anna.txt", Data: text.Bytes()})
	}
	long := lines(100 << 20)
	costs(s.CompatScene.Process, t, "four imports of long texts", func() {
		for i := range 4 {
			imported("long.zip", fmt.Sprint("Long ", i), long)
		}
	})
	var short bytes.Buffer
	for n := 0; short.Len() < 120<<20; n++ {
		fmt.Fprintf(&short, "01.01.24, 10:00 - Anna: %d\n", n%7)
	}
	zip := exporttest.Zip(t, exporttest.Entry{Name: "WhatsApp Chat with Anna.txt", Data: short.Bytes()})
	costs(s.CompatScene.Process, t, fmt.Sprintf("an import of %d KB whose token is revoked", len(zip)>>10), func() {
		computed := processor(s.CompatScene.Process, t)
		go func() {
			_, _ = api.ImportChat(Within(t), client.ChatExport{Chat: "Short", Timezone: "UTC", FileName: "short.zip"}, bytes.NewReader(zip))
		}()
		Eventually(t, func() error {
			if processor(s.CompatScene.Process, t)-computed < time.Second {
				return errors.New("it has not begun")
			}
			return nil
		})
		if err := s.API.RevokeToken(Within(t), manager.ID); err != nil {
			t.Fatal(err)
		}
	})
	costs(s.CompatScene.Process, t, "the ten seconds after it", func() { time.Sleep(10 * time.Second) })
}

// hostilePDFs returns documents of about 4.8 KB that take as much as they can.
func hostilePDFs(t *testing.T) map[string][]byte {
	packed := func(unit string, count, times int) string {
		var out bytes.Buffer
		var w io.WriteCloser = zlib.NewWriter(&out)
		writers := []io.WriteCloser{w}
		for range times - 1 {
			w = zlib.NewWriter(w)
			writers = append(writers, w)
		}
		buffered := bufio.NewWriterSize(w, 1<<20)
		for range count {
			if _, err := buffered.WriteString(unit); err != nil {
				t.Fatal(err)
			}
		}
		if err := buffered.Flush(); err != nil {
			t.Fatal(err)
		}
		for i := range writers {
			if err := writers[len(writers)-1-i].Close(); err != nil {
				t.Fatal(err)
			}
		}
		return out.String()
	}
	pdf := func(pages, content, filter string) []byte {
		var b bytes.Buffer
		var offsets []int
		object := func(text string) {
			offsets = append(offsets, b.Len())
			fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(offsets), text)
		}
		b.WriteString("%PDF-1.4\n%" + strings.Repeat(" ", max(1, 4100-len(content)-len(pages))) + "\n")
		object("<< /Type /Catalog /Pages 2 0 R >>")
		object(pages)
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>")
		object(fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(content), filter, content))
		object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
		start := b.Len()
		fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
		for _, offset := range offsets {
			fmt.Fprintf(&b, "%010d 00000 n \n", offset)
		}
		fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, start)
		return b.Bytes()
	}
	const one, twice = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", "/Filter [/FlateDecode /FlateDecode]"
	return map[string][]byte{
		"a PDF of one endless string": pdf(one, packed("((((((((((((((((", 300<<16, 2), twice),
		"a PDF of an endless array":   pdf(one, packed("[1 ", 60<<20, 2), twice),
		"a PDF of many texts":         pdf(one, packed("BT /F1 18 Tf (aaaaaaaa) Tj ET\n", 10<<20, 2), twice),
		"a PDF of names":              pdf(one, packed("/a ", 100<<20, 2), twice),
		"a PDF of a page many times":  pdf("<< /Type /Pages /Kids ["+strings.Repeat("3 0 R ", 500)+"] /Count 500 >>", packed("BT /F1 18 Tf (aaaaaaaa) Tj ET\n", 100_000, 1), "/Filter /FlateDecode"),
		"a PDF of open dictionaries":  pdf(one, packed("<</a", 60<<20, 2), twice),
		"a PDF packed three times":    pdf(one, packed("((((((((((((((((", 1<<26, 3), "/Filter [/FlateDecode /FlateDecode /FlateDecode]"),
	}
}

// drain makes a request and reads the answer.
func drain(p *Process, t *testing.T, request string) {
	t.Helper()
	conn := Must(net.Dial("tcp", p.Address))(t)
	defer conn.Close()
	Must(io.WriteString(conn, strings.Replace(request, "Host: bridged\r\n", "Host: bridged\r\nConnection: close\r\n", 1)))(t)
	size := Must(io.Copy(io.Discard, conn))(t)
	t.Logf("an answer of %d KB", size>>10)
}
