package simnet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"go.mau.fi/libsignal/logger"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"

	"bridged/internal/simnet/pairing"
	"bridged/internal/simnet/people"
	"bridged/internal/simnet/signal"
	"bridged/internal/simnet/wire"
)

// PhoneOptions describes a phone and its owner.
type PhoneOptions struct {
	// Number is the phone number in international digits; a leading + and spaces are allowed.
	Number string
	// Dialled lists other spellings of the number, under which a look-up finds the account. The answer has Number, and devices are linked
	// under Number alone.
	Dialled []string
	// Name becomes the push name that others see.
	Name string
	// Business makes it a business account with Name as its verified name.
	Business bool
	// PasskeyRequired makes the network ask for the account's passkey when a device is linked.
	PasskeyRequired bool
	// Username lets others find the person without a number.
	Username string
	// Numberless hides the number from others, who know the person by LID alone. Their groups have to use LIDs, too.
	Numberless bool
	// LIDChats shows this person's messages to others under the LID, even those sent to a number.
	LIDChats bool
	// Messenger is the number of another messenger that the person uses, over WhatsApp's interoperability; 0 for a phone of WhatsApp's own.
	Messenger uint16
}

// Phone is a person's phone: device 0 of an account, a real whatsmeow client in this process.
type Phone struct {
	*people.Account // the account at the server
	net             *Network
	device          *people.Device
	client          *whatsmeow.Client
	http            *http.Client
	memory          *signal.Store
	identity        *keys.KeyPair
	passkey         *pairing.Authenticator
	inbox           *inbox
	running         people.Crew
	ctx             context.Context
	cancel          context.CancelFunc

	// cut receives a value when the client notices the loss of its connection.
	cut chan struct{}

	// appState serializes the creation of the app state's keys.
	appState sync.Mutex
	syncKey  *syncKey   // in use
	syncKeys []*syncKey // all of them, oldest first

	// mu guards everything below.
	mu           sync.Mutex
	options      PhoneOptions
	needPasskey  bool
	confirmation string
	media        MediaAnswer
	mediaPath    string // claimed as a file's new path, if set
	deaf         bool
	recoveries   []string // the collections that companions asked to recover
	kept         map[types.MessageID]keptMedia
	seen         map[types.MessageID]bool // the view-once messages that were shown
	sent         map[types.MessageID]sentMessage
	book         map[string]string
	past         []Past
	asked        []HistoryRequest // the companions' requests
}

// phonePreKeys is the number of one-time keys that a new phone uploads.
const phonePreKeys = 12

// silenceLibsignal keeps libsignal from printing its errors to standard output.
var silenceLibsignal = sync.OnceFunc(func() {
	if logger.Logger == nil {
		var silent logger.Loggable = silentLogger{}
		logger.Setup(&silent)
	}
})

type silentLogger struct{}

func (silentLogger) Debug(string, string)   {}
func (silentLogger) Info(string, string)    {}
func (silentLogger) Warning(string, string) {}
func (silentLogger) Error(string, string)   {}
func (silentLogger) Configure(string)       {}

// NewPhone registers a number and returns its phone, connected.
func (n *Network) NewPhone(ctx context.Context, opts PhoneOptions) (*Phone, error) {
	a, err := n.NewAccount(opts.Number)
	if err != nil {
		return nil, err
	}
	n.AlsoDialled(a, opts.Dialled)
	return n.newPhone(ctx, a, opts, nil)
}

// newPhone returns an account's phone, connected. It has the keys and sessions of another phone unless that is nil.
func (n *Network) newPhone(ctx context.Context, a *people.Account, opts PhoneOptions, was *Phone) (*Phone, error) {
	passkey, err := pairing.NewAuthenticator()
	if err != nil {
		return nil, err
	}
	p := &Phone{
		Account: a, net: n, memory: signal.NewStore(), identity: keys.NewKeyPair(), passkey: passkey, inbox: newInbox(),
		options: opts, needPasskey: opts.PasskeyRequired, cut: make(chan struct{}, 1),
		kept: make(map[types.MessageID]keptMedia), seen: make(map[types.MessageID]bool), sent: make(map[types.MessageID]sentMessage), book: make(map[string]string),
	}
	if was != nil {
		p.memory, p.identity = was.memory, was.identity
	}
	p.ctx, p.cancel = context.WithCancel(n.Life)
	p.setUp()
	if err = p.client.ConnectContext(p.ctx); err != nil {
		return nil, fmt.Errorf("connect the phone: %w", err)
	}
	if err = p.waitConnected(ctx); err != nil {
		return nil, fmt.Errorf("wait for the phone's connection: %w", err)
	}
	return p, nil
}

