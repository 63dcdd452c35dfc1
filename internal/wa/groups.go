package wa

import (
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/groups"
	"bridged/internal/wa/sending"
)

// groupChangeFacts returns a notification's change. The account's own leaving ends
// the knowledge that it may send there.
func (l *link) groupChangeFacts(e *events.GroupInfo) []bridge.Fact {
	if jid := convert.JID(e.JID); jid != "" {
		l.cli.ForgetGroup(jid)
	}
	pn, lid := l.m.own()
	return convert.GroupChangeFacts(e, pn, lid)
}

// newGroups returns the account's groups.
func (m *Manager) newGroups() *groups.Groups {
	return groups.New(groups.Options{
		Open: func() (groups.Conn, error) {
			c, err := m.openClient()
			if err != nil {
				return groups.Conn{}, err
			}
			return groups.Conn{Client: c.Client, Recipients: c}, nil
		},
		Own: m.own, Within: m.Within, Answer: func() time.Duration { return m.Waits.Answer },
		Refusal: m.AccountRefusal, IsLost: func(err error) bool { again, _ := sending.Uncertain(err); return again },
		Background: m.background, Store: m.store, Clock: m.opts.Clock, Log: m.log,
	})
}
