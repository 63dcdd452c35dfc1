package compattest

import (
	"net/http"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/intake/intaketest"
)

// HostileBodies sends bodies that could take a multiple of their size in memory to each route. It replaces each
// member of the requests' bodies, and uses the smallest token that may call the route and one that may not. No
// body may cost more than the budget.
func (s Scene) HostileBodies(tries []Try) {
	t := s.t
	t.Helper()
	reader, sender := s.Token([]bridge.JID{Club}, bridge.ScopeRead).Secret, s.Token([]bridge.JID{Club}, bridge.ScopeSend, bridge.ScopeRead).Secret
	manager := s.Token([]bridge.JID{Club}, bridge.ScopeManage, bridge.ScopeRead).Secret
	seen := make(map[string]bool)
	for _, r := range tries {
		if r.Type != "" || strings.HasPrefix(r.Route, http.MethodGet) {
			continue
		}
		allowed := map[bridge.Scope]string{bridge.ScopeSend: sender, bridge.ScopeManage: manager}[r.Scope]
		for _, body := range intaketest.Bodies(r.Body) {
			if seen[r.Route+body.Where] {
				continue
			}
			seen[r.Route+body.Where] = true
			if allowed == "" {
				s.hostileBody(t, r, body, reader)
				continue
			}
			s.hostileBody(t, r, body, allowed)
			if !seen[r.Route] { // refused before the body
				seen[r.Route] = true
				s.hostileBody(t, r, body, reader)
			}
		}
	}
}

func (s Scene) hostileBody(t *testing.T, r Try, body intaketest.Body, token string) {
	t.Helper()
	r.Body = body.Text
	intaketest.Check(t, r.Route+" with "+body.Where, intaketest.Usual, func() int { return s.Ask(r, token).Code })
}
