package simnet

import "maps"

// Rewind calls act, in which the phone sends, and then forgets what that changed in its Signal sessions and group keys: its next messages use
// keys a second time. So do clients that lose a change of a session while they send and receive at once.
func (p *Phone) Rewind(act func() error) error {
	m := p.memory
	sessions := locked(m, func() map[string][]byte { return maps.Clone(m.sessions) })
	senderKeys := locked(m, func() map[[2]string][]byte { return maps.Clone(m.senderKeys) })
	if err := act(); err != nil {
		return err
	}
	return m.do(func() { m.sessions, m.senderKeys = sessions, senderKeys })
}
