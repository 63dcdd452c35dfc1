package bounds

import (
	"bytes"
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestFigures_Disk has a limited token fill the disk with imports, with the shipped quota on a large disk,
// and up to the reserve on a small one.
func TestFigures_Disk(t *testing.T) {
	if !*figures {
		t.Skip("they are printed with -figures")
	}
	for name, size := range map[string]int{"a disk of 200 MB": 200, "a disk of 4 GB": 4000} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := syscall.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=700", size)); err != nil {
				t.Skipf("no disk can be mounted: %v", err)
			}
			t.Cleanup(func() {
				if err := syscall.Unmount(dir, 0); err != nil {
					t.Errorf("unmount: %v", err)
				}
			})
			network, owner := NewOwner(t, simnet.PhoneOptions{})
			friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
			p := StartBridge(t, network, "DATA_DIR="+dir+"/data", "LOG_LEVEL=info")
			defer func() { // before its disk goes
				if p.Running() {
					p.Stop()
				}
			}()
			Pair(t, p, owner)
			fillDisk(t, p, friend)
		})
	}
}

// fillDisk imports small archives with large files, until the import of one is refused, and shows that
// BRIDGE_TOKEN sends and revokes the token then.
func fillDisk(t *testing.T, p *Process, friend *simnet.Phone) {
	made := Must(p.API.CreateToken(Within(t), client.NewToken{Name: "manager", Scopes: []bridge.Scope{bridge.ScopeRead, bridge.ScopeManage}}))(t)
	p.Secrets = append(p.Secrets, made.Secret)
	api := client.New("http://"+p.Address, made.Secret)
	defer api.Close()
	var zips [][]byte
	for i := range 4 {
		var files []exporttest.Say
		for n := range 100 {
			name := fmt.Sprintf("DOC-20250113-WA%02d%02d.bin", i, n)
			files = append(files, exporttest.Say{At: time.Date(2025, 1, 13, 10, n/60, n%60, 0, time.UTC), Who: "Anna", File: name, Data: append([]byte(name), make([]byte, 1<<20)...)})
		}
		zips = append(zips, exporttest.LocaleOf("de").Zip(t, exporttest.Android, files))
	}
	costs(p, t, fmt.Sprintf("four imports of %d KB", len(zips[0])>>10), func() {
		for i, zip := range zips {
			done, err := api.ImportChat(Within(t), client.ChatExport{Chat: fmt.Sprint("Files ", i), Timezone: "UTC", FileName: "files.zip"}, bytes.NewReader(zip))
			for err == nil && done.State == bridge.ImportRunning {
				done, err = api.Import(Within(t), done.ID)
			}
			t.Logf("import %d: %s, %d files, %v", i+1, done.State, done.Media, err)
		}
	})
	var disk syscall.Statfs_t
	if err := syscall.Statfs(p.Env["DATA_DIR"], &disk); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MB of the disk are free", int64(disk.Bavail)*disk.Bsize>>20) //nolint:unconvert // it has another type elsewhere
	p.Post("/api/messages/send", Object{"jid": friend.PN().String(), "text": "on a full disk"}).Want(http.StatusOK)
	Must(friend.ReceivedText(Within(t), "on a full disk"))(t)
	if err := p.API.RevokeToken(Within(t), made.ID); err != nil {
		t.Errorf("the revocation: %v", err)
	}
	if _, err := api.Status(Within(t)); bridge.CodeOf(err) != bridge.CodeUnauthorized {
		t.Errorf("the revoked token opens the API: %v", err)
	}
	t.Log("BRIDGE_TOKEN sends, and revokes the token")
}
