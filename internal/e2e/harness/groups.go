package harness

import (
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// Administered is a group that the bridge administers, with its members' phones.
type Administered struct {
	testing.TB
	C   *Cast
	JID bridge.JID
	In  simnet.JID
}

// Shows waits until phones show the group as wanted.
func (g Administered) Shows(wanted func(simnet.GroupView) bool, phones ...*simnet.Phone) {
	g.Helper()
	for _, p := range phones {
		if view, err := p.WaitGroup(Within(g), g.In, wanted); err != nil {
			g.Fatalf("%s shows %+v: %v", p.Name(), view, err)
		}
	}
}

// Stored returns the API's current view of the group.
func (g Administered) Stored() bridge.StoredGroup {
	g.Helper()
	return Must(g.C.Bridge.API.Group(Within(g), g.JID))(g).Stored
}

// Is checks the API's current view.
func (g Administered) Is(what string, holds func(bridge.StoredGroup) bool) {
	g.Helper()
	if got := g.Stored(); !holds(got) {
		g.Errorf("after %s: %+v", what, got)
	}
}

// Change changes members and returns the outcome for each.
func (g Administered) Change(action bridge.ParticipantAction, people ...bridge.JID) []bridge.ParticipantStatus {
	g.Helper()
	var statuses []bridge.ParticipantStatus
	for _, result := range CallOnce[bridge.GroupCreated](g, g.C.Bridge, "POST", g.Path("/participants"), Object{"action": action, "participants": people}, "").Participants {
		statuses = append(statuses, result.Status)
	}
	return statuses
}

func (g Administered) Path(suffix string) string { return Path("/api/groups/%s", g.In) + suffix }

func NumberOf(p *simnet.Phone) bridge.JID { return bridge.JID(p.PN().String()) }

func LidOf(p *simnet.Phone) bridge.JID { return bridge.JID(p.LID().String()) }

// WireForm returns a JID in the form of phones.
func WireForm(jid bridge.JID) simnet.JID { return simnet.JID{User: jid.User(), Server: jid.Server()} }
