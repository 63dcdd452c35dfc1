package simnet

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/media"
	"bridged/internal/simnet/wire"
)

// account is one WhatsApp user: a phone number, its hidden identity and its devices. Server.mu guards it.
type account struct {
	net        *Server
	number     string
	lidUser    string
	name       string
	username   string
	gaveUp     bool // had a username
	business   bool
	about      string
	picture    *media.Picture
	owner      Owner // nil for those of a crowd
	lidChats   bool  // the account names itself by its LID
	devices    map[uint16]*Device
	nextDevice uint16
	keyIndex   uint32
	appState   map[string][][]byte
	spoiled    map[string]*spoiledPatch // by collection
	blocked    map[types.JID]struct{}
	privacy    map[string]string
	// issued are the tokens that show whom the account trusts.
	issued map[*account]issuedToken
	// refusing means that only those whom the account trusts may write to it.
	refusing bool
	// lockedUntil is how long the account may only write to those who trust it.
	lockedUntil time.Time
	// salt is what companions derive tokens from for people who gave none.
	salt []byte
	// numberless means that nobody finds the account by its number.
	numberless bool
	// withheld means that nobody learns which number and which LID belong together.
	withheld bool
	// wishes hold, by message id, how the phone wants its messages delivered.
	wishes map[string]wish
}

// wish describes how a phone wants one message delivered. Zero fields are left to the server.
type wish struct {
	// form is the form in which the others see the sender. By default the server mirrors that of `to`, for whatsmeow always a LID.
	form string
	// at is the time that the message bears.
	at time.Time
	// hidden is the kind of placeholder that companions get when the message is for phones only.
	hidden string
}

// Owner is whose phone an account is used with.
type Owner interface {
	// Welcome gives a new companion what it needs. The caller holds Server.mu.
	Welcome(d *Device)
	// AskForMedia handles a companion's request to upload a file again. The caller holds Server.mu.
	AskForMedia(d *Device, node *Node)
}

// ErrNumberTaken is returned for a number that has an account already.
var ErrNumberTaken = errors.New("the number has an account already")

func (n *Server) newAccount(number string) (*account, error) {
	number = wire.Digits(number)
	if len(number) < 7 || number[0] == '0' {
		return nil, fmt.Errorf("a phone number is given as international digits, not as %d digits from %q", len(number), number[:min(1, len(number))])
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, errClosed
	}
	if n.byNumber[number] != nil {
		return nil, ErrNumberTaken
	}
	a := &account{
		net: n, number: number, lidUser: n.freeLID(), devices: make(map[uint16]*Device), nextDevice: 1,
		appState: make(map[string][][]byte), blocked: make(map[types.JID]struct{}), privacy: defaultPrivacy(),
		wishes: make(map[string]wish), issued: make(map[*account]issuedToken),
	}
	n.byNumber[number], n.byLID[a.lidUser] = a, a
	return a, nil
}

// freeLID draws a hidden identity of 15 digits. The caller holds mu.
func (n *Server) freeLID() string {
	for {
		drawn, err := rand.Int(rand.Reader, big.NewInt(900_000_000_000_000))
		if err != nil {
			panic(fmt.Errorf("no randomness: %w", err))
		}
		lid := strconv.FormatInt(drawn.Int64()+100_000_000_000_000, 10)
		if n.byLID[lid] == nil {
			return lid
		}
	}
}

// jid returns the account's JID, or that of one of its devices, in a form given by its server name.
func (a *account) jid(form string, device uint16) types.JID {
	user := a.number
	if form == types.HiddenUserServer {
		user = a.lidUser
	} else {
		form = types.DefaultUserServer
	}
	return types.JID{User: user, Device: device, Server: form}
}

// PN returns the account's address under its phone number.
func (a *account) PN() types.JID { return a.jid(types.DefaultUserServer, 0) }

// LID returns the account's address under its hidden identity.
func (a *account) LID() types.JID { return a.jid(types.HiddenUserServer, 0) }

// alternative returns the account's JID in the other form, empty while the mapping is withheld.
func (a *account) alternative(form string) types.JID {
	if a.withheld {
		return types.EmptyJID
	}
	return a.jid(wire.OtherForm(form), 0)
}

// sorted returns the devices, ordered by number.
func (a *account) sorted() []*Device {
	return slices.SortedFunc(maps.Values(a.devices), func(x, y *Device) int { return int(x.number) - int(y.number) })
}

// jids returns the JIDs of all devices in one form.
func (a *account) jids(form string) []types.JID {
	out := make([]types.JID, 0, len(a.devices))
	for _, d := range a.sorted() {
		out = append(out, d.jid(form))
	}
	return out
}

// freeDevice returns an unused number for a new companion. It fits in one byte, and is not reused soon.
func (a *account) freeDevice() uint16 {
	for {
		id := a.nextDevice
		a.nextDevice = a.nextDevice%99 + 1
		if a.devices[id] == nil {
			return id
		}
	}
}
