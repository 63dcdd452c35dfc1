package bridge

// DateOrder is the order of day, month and year in the dates of an exported chat.
type DateOrder string

// The orders that there are.
const (
	DMY DateOrder = "DMY"
	MDY DateOrder = "MDY"
	YMD DateOrder = "YMD"
)

// DateOrders lists them.
var DateOrders = []DateOrder{DMY, MDY, YMD}

// DateExample is a date that can be read in several ways.
type DateExample struct {
	Text  string               `json:"text"`
	Reads map[DateOrder]string `json:"reads"` // as YYYY-MM-DD
}

// AmbiguousDates lists the orders in which the dates of an exported chat can be read.
type AmbiguousDates struct {
	Orders   []DateOrder   `json:"orders"`
	Examples []DateExample `json:"examples"`
}

// ImportState says how far an import is.
type ImportState string

// The states of an import. What a failed or cancelled one has stored stays.
const (
	ImportRunning   ImportState = "running"
	ImportDone      ImportState = "done"
	ImportFailed    ImportState = "failed"
	ImportCancelled ImportState = "cancelled"
)

// Import is the taking over of a chat that an app has exported.
type Import struct {
	ID           string      `json:"id"`
	State        ImportState `json:"state"`
	Error        *string     `json:"error"` // why it has failed, or was cancelled
	DryRun       bool        `json:"dryRun"`
	ChatJID      JID         `json:"chatJid"`
	Total        int         `json:"total"`      // messages of the export that were looked at
	Imported     int         `json:"imported"`   // of them, those that were not stored
	Duplicates   int         `json:"duplicates"` // and those that were
	Media        int         `json:"media"`      // files that were taken over
	System       int         `json:"system"`     // notices of the app, which are not stored
	Doubtful     []Doubt     `json:"doubtful"`
	UnknownNames []string    `json:"unknownNames"`
}

// Doubt is a line of an exported chat that may have been read wrongly.
type Doubt struct {
	Line int    `json:"line"`
	Text string `json:"text"`
	Why  string `json:"why"`
}

// TypeOmitted is the type of a message with a file of an unknown kind that an export has left
// out, and TypeViewOnce that of one that could be seen once.
const (
	TypeOmitted  = "omittedMedia"
	TypeViewOnce = "viewOnceMessage"
)

// ExportedMessage is a message of an exported chat, as it is to be stored.
type ExportedMessage struct {
	Message
	// Nobody is the JID that the sender's name has as long as nobody knows whose it is: a
	// message by it is the same.
	Nobody JID
	// Formerly lists for whose messages those under the sender's name were taken before.
	Formerly []JID
	// SHA256 is the hash of its file, nil where there is none. FileName is what the file was
	// called, also where it was left out.
	SHA256   []byte
	FileName string
	Caption  string
}

// IsExported reports whether the network knows nothing of a message: it comes from an exported
// chat.
func (m *Message) IsExported() bool { return m.Imported && IsExportedID(m.ID) }

// exportedID begins the ids of messages from exported chats. Senders could choose such an id:
// their messages are not imported.
const exportedID = "EXPORT-"

// IsExportedID reports whether an id is one that an import has made up.
func IsExportedID(id string) bool {
	return len(id) > len(exportedID) && id[:len(exportedID)] == exportedID
}

// ExportedID returns the id of a message from an exported chat.
func ExportedID(unique string) string { return exportedID + unique }
