package pairscreen

import (
	"encoding/json"
	"io"

	"bridged/internal/bridge"
	"bridged/internal/shell"
)

// pairEvents prints each code and each note once, as a line of JSON.
type pairEvents struct {
	out               io.Writer
	qr, note, passkey string // printed last
}

// NewEvents prints lines of JSON for programs. code is nil if no phone number was given.
func NewEvents(w io.Writer, code *bridge.PairingCode) (Display, error) {
	p := &pairEvents{out: w}
	if code == nil {
		return p, nil
	}
	return p, shell.PrintJSON(w, struct {
		Event string `json:"event"`
		bridge.PairingCode
	}{"code", *code})
}

// Show prints a new QR code, a request for a passkey and the last error.
func (p *pairEvents) Show(status bridge.Status) error {
	if status.QR != nil && *status.QR != p.qr {
		p.qr = *status.QR
		if err := p.print("qr", p.qr); err != nil {
			return err
		}
	}
	if status.Passkey != nil {
		request, err := json.Marshal(status.Passkey)
		if err != nil {
			return err
		}
		if string(request) != p.passkey {
			p.passkey = string(request)
			if err := p.print("passkey", status.Passkey); err != nil {
				return err
			}
		}
	}
	if status.LastError != nil && *status.LastError != p.note {
		p.note = *status.LastError
		return p.print("note", p.note)
	}
	return nil
}

func (p *pairEvents) print(event string, value any) error {
	return shell.PrintJSON(p.out, map[string]any{"event": event, event: value})
}

// Close does nothing.
func (p *pairEvents) Close() error { return nil }
