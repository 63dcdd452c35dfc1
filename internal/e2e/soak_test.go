package e2e

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
	"bridged/internal/simnet"
)

var (
	soakTime   = flag.Duration("soak", 0, "how long TestSoak keeps the program under mixed traffic; the published figures are of 30m")
	soakRate   = flag.Int("soak.rate", 10, "messages a second that come in during the soak, beside everything else")
	soakReport = flag.String("soak.report", "", "the file that the soak's tables are written to; without one they are logged")
)

// TestSoak keeps the real program under mixed traffic for the duration of -soak:
// messages, files, reactions, edits, deletions, votes and receipts in both
// directions, readers, streams that come and go, a webhook receiver that fails now
// and then, lost connections, and kills at the beginning. It measures the process
// all the while. At the end nothing may be lost or doubled, and neither goroutines
// nor descriptors may have grown.
//
//	go test ./internal/e2e -run TestSoak -soak 30m -soak.report soak.md -timeout 50m
func TestSoak(t *testing.T) {
	if *soakTime == 0 {
		t.Skip("only with -soak")
	}
	ctx, cancel := context.WithTimeout(t.Context(), *soakTime+10*time.Minute)
	defer cancel()
	s := newSoak(ctx, t)
	work, stop := context.WithTimeout(ctx, *soakTime)
	defer stop()
	var actors sync.WaitGroup
	for _, act := range s.actors() {
		actors.Go(func() { act(work) })
	}
	s.killSome(work)
	s.life.begin()
	s.watch(work)
	actors.Wait()
	s.settle()
	s.compare(ctx)
	s.life.rest(ctx, s.bridge)
	report := s.report()
	if *soakReport == "" {
		t.Log(report)
	} else if err := os.WriteFile(*soakReport, []byte(report), 0o600); err != nil {
		t.Error(err)
	}
	s.life.judge(t)
}

// soak is a running program with everyone who uses it.
type soak struct {
	t       *testing.T
	network *simnet.Network
	bridge  *process
	device  *simnet.Device
	web     *website
	began   time.Time
	kills   int
	cuts    int

	owner, lee, mia *simnet.Phone // lee gets the API's messages, mia sends files and polls
	load            *traffic
	posts           *flakyReceiver
	calls           *soakClient
	sends           soakSends
	files           soakFiles
	polls           soakPolls
	streams         soakStreams
	life            *soakLife
}

func newSoak(ctx context.Context, t *testing.T) *soak {
	t.Helper()
	s := &soak{t: t, network: newNetwork(t), began: time.Now(), posts: newFlakyReceiver(t), web: newWebsite(t), life: &soakLife{}}
	newcomer := func(number, name string) *simnet.Phone {
		return must(s.network.NewPhone(ctx, simnet.PhoneOptions{Number: number, Name: name}))(t)
	}
	s.owner, s.lee, s.mia = newcomer("15550100200", "Alex"), newcomer("15550100303", "Lee"), newcomer("15550100304", "Mia")
	sam, kim := newcomer("15550100301", "Sam"), newcomer("15550100302", "Kim")
	group := must(s.owner.CreateGroup(ctx, simnet.GroupOptions{Subject: "Load", Members: []*simnet.Phone{sam, kim}}))(t)
	s.load = &traffic{t: t, owner: s.owner, chats: []*trafficChat{
		{jid: bridge.PhoneJID(sam.Number()), to: s.owner.PN(), writers: []*simnet.Phone{sam}},
		{jid: bridge.PhoneJID(kim.Number()), to: s.owner.LID(), writers: []*simnet.Phone{kim}},
		{jid: bridge.JID(group.JID().String()), to: group.JID(), writers: []*simnet.Phone{sam, kim}},
	}}
	s.files.url = s.web.has("/plan.pdf", demo.PDF())
	s.bridge = startBridge(t, s.network, "LOG_LEVEL=info", fetchesLoopback, "WEBHOOK_URL="+s.posts.URL, "WEBHOOK_SECRET=whsec_"+strings.Repeat("c29h", 8), "MEDIA_CACHE_BYTES=4000000")
	s.calls = newSoakClient(t, s.bridge.address)
	s.device = pair(t, s.bridge, s.owner)
	s.lee.OnMessage(s.readByLee)
	for n := range s.load.chats { // readers find every chat from the beginning
		if err := s.load.write(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.device.WaitQuiet(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// actors returns the functions that run concurrently until their context ends.
func (s *soak) actors() []func(context.Context) {
	actors := []func(context.Context){
		func(ctx context.Context) { s.load.run(ctx, *soakRate) },
		s.sendTexts, s.sendKinds, s.exchangeFiles, s.askAndVote, s.follow, s.hangUp,
	}
	for range 2 {
		actors = append(actors, s.browse)
	}
	for range 4 {
		actors = append(actors, s.listenNowAndThen)
	}
	return actors
}

// killSome kills the program a few times in the first tenth of the run: later
// measurements are of one life.
func (s *soak) killSome(ctx context.Context) {
	const kills = 3
	for range kills {
		if pause(ctx, *soakTime/30) != nil {
			return
		}
		s.bridge.kill()
		s.bridge.start()
		s.calls.moveTo(s.bridge.address)
		s.bridge.becomes(bridge.StateOpen)
		s.kills++
	}
}

// watch measures the program, and cuts its connection now and then.
func (s *soak) watch(ctx context.Context) {
	ticker := time.NewTicker(max(*soakTime/360, time.Second))
	defer ticker.Stop()
	const everySo = 6 // measurements per cut
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		s.life.measure(ctx, s.t, s.bridge)
		if n%everySo == 0 {
			s.cut()
		}
	}
}

// cut disturbs the connection as networks do.
func (s *soak) cut() {
	s.cuts++
	switch rand.IntN(6) {
	case 0:
		s.device.Freeze()
	case 1:
		s.device.CorruptFrames(1)
	case 2:
		s.device.Duplicate(3)
	case 3:
		s.device.IgnoreAcks(2)
	default:
		s.device.Drop()
	}
}

// settle ends all faults and waits until everything sent has arrived.
func (s *soak) settle() {
	s.t.Helper()
	s.device.ClearFaults()
	logins := s.device.Counters().Logins
	s.device.Drop() // unacknowledged stanzas come on the next connection
	if err := s.device.WaitLogins(within(s.t), logins+1); err != nil {
		s.t.Fatal(err)
	}
	if err := s.device.WaitQuiet(within(s.t)); err != nil {
		s.t.Fatal(err)
	}
	s.bridge.becomes(bridge.StateOpen)
}

// pause waits for so long, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// report returns the results as Markdown.
func (s *soak) report() string {
	return fmt.Sprintf("%v, %d kills, %d cuts of the connection: %s; answers of the API: %s\n\n%s", *soakTime, s.kills, s.cuts, s.tally(), s.calls.answers(), s.life.table())
}
