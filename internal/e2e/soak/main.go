// Command soak holds the real program under mixed traffic: messages, files, reactions, edits,
// deletions, votes and receipts in both directions, readers, streams that come and go, a webhook
// receiver that fails now and then, lost connections, and kills at the beginning. It measures the
// process all the while. At the end nothing may be lost or doubled, and neither goroutines nor
// descriptors may have grown.
//
//	go run ./internal/e2e/soak -time 30m -report soak.md
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/traffic"
	"bridged/internal/simnet"
)

var (
	soakTime   = flag.Duration("time", 30*time.Minute, "how long the program is under mixed traffic")
	soakRate   = flag.Int("rate", 10, "messages a second that come in, in addition to everything else")
	soakReport = flag.String("report", "", "the file that the tables are written to; without one they are logged")
)

func main() {
	flag.Parse()
	os.Exit(Program("soak", run))
}

func run(t testing.TB) {
	ctx, cancel := context.WithTimeout(t.Context(), *soakTime+10*time.Minute)
	defer cancel()
	s := newSoak(ctx, t)
	work, stop := context.WithTimeout(ctx, *soakTime)
	defer stop()
	var actors sync.WaitGroup
	for _, act := range actorsOf(s) {
		actors.Go(func() { act(work) })
	}
	killSome(work, s)
	s.Life.Begin()
	watch(work, s)
	actors.Wait()
	settle(s)
	s.Compare(ctx)
	s.Life.Rest(ctx, s.Bridge, *soakTime/60)
	report := report(s)
	if *soakReport == "" {
		t.Log(report)
	} else if err := os.WriteFile(*soakReport, []byte(report), 0o600); err != nil {
		t.Error(err)
	}
	s.Life.Judge(t)
}

func newSoak(ctx context.Context, t testing.TB) *Soak {
	t.Helper()
	s := &Soak{T: t, Network: NewNetwork(t), Began: time.Now(), Posts: NewFlakyReceiver(t), Web: NewWebsite(t), Life: &SoakLife{}}
	newcomer := func(number, name string) *simnet.Phone {
		return Must(s.Network.NewPhone(ctx, simnet.PhoneOptions{Number: number, Name: name}))(t)
	}
	s.Owner, s.Lee, s.Mia = newcomer("15550100200", "Alex"), newcomer("15550100303", "Lee"), newcomer("15550100304", "Mia")
	sam, kim := newcomer("15550100301", "Sam"), newcomer("15550100302", "Kim")
	group := Must(s.Owner.CreateGroup(ctx, simnet.GroupOptions{Subject: "Load", Members: []*simnet.Phone{sam, kim}}))(t)
	s.Load = &Traffic{T: t, Owner: s.Owner, Chats: []*TrafficChat{
		{JID: bridge.PhoneJID(sam.Number()), To: s.Owner.PN(), Writers: []*simnet.Phone{sam}},
		{JID: bridge.PhoneJID(kim.Number()), To: s.Owner.LID(), Writers: []*simnet.Phone{kim}},
		{JID: bridge.JID(group.JID().String()), To: group.JID(), Writers: []*simnet.Phone{sam, kim}},
	}}
	s.Files.URL = s.Web.Has("/plan.pdf", demo.PDF())
	s.Bridge = StartBridge(t, s.Network, "LOG_LEVEL=info", FetchesLoopback, "WEBHOOK_URL="+s.Posts.URL, "WEBHOOK_SECRET=whsec_"+strings.Repeat("c29h", 8), "MEDIA_CACHE_BYTES=4000000")
	s.Calls = NewSoakClient(t, s.Bridge.Address)
	s.Device = Pair(t, s.Bridge, s.Owner)
	s.Lee.OnMessage(s.ReadByLee)
	for n := range s.Load.Chats { // readers find every chat from the beginning
		if err := s.Load.Write(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Device.WaitQuiet(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// actorsOf returns the functions that run concurrently until their context ends.
func actorsOf(s *Soak) []func(context.Context) {
	actors := []func(context.Context){
		func(ctx context.Context) { s.Load.Run(ctx, *soakRate) },
		s.SendTexts, s.SendKinds, s.ExchangeFiles, s.AskAndVote, s.Follow, s.HangUp,
	}
	for range 2 {
		actors = append(actors, s.Browse)
	}
	for range 4 {
		actors = append(actors, s.ListenNowAndThen)
	}
	return actors
}

// killSome kills the program a few times in the first tenth of the run: later
// measurements are of one life.
func killSome(ctx context.Context, s *Soak) {
	const kills = 3
	for range kills {
		if Pause(ctx, *soakTime/30) != nil {
			return
		}
		s.Bridge.Kill()
		s.Bridge.Start()
		s.Calls.MoveTo(s.Bridge.Address)
		s.Bridge.Becomes(bridge.StateOpen)
		s.Kills++
	}
}

// watch measures the program, and cuts its connection now and then.
func watch(ctx context.Context, s *Soak) {
	ticker := time.NewTicker(max(*soakTime/360, time.Second))
	defer ticker.Stop()
	const everySo = 6 // measurements per cut
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		s.Life.Measure(ctx, s.T, s.Bridge)
		if n%everySo == 0 {
			cut(s)
		}
	}
}

// cut disturbs the connection as networks do.
func cut(s *Soak) {
	s.Cuts++
	switch rand.IntN(6) {
	case 0:
		s.Device.Freeze()
	case 1:
		s.Device.CorruptFrames(1)
	case 2:
		s.Device.Duplicate(3)
	case 3:
		s.Device.IgnoreAcks(2)
	default:
		s.Device.Drop()
	}
}

// settle ends all faults and waits until everything sent has arrived.
func settle(s *Soak) {
	s.T.Helper()
	s.Device.ClearFaults()
	logins := s.Device.Counters().Logins
	s.Device.Drop() // unacknowledged stanzas come on the next connection
	if err := s.Device.WaitLogins(Within(s.T), logins+1); err != nil {
		s.T.Fatal(err)
	}
	if err := s.Device.WaitQuiet(Within(s.T)); err != nil {
		s.T.Fatal(err)
	}
	s.Bridge.Becomes(bridge.StateOpen)
}

// report returns the results as Markdown.
func report(s *Soak) string {
	return fmt.Sprintf("%v, %d kills, %d cuts of the connection: %s; answers of the API: %s\n\n%s", *soakTime, s.Kills, s.Cuts, s.Tally(), s.Calls.Answers(), s.Life.Table())
}
