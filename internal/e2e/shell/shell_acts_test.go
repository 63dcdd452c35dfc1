package shell

import (
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"bridged/internal/bridge"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// seesDeletion waits until a person's phone shows a message as deleted, whose id is in a file: sees-deletion anna id
func (s *scene) seesDeletion(ts *testscript.TestScript, _ bool, args []string) {
	id := strings.TrimSpace(ts.ReadFile(args[1]))
	ts.Check(s.phone(ts, args[0]).WaitBubble(Within(s.t), id, simnet.Bubble{Deleted: true}))
}

// rings makes a person call the account, and waits until the bridge shows it: rings anna
func (s *scene) rings(ts *testscript.TestScript, _ bool, args []string) {
	call, err := s.phone(ts, args[0]).Call(Within(s.t), s.cast.Owner, simnet.CallOptions{})
	ts.Check(err)
	Eventually(s.t, func() error {
		page, err := s.API.Calls(Within(s.t), bridge.CallQuery{})
		if err == nil && (len(page.Items) == 0 || page.Items[0].ID != call.ID()) {
			err = bridge.NoCall(call.ID())
		}
		return err
	})
	ts.Setenv("CALL", call.ID())
}

// asksToJoin makes a person follow the group's link in a file: asks-to-join anna link
func (s *scene) asksToJoin(ts *testscript.TestScript, _ bool, args []string) {
	link := strings.TrimSpace(ts.ReadFile(args[1]))
	_, err := s.phone(ts, args[0]).Client().JoinGroupWithLink(Within(s.t), link)
	ts.Check(err)
}

// linkOf sets LINK to the invite link of the group that Ben founded: link-of-group
func (s *scene) linkOf(ts *testscript.TestScript, _ bool, _ []string) {
	link, err := s.founded.Link(Within(s.t), s.cast.Ben)
	ts.Check(err)
	ts.Setenv("LINK", link)
}

// speaks makes a person send a voice note, and waits until the bridge has it: speaks anna
func (s *scene) speaks(ts *testscript.TestScript, _ bool, args []string) {
	note := simnet.Media{Data: demo.Voice(3), Mimetype: "audio/ogg; codecs=opus", Seconds: 3, Voice: true}
	id, err := s.phone(ts, args[0]).SendAudio(Within(s.t), s.cast.Owner.PN(), note)
	ts.Check(err)
	ts.Check(s.cast.Device.WaitAcknowledged(Within(s.t), id))
	ts.Setenv("MSGID", id)
}

// website starts a server and names it in WEBSITE: it has a file, accepts posts at /accepts, transcribes
// sounds, and refuses the rest: website photo.png
func (s *scene) website(ts *testscript.TestScript, _ bool, args []string) {
	file, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	site := NewWebsite(s.t)
	site.Serves("/"+args[0], func(w http.ResponseWriter, _ *http.Request) {
		if _, err := w.Write(file); err != nil {
			s.t.Log(err)
		}
	})
	site.Serves("/accepts", func(http.ResponseWriter, *http.Request) {})
	site.Serves("/v1/audio/transcriptions", func(w http.ResponseWriter, r *http.Request) {
		if _, _, err := r.FormFile("file"); err != nil {
			s.t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"text":"the bridge is closed","language":"english"}`)
	})
	ts.Setenv("WEBSITE", site.URL)
}
