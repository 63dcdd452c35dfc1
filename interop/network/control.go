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
	mux.Handle("POST /link", step(c.link))
	mux.Handle("POST /groups", step(c.addGroup))
	mux.Handle("POST /texts", step(c.sendText))
	mux.Handle("POST /heard", step(c.heard))
	mux.Handle("POST /hide", step(c.hide))
	mux.Handle("POST /username", step(c.username))
	mux.Handle("POST /damage", step(c.damage))
	mux.Handle("POST /heal", step(c.heal))
	mux.Handle("GET /unknown", step(c.unknown))
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
	return address{p.PN().String(), p.LID().String()}, nil
}

// link enters a pairing code on a phone, or scans a QR code with it, and waits
// until the new device has logged in.
func (c *control) link(ctx context.Context, asked request) (any, error) {
	p, err := c.phone(asked.Phone)
	if err != nil {
		return nil, err
	}
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

func (c *control) addGroup(ctx context.Context, asked request) (any, error) {
	creator, err := c.phone(asked.Phone)
	if err != nil {
		return nil, err
	}
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
func (c *control) sendText(ctx context.Context, asked request) (any, error) {
	from, err := c.phone(asked.Phone)
	if err != nil {
		return nil, err
	}
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
func (c *control) heard(ctx context.Context, asked request) (any, error) {
	p, err := c.phone(asked.Phone)
	if err != nil {
		return nil, err
	}
	got, err := p.ReceivedText(ctx, asked.Text)
	if err != nil {
		return nil, err
	}
	return struct {
		ID string `json:"id"`
	}{got.Info.ID}, nil
}

// hide hides which number and which LID belong together.
func (c *control) hide(_ context.Context, asked request) (any, error) {
	p, err := c.phone(asked.Phone)
	if err != nil {
		return nil, err
	}
	p.WithholdMapping(true)
	return address{p.PN().String(), p.LID().String()}, nil
}

// username gives a person a username.
func (c *control) username(_ context.Context, asked request) (any, error) {
	p, err := c.phone(asked.Phone)
	if err != nil {
		return nil, err
	}
	p.SetUsername(asked.Text)
	return address{p.PN().String(), p.LID().String()}, nil
}

// damage corrupts the next message to the device that was linked first. The phone
// does not resend it, so the sender has to.
func (c *control) damage(_ context.Context, asked request) (any, error) {
	p, d, err := c.firstLinked(asked.Phone)
	if err != nil {
		return nil, err
	}
	p.IgnoreRequests(true)
	d.CorruptMessages(1)
	return d.Counters(), nil
}

// heal undoes damage and returns how often the device has asked for a message
// again.
func (c *control) heal(_ context.Context, asked request) (any, error) {
	p, d, err := c.firstLinked(asked.Phone)
	if err != nil {
		return nil, err
	}
	p.IgnoreRequests(false)
	d.ClearFaults()
	return d.Counters(), nil
}

func (c *control) firstLinked(number string) (*simnet.Phone, *simnet.Device, error) {
	p, err := c.phone(number)
	if err != nil {
		return nil, nil, err
	}
	devices := p.LinkedDevices()
	if len(devices) == 0 {
		return nil, nil, fmt.Errorf("phone %s has no linked devices", number)
	}
	return p, devices[0], nil
}

// unknown returns the queries that the network did not understand, with their
// counts.
func (c *control) unknown(context.Context, request) (any, error) {
	return c.network.Unknown(), nil
}
