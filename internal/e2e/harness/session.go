package harness

import (
	"errors"
)

// QR waits for a QR code and returns it.
func (p *Process) QR() (code string) {
	p.T.Helper()
	Eventually(p.T, func() error {
		status := p.Status()
		if status.QR == nil {
			return errors.New("no QR code")
		}
		code = *status.QR
		return nil
	})
	return code
}
