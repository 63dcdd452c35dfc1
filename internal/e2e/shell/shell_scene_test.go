package shell

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// company pairs an account with contacts and sets the script's environment. The arguments are variables of
// the bridge: company TRANSCRIBE=off
func (s *scene) company(ts *testscript.TestScript, _ bool, settings []string) {
	s.cast = PairedCast(s.t, settings...)
	s.adopt(ts, s.cast.Bridge)
}

// adopt gives the script the environment of a bridge.
func (s *scene) adopt(ts *testscript.TestScript, p *Process) {
	s.Process = p
	for _, name := range []string{"BRIDGE_TOKEN", "DATA_DIR", "WA_NETWORK_FILE"} {
		ts.Setenv(name, p.Env[name])
	}
	ts.Setenv("LISTEN_ADDR", p.Address)
}

// phone returns a person's phone by name.
func (s *scene) phone(ts *testscript.TestScript, name string) *simnet.Phone {
	people := map[string]*simnet.Phone{"anna": s.cast.Anna, "ben": s.cast.Ben, "carla": s.cast.Carla}
	if people[name] == nil {
		ts.Fatalf("there is no phone of %s", name)
	}
	return people[name]
}

// says makes a person write a text, with Go's escapes, and waits until the bridge
// has it: says anna 'a text'
func (s *scene) says(ts *testscript.TestScript, _ bool, args []string) {
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	id, err := s.phone(ts, args[0]).SendText(Within(s.t), s.cast.Owner.PN(), text)
	ts.Check(err)
	ts.Check(s.cast.Device.WaitAcknowledged(Within(s.t), id))
	ts.Setenv("MSGID", id)
}

// hears waits until a person's phone shows a text, and checks that it shows it
// once: hears anna 'a text'
func (s *scene) hears(ts *testscript.TestScript, _ bool, args []string) {
	phone := s.phone(ts, args[0])
	received, err := phone.ReceivedText(Within(s.t), args[1])
	ts.Check(err)
	shown := map[string]bool{}
	for _, r := range phone.Messages() {
		if r.Text() == args[1] {
			shown[r.Info.ID] = true
		}
	}
	if len(shown) != 1 {
		ts.Fatalf("%s shows it %d times", args[0], len(shown))
	}
	quoted := received.Message.Message.GetExtendedTextMessage().GetContextInfo().GetStanzaID()
	ts.Setenv("QUOTED", quoted)
}

// gives makes a person send a file, with Go's escapes in its name, and waits until the bridge has
// it: gives anna 'a name.txt' 'a line of it'
func (s *scene) gives(ts *testscript.TestScript, _ bool, args []string) {
	name, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	file := simnet.Media{Data: []byte(args[2] + "\n"), Mimetype: "text/plain", FileName: name}
	id, err := s.phone(ts, args[0]).SendDocument(Within(s.t), s.cast.Owner.PN(), file)
	ts.Check(err)
	ts.Check(s.cast.Device.WaitAcknowledged(Within(s.t), id))
	ts.Setenv("MSGID", id)
}

// seesEdit waits until a person's phone shows a message as edited: sees-edit anna $ID 'a text'
func (s *scene) seesEdit(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(s.phone(ts, args[0]).WaitBubble(Within(s.t), args[1], simnet.Bubble{Text: args[2], Edited: true}))
}

// seesReaction waits until a person's phone gets a reaction to a message, an empty one for its
// removal: sees-reaction anna $ID '👍'
func (s *scene) seesReaction(ts *testscript.TestScript, _ bool, args []string) {
	_, err := s.phone(ts, args[0]).Received(Within(s.t), func(r *simnet.Received) bool {
		reaction := r.Message.Message.GetReactionMessage()
		return reaction.GetKey().GetID() == args[1] && reaction.GetText() == args[2]
	})
	ts.Check(err)
}

// founds makes Ben create a group with the account, and write in it: founds 'a
// name'
func (s *scene) founds(ts *testscript.TestScript, _ bool, args []string) {
	group := NewGroup(s.t, s.cast.Ben, simnet.GroupOptions{Subject: args[0], Members: []*simnet.Phone{s.cast.Owner, s.cast.Carla}})
	id, err := s.cast.Ben.SendText(Within(s.t), group.JID(), "welcome to "+args[0])
	ts.Check(err)
	ts.Check(s.cast.Device.WaitAcknowledged(Within(s.t), id))
	s.founded = group
	ts.Setenv("GROUP", group.JID().String())
	Eventually(s.t, func() error {
		if got := s.Get(Path("/api/groups/%s", group.JID())); !strings.Contains(string(got.Body), args[0]) {
			return fmt.Errorf("the group has no name yet: %s", got.Body)
		}
		return nil
	})
}

// losesAnswers starts a proxy that loses the answers to the first calls of a route,
// and names it in BRIDGE_URL: loses-answers 2 /api/messages/send
func (s *scene) losesAnswers(ts *testscript.TestScript, _ bool, args []string) {
	count, err := strconv.Atoi(args[0])
	ts.Check(err)
	proxy := newLossyProxy(s.t, s.Address, args[1])
	proxy.lose.Store(int64(count))
	ts.Setenv("BRIDGE_URL", proxy.URL)
}

// lossyProxy stands in front of a bridge and loses some answers.
type lossyProxy struct {
	*httptest.Server
	route string
	lose  atomic.Int64 // answers of the route still to lose
}

func newLossyProxy(t testing.TB, address, route string) *lossyProxy {
	t.Helper()
	to := httputil.NewSingleHostReverseProxy(Must(url.Parse("http://" + address))(t))
	to.FlushInterval = -1
	to.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	p := &lossyProxy{route: route}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.route != r.URL.Path || p.lose.Add(-1) < 0 {
			to.ServeHTTP(w, r)
			return
		}
		to.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}))
	p.Start()
	t.Cleanup(p.Close)
	return p
}