// setUp creates the phone's device, registers it and creates its client.
func (p *Phone) setUp() {
	noise, signed := keys.NewKeyPair(), p.identity.CreateSignedPreKey(1)
	jid := p.Account.PN()
	device := &store.Device{
		Log: p.net.phoneLog, NoiseKey: noise, IdentityKey: p.identity, SignedPreKey: signed,
		RegistrationID: 4711, AdvSecretKey: wire.Random(32), ID: &jid, LID: p.Account.LID(),
		Account: &waAdv.ADVSignedDeviceIdentity{}, Platform: "android", PushName: p.options.Name,
	}
	p.memory.Serve(device)
	p.register(device)
	p.client = whatsmeow.NewClient(device, p.net.phoneLog)
	p.http = p.net.Configure(p.client)
	p.client.EnableDecryptedEventBuffer = true
	p.client.BackgroundEventCtx = p.ctx
	p.client.SetMaxParallelRetryReceiptHandling(1)
	p.client.SetForceActiveDeliveryReceipts(true)
	p.client.EmitAppStateEventsOnFullSync = true
	p.client.InitialAutoReconnect = true
	p.client.AutoReconnectHook = p.reconnectSoon
	p.client.GetMessageForRetry = p.messageForRetry
	p.client.AddEventHandler(p.handle)
}

// reconnectSoon replaces whatsmeow's growing pauses, so that phones return as soon as the network does.
func (p *Phone) reconnectSoon(error) bool {
	p.client.AutoReconnectErrors = 0
	select {
	case <-time.After(50 * time.Millisecond):
		return true
	case <-p.ctx.Done():
		return false
	}
}

// register adds the phone to the server with a stock of keys, as registering by SMS does.
func (p *Phone) register(device *store.Device) {
	d := p.NewDevice(0, *device.NoiseKey.Pub, *p.identity.Pub, device.RegistrationID, device.SignedPreKey, p.memory.Stock(phonePreKeys))
	n := p.net
	n.Mu.Lock()
	defer n.Mu.Unlock()
	p.Account.PushName, p.Account.Business, p.Account.Owner = p.options.Name, p.options.Business, p
	p.Account.Username, p.Account.Numberless, p.Account.Withheld = p.options.Username, p.options.Numberless, p.options.Numberless
	p.Account.LidChats, p.Account.Messenger = p.options.LIDChats, p.options.Messenger
	p.Account.Devices[0] = d
	p.device = d
	n.phones = append(n.phones, p)
}

func (p *Phone) waitConnected(ctx context.Context) error {
	return p.net.Wait(ctx, func() bool { return p.device.Active })
}

// expectCut discards earlier losses of the connection and reports whether there is a connection to lose. The caller holds Directory.Mu.
func (p *Phone) expectCut() bool {
	select {
	case <-p.cut:
	default:
	}
	return p.device.HasConn()
}

// stop ends the phone's client. After the server has hung up it first waits until the client has noticed, because doing both at once is a
// race inside whatsmeow.
func (p *Phone) stop(cut bool) {
	if cut {
		timer := time.NewTimer(time.Second)
		defer timer.Stop()
		select {
		case <-p.cut:
		case <-timer.C:
		}
	}
	p.client.Disconnect()
	p.cancel()
	p.http.CloseIdleConnections()
}

// Device returns the phone itself as a device of its account.
func (p *Phone) Device() *people.Device { return p.device }

// Client returns the phone's whatsmeow client, for uses that this package has no method for. The phone keeps no record of messages sent
// through it.
func (p *Phone) Client() *whatsmeow.Client { return p.client }

// Disconnect switches the phone off; Connect switches it on again.
func (p *Phone) Disconnect() { p.client.Disconnect() }

// Connect switches the phone on again and waits until it is online.
func (p *Phone) Connect(ctx context.Context) error {
	if err := p.client.ConnectContext(p.ctx); err != nil && !errors.Is(err, whatsmeow.ErrAlreadyConnected) {
		return fmt.Errorf("connect the phone: %w", err)
	}
	return p.waitConnected(ctx)
}
