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

type (
	// Node is a stanza or a part of one.
	Node  = wire.Node
	attrs = wire.Attrs
)

// Account is one WhatsApp user: a phone number, its hidden identity and its devices. Directory.Mu guards it.
type Account struct {
	net         *Directory
	PhoneNumber string
	lidUser     string
	PushName    string
	Username    string
	GaveUp      bool // has had a username before
	Business    bool
	Verified    bool // its name shows a tick
	Profile     BusinessProfile
	About       string
	Picture     *media.Picture
	Owner       Owner // nil in a crowd
	LidChats    bool  // messages show the account's LID to others
	Devices     map[uint16]*Device
	nextDevice  uint16
	keyIndex    uint32
	AppState    map[string][][]byte
	spoiled     map[string]*spoiledPatch // by collection
	Blocked     map[types.JID]struct{}   // by LID
	Privacy     map[string]string
	// BlocksHidden leaves out of notifications who was blocked or unblocked.
	BlocksHidden bool
	// Issued holds the privacy tokens that this account has given to people it trusts.
	Issued map[*Account]IssuedToken
	// refusing limits the senders to accounts that this one trusts.
	refusing bool
	// lockedUntil ends a lock during which the account may only write to accounts that trust it.
	lockedUntil time.Time
	// capping limits the chats that the account may begin; met holds the accounts that it has a chat with.
	capping Capping
	met     map[*Account]bool
	// defaultTimer is the timer of the account's new chats, in seconds, set at timerSetAt.
	defaultTimer uint32
	timerSetAt   time.Time
	// Salt lets companions derive tokens for people who have given none.
	Salt []byte
	// Numberless hides the account from look-ups by number.
	Numberless bool
	// Messenger is the number of another messenger that the account is on, and 0 for WhatsApp's own accounts.
	Messenger uint16
	// Withheld hides that this number and this LID belong together.
	Withheld bool
	// Gone marks an account that another one has followed, or that was deleted.
	Gone bool
	// Wishes holds the phone's wishes about the delivery of its messages, by message id.
	Wishes map[string]Wish
}

// Wish describes the delivery that a phone wants for one message. Zero fields leave the choice to the server.
type Wish struct {
	// Form is the sender's form of address that others see. By default the server mirrors the form of `to`, which whatsmeow always makes a
	// LID.
	Form string
	// At is the time in the message's stanza.
	At time.Time
	// Hidden is the kind of placeholder that companions get in place of a message for phones only.
	Hidden string
}

// Owner is the phone that an account belongs to.
type Owner interface {
	// Welcome sends a new companion its keys and history. The caller holds Directory.Mu.
	Welcome(d *Device)
	// AskForMedia handles a companion's request to upload a file again. The caller holds Directory.Mu.
	AskForMedia(d *Device, node *Node)
}

// ErrNumberTaken reports the number of an existing account.
var ErrNumberTaken = errors.New("the number has an account already")

// NewAccount creates an account, without devices, for a number.
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

// freeLID returns an unused hidden identity of 15 digits. The caller holds Directory.Mu.
func (n *Directory) freeLID() string {
	for {
		drawn, err := rand.Int(rand.Reader, big.NewInt(900_000_000_000_000))
		if err != nil {
			panic(fmt.Errorf("draw a random number: %w", err))
		}
		lid := strconv.FormatInt(drawn.Int64()+100_000_000_000_000, 10)
		if n.byLID[lid] == nil {
			return lid
		}
	}
}

// Address returns the JID of the account, or of one of its devices, with the given server name.
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

// Alternative returns the account's JID in the other form, or an empty one while the mapping is withheld.
func (a *Account) Alternative(form string) types.JID {
	if a.Withheld {
		return types.EmptyJID
	}
	return a.Address(wire.OtherForm(form), 0)
}

// Sorted returns the devices in the order of their numbers.
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

// LetsAdd reports whether another account may add this one to groups.
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

// FormFor returns the address form that others see for the sender: the phone's choice, or the form of `to`.
func (a *Account) FormFor(node *Node, mirrored string) string {
	if form := a.Wishes[wire.Text(node, "id")].Form; form != "" {
		return form
	}
	if mirrored == types.HiddenUserServer {
		return types.HiddenUserServer
	}
	return types.DefaultUserServer
}

// TimeOf returns a message's time: the phone's wish, or now.
func (a *Account) TimeOf(node *Node) string {
	if at := a.Wishes[wire.Text(node, "id")].At; !at.IsZero() {
		return strconv.FormatInt(at.Unix(), 10)
	}
	return wire.UnixNow()
}

// AlsoDialled adds other spellings of an account's number.
func (n *Directory) AlsoDialled(a *Account, spellings []string) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	for _, spelling := range spellings {
		n.dialled[wire.Digits(spelling)] = a
	}
}

// LookUp returns the account that a dialled number reaches, or nil, and counts a companion's query. The caller holds mu.
func (n *Directory) LookUp(asking *Device, number string) *Account {
	if asking.Number != 0 {
		n.lookUps[number]++
	}
	if a := n.ByNumber[number]; a != nil && !a.Numberless {
		return a
	}
	return n.dialled[number]
}

// LookUps returns how often companions have looked this number up. The real network bans accounts that look many numbers up.
func (n *Directory) LookUps(number string) int {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	return n.lookUps[wire.Digits(number)]
}
