package crashes

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestClient_StreamSurvivesKills follows the events of a bridge that is killed
// repeatedly: no event is lost or doubled.
func TestClient_StreamSurvivesKills(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network, OwnAddress())
	p.StaysAtItsAddress()
	api := client.New("http://"+p.Address, TestToken)
	t.Cleanup(api.Close)
	Pair(t, p, owner)

	ctx, cancel := context.WithCancel(Within(t))
	var got []string
	ended := make(chan error, 1)
	enough := make(chan struct{}, 1)
	const each = 3
	go func() {
		for event, err := range api.Events(ctx, client.EventQuery{After: "0", Types: []bridge.EventType{bridge.EventMessageCreated}}) {
			if err != nil {
				ended <- err
				return
			}
			if got = append(got, event.Message.ID); len(got)%each == 0 {
				enough <- struct{}{}
			}
		}
		ended <- nil
	}()
	var want []string
	for round := range 4 {
		if round > 0 {
			p.Kill()
		}
		for n := range each {
			want = append(want, Must(friend.SendText(Within(t), owner.PN(), fmt.Sprint("message ", n)))(t))
		}
		if round > 0 {
			p.Start()
		}
		select {
		case <-enough:
		case err := <-ended:
			t.Fatalf("the stream ended: %v", err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestClient_OverTheRealProgram sends with a key and downloads a file through the
// typed client.
func TestClient_OverTheRealProgram(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback)
	anna := bridge.JID(c.Anna.PN().String())
	text := client.Text{To: anna, Text: "once"}
	first := Must(c.Bridge.API.Send(Within(t), text, "key-of-the-client"))(t)
	again := Must(c.Bridge.API.Send(Within(t), text, "key-of-the-client"))(t)
	if first.Replayed || !again.Replayed || first.ID != again.ID || first.Chat != anna {
		t.Errorf("sent %+v, then %+v", first, again)
	}
	paper := []byte("%PDF-1.4 the words of a paper")
	sent := Must(c.Bridge.API.Send(Within(t), client.File{To: anna, URL: NewWebsite(t).Has("/paper.pdf", paper), Type: bridge.MediaDocument, FileName: "paper.pdf"}, ""))(t)
	file, size, err := c.Bridge.API.Download(Within(t), anna, sent.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if data := Must(io.ReadAll(file))(t); !bytes.Equal(data, paper) || size != int64(len(paper)) {
		t.Errorf("downloaded %d bytes of %d: %q", len(data), size, data)
	}
	if info := Must(c.Bridge.API.MediaInfo(Within(t), anna, sent.ID))(t); info.FileName != "paper.pdf" {
		t.Errorf("media %+v", info)
	}
}
