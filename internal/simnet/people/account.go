package people

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

// Account is one WhatsApp user: a phone number, its hidden identity and its devices. Directory.Mu guards it.
type Account struct {
	net         *Directory
	PhoneNumber string
	lidUser     string
	PushName    string
	Username    string
	GaveUp      bool // had a username
	Business    bool
	About       string
	Picture     *media.Picture
	Owner       Owner // nil for those of a crowd
	LidChats    bool  // the account names itself by its LID
	Devices     map[uint16]*Device
	nextDevice  uint16
	keyIndex    uint32
	AppState    map[string][][]byte
	spoiled     map[string]*spoiledPatch // by collection
	Blocked     map[types.JID]struct{}
	Privacy     map[string]string
	// Issued are the tokens that show whom the account trusts.
	Issued map[*Account]IssuedToken
	// refusing means that only those whom the account trusts may write to it.
	refusing bool
	// lockedUntil is how long the account may only write to those who trust it.
	lockedUntil time.Time
	// Salt is what companions derive tokens from for people who gave none.
	Salt []byte
	// Numberless means that nobody finds the account by its number.
	Numberless bool
	// Withheld means that nobody learns which number and which LID belong together.
	Withheld bool
	// Wishes hold, by message id, how the phone wants its messages delivered.
	Wishes map[string]Wish
}

// Wish describes how a phone wants one message delivered. Zero fields are left to the server.
type Wish struct {
	// Form is the form in which the others see the sender. By default the server mirrors that of `to`, for whatsmeow always a LID.
	Form string
	// At is the time that the message bears.
	At time.Time
	// Hidden is the kind of placeholder that companions get when the message is for phones only.
	Hidden string
}

// Owner is whose phone an account is used with.
type Owner interface {
	// Welcome gives a new companion what it needs. The caller holds Directory.Mu.
	Welcome(d *Device)
	// AskForMedia handles a companion's request to upload a file again. The caller holds Directory.Mu.
	AskForMedia(d *Device, node *Node)
}

// ErrNumberTaken is returned for a number that has an account already.
var ErrNumberTaken = errors.New("the number has an account already")

// NewAccount gives a number an account without any device.
func (n *Directory) NewAccount(number string) (*Account, error) {
	number = wire.Digits(number)
	if len(number) < 7 || number[0] == '0' {
		return nil, fmt.Errorf("a phone number is given as international digits, not as %d digits from %q", len(number), number[:min(1, len(number))])
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if n.Closed {
		return nil, ErrClosed
	}
	if n.ByNumber[number] != nil {
		return nil, ErrNumberTaken
	}
	a := &Account{
		net: n, PhoneNumber: number, lidUser: n.freeLID(), Devices: make(map[uint16]*Device), nextDevice: 1,
		AppState: make(map[string][][]byte), Blocked: make(map[types.JID]struct{}), Privacy: defaultPrivacy(),
		Wishes: make(map[string]Wish), Issued: make(map[*Account]IssuedToken),
	}
	n.ByNumber[number], n.byLID[a.lidUser] = a, a
	return a, nil
}

// freeLID draws a hidden identity of 15 digits. The caller holds Directory.Mu.
func (n *Directory) freeLID() string {
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

// Address returns the account's JID, or that of one of its devices, in a form given by its server name.
func (a *Account) Address(form string, device uint16) types.JID {
	user := a.PhoneNumber
	if form == types.HiddenUserServer {
		user = a.lidUser
	} else {
		form = types.DefaultUserServer
	}
	return types.JID{User: user, Device: device, Server: form}
}

// PN returns the account's address under its phone number.
func (a *Account) PN() types.JID { return a.Address(types.DefaultUserServer, 0) }

// LID returns the account's address under its hidden identity.
func (a *Account) LID() types.JID { return a.Address(types.HiddenUserServer, 0) }

// Alternative returns the account's JID in the other form, empty while the mapping is withheld.
func (a *Account) Alternative(form string) types.JID {
	if a.Withheld {
		return types.EmptyJID
	}
	return a.Address(wire.OtherForm(form), 0)
}

// Sorted returns the devices, ordered by number.
func (a *Account) Sorted() []*Device {
	return slices.SortedFunc(maps.Values(a.Devices), func(x, y *Device) int { return int(x.Number) - int(y.Number) })
}

// Addresses returns the JIDs of all devices in one form.
func (a *Account) Addresses(form string) []types.JID {
	out := make([]types.JID, 0, len(a.Devices))
	for _, d := range a.Sorted() {
		out = append(out, d.Address(form))
	}
	return out
}

// freeDevice returns an unused number for a new companion. It fits in one byte, and is not reused soon.
func (a *Account) freeDevice() uint16 {
	for {
		id := a.nextDevice
		a.nextDevice = a.nextDevice%99 + 1
		if a.Devices[id] == nil {
			return id
		}
	}
}

// LetsAdd reports whether somebody may put the account into groups.
func (a *Account) LetsAdd(by *Account) bool {
	switch a.Privacy["groupadd"] {
	case "none":
		return false
	case "contacts":
		_, trusted := a.Issued[by]
		return trusted
	}
	return true
}

func defaultPrivacy() map[string]string {
	return map[string]string{
		"readreceipts": "all", "last": "all", "online": "all", "profile": "all", "status": "all",
		"groupadd": "all", "calladd": "all", "messages": "all", "defense": "off", "stickers": "contacts",
	}
}

// FormFor returns the form in which the others see the sender: the one that the sending phone wishes, else that of `to`.
func (a *Account) FormFor(node *Node, mirrored string) string {
	if form := a.Wishes[wire.Text(node, "id")].Form; form != "" {
		return form
	}
	if mirrored == types.HiddenUserServer {
		return types.HiddenUserServer
	}
	return types.DefaultUserServer
}

// TimeOf returns the time of a message: the one that its phone wishes, or now.
func (a *Account) TimeOf(node *Node) string {
	if at := a.Wishes[wire.Text(node, "id")].At; !at.IsZero() {
		return strconv.FormatInt(at.Unix(), 10)
	}
	return wire.UnixNow()
}

// AlsoDialled enters other spellings of an account's number.
func (n *Directory) AlsoDialled(a *Account, spellings []string) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	for _, spelling := range spellings {
		n.dialled[wire.Digits(spelling)] = a
	}
}

// LookUp returns the account that is reached by dialling a number, nil if there is none, and counts the query of a companion. The
// caller holds mu.
func (n *Directory) LookUp(asking *Device, number string) *Account {
	if asking.Number != 0 {
		n.lookUps[number]++
	}
	if a := n.ByNumber[number]; a != nil && !a.Numberless {
		return a
	}
	return n.dialled[number]
}

// LookUps returns how often companions have asked whether a number is on the network. Asking about many is what accounts are
// banned for.
func (n *Directory) LookUps(number string) int {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	return n.lookUps[wire.Digits(number)]
}
