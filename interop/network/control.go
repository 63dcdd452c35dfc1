package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"bridged/internal/simnet"
)

// patience bounds each step of a phone.
const patience = 30 * time.Second

// control gives other processes people with phones, who link devices and create
// groups.
type control struct {
	network *simnet.Network

	// mu guards phones.
	mu     sync.Mutex
	phones map[string]*simnet.Phone
}

func newControl(network *simnet.Network) http.Handler {
	c := &control{network: network, phones: map[string]*simnet.Phone{}}
	mux := http.NewServeMux()
	mux.Handle("POST /phones", step(c.addPhone))
	mux.Handle("POST /link", c.of(link))
	mux.Handle("POST /groups", c.of(c.addGroup))
	mux.Handle("POST /texts", c.of(c.sendText))
	mux.Handle("POST /heard", c.of(heard))
	mux.Handle("POST /hide", c.of(hide))
	mux.Handle("POST /username", c.of(setUsername))
	mux.Handle("POST /damage", c.of(damage))
	mux.Handle("POST /heal", c.of(heal))
	mux.Handle("GET /unknown", step(func(context.Context, request) (any, error) { return network.Unknown(), nil }))
	mux.HandleFunc("GET /files/{name}", serveFile)
	return mux
}

// request holds the parameters of any step.
type request struct {
	Phone   string   `json:"phone"` // a number
	Name    string   `json:"name"`
	Code    string   `json:"code"`
	QR      string   `json:"qr"`
	Members []string `json:"members"` // numbers
	// ByNumber creates a group that addresses its members by number, not by LID.
	ByNumber bool   `json:"byNumber"`
	To       string `json:"to"` // a number
	Text     string `json:"text"`
}

// step handles a request with take: it decodes the parameters and encodes the
// outcome.
func step(take func(context.Context, request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		var asked request
		if r.Method == http.MethodPost {
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		outcome, err := take(ctx, asked)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(outcome) // fails only if the caller is gone
	})
}

// of handles a request about a phone with take.
func (c *control) of(take func(context.Context, *simnet.Phone, request) (any, error)) http.Handler {
	return step(func(ctx context.Context, asked request) (any, error) {
		p, err := c.phone(asked.Phone)
		if err != nil {
			return nil, err
		}
		return take(ctx, p, asked)
	})
}

// phone returns the phone with a number.
func (c *control) phone(number string) (*simnet.Phone, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.phones[number]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("there is no phone %s", number)
}

// address holds both forms of a person's address.
type address struct {
	PN  string `json:"pn"`
	LID string `json:"lid"`
}

func (c *control) addPhone(ctx context.Context, asked request) (any, error) {
	p, err := c.network.NewPhone(ctx, simnet.PhoneOptions{Number: asked.Phone, Name: asked.Name})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phones[asked.Phone] = p
	return addressOf(p), nil
}

func addressOf(p *simnet.Phone) address { return address{p.PN().String(), p.LID().String()} }

// link enters a pairing code on a phone, or scans a QR code with it, and waits
// until the new device has logged in.
func link(ctx context.Context, p *simnet.Phone, asked request) (any, error) {
	device, err := use(ctx, p, asked)
	if err != nil {
		return nil, err
	}
	if err = device.WaitOnline(ctx); err != nil {
		return nil, err
	}
	return address{device.JID().String(), device.LID().String()}, nil
}

// use enters the code, or scans the QR code.
func use(ctx context.Context, p *simnet.Phone, asked request) (*simnet.Device, error) {
	switch {
	case asked.Code != "":
		if err := p.WaitCodeRequest(ctx); err != nil {
			return nil, err
		}
		return p.EnterPairingCode(ctx, asked.Code)
	case asked.QR != "":
		return p.ScanQR(ctx, asked.QR)
	}
	return nil, errors.New("neither a code nor a QR code")
}

func (c *control) addGroup(ctx context.Context, creator *simnet.Phone, asked request) (any, error) {
	options := simnet.GroupOptions{Subject: asked.Name, ByNumber: asked.ByNumber}
	for _, number := range asked.Members {
		member, err := c.phone(number)
		if err != nil {
			return nil, err
		}
		options.Members = append(options.Members, member)
	}
	group, err := creator.CreateGroup(ctx, options)
	if err != nil {
		return nil, err
	}
	return struct {
		JID string `json:"jid"`
	}{group.JID().String()}, nil
}

// sendText sends from a phone itself, not from a linked device.
func (c *control) sendText(ctx context.Context, from *simnet.Phone, asked request) (any, error) {
	to, err := c.phone(asked.To)
	if err != nil {
		return nil, err
	}
	id, err := from.SendText(ctx, to.PN(), asked.Text)
	return struct {
		ID string `json:"id"`
	}{id}, err
}

// heard waits until a phone has received a text.
func heard(ctx context.Context, p *simnet.Phone, asked request) (any, error) {
	got, err := p.ReceivedText(ctx, asked.Text)
	if err != nil {
		return nil, err
	}
	return struct {
		ID string `json:"id"`
	}{got.Info.ID}, nil
}

// hide hides which number and which LID belong together.
func hide(_ context.Context, p *simnet.Phone, _ request) (any, error) {
	p.WithholdMapping(true)
	return addressOf(p), nil
}

func setUsername(_ context.Context, p *simnet.Phone, asked request) (any, error) {
	p.SetUsername(asked.Text)
	return addressOf(p), nil
}

// damage corrupts the next message to the device that was linked first. The phone
// does not resend it, so the sender has to.
func damage(_ context.Context, p *simnet.Phone, _ request) (any, error) {
	d, err := firstLinked(p)
	if err != nil {
		return nil, err
	}
	p.IgnoreRequests(true)
	d.CorruptMessages(1)
	return d.Counters(), nil
}

// heal undoes damage and returns how often the device has asked for a message
// again.
func heal(_ context.Context, p *simnet.Phone, _ request) (any, error) {
	d, err := firstLinked(p)
	if err != nil {
		return nil, err
	}
	p.IgnoreRequests(false)
	d.ClearFaults()
	return d.Counters(), nil
}

func firstLinked(p *simnet.Phone) (*simnet.Device, error) {
	devices := p.LinkedDevices()
	if len(devices) == 0 {
		return nil, fmt.Errorf("the phone %s has no linked devices", p.PN())
	}
	return devices[0], nil
}
