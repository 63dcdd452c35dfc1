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

// ImportState is the state of an import.
type ImportState string

// The states of an import. Messages that a failed or cancelled import has stored stay until the import is undone.
const (
	ImportRunning   ImportState = "running"
	ImportDone      ImportState = "done"
	ImportFailed    ImportState = "failed"
	ImportCancelled ImportState = "cancelled"
	ImportUndoing   ImportState = "undoing"
	ImportUndone    ImportState = "undone"
)

// ZoneSource says where the time zone of an import comes from.
type ZoneSource string

// The sources of a time zone: the caller, the bridge's environment, and stored messages with the same texts.
const (
	ZoneGiven       ZoneSource = "given"
	ZoneEnvironment ZoneSource = "environment"
	ZoneMatched     ZoneSource = "matched"
)

// Import is the import of a chat that an app has exported.
type Import struct {
	ID      string      `json:"id"`
	State   ImportState `json:"state"`
	Error   *string     `json:"error"` // of a failed or cancelled import
	DryRun  bool        `json:"dryRun"`
	ChatJID JID         `json:"chatJid"`
	By      *CalledBy   `json:"startedBy,omitempty"` // nil if the caller may not see it
	ImportAbout
	StartedAt  Time  `json:"startedAt"`
	EndedAt    *Time `json:"endedAt"`
	Imported   int   `json:"imported"`   // messages that were not stored
	Duplicates int   `json:"duplicates"` // messages that were stored already
	Media      int   `json:"media"`      // files that were stored
	Removed    int   `json:"removed"`    // messages that undoing the import has removed
	// Removable counts the messages that undoing the import would remove; nil in lists, and if it cannot be undone.
	Removable    *int            `json:"removable,omitempty"`
	Doubtful     []AmbiguousLine `json:"doubtful"` // until the bridge restarts
	UnknownNames []string        `json:"unknownNames"`
}

// ImportAbout describes an import: its file and its settings.
type ImportAbout struct {
	FileName     string         `json:"fileName"`
	Timezone     string         `json:"timezone"` // a zone's name, or an offset like +02:00
	TimezoneFrom ZoneSource     `json:"timezoneFrom"`
	DateOrder    *DateOrder     `json:"dateOrder"` // as the caller gave it
	Names        map[string]JID `json:"names"`     // as the caller gave them
	FirstAt      *string        `json:"firstAt"`   // of the first message, as RFC 3339 with the zone's offset
	LastAt       *string        `json:"lastAt"`
	Total        int            `json:"total"`  // messages of the export
	System       int            `json:"system"` // notices of the app, which are not stored
}

// ImportQuery asks for a page of the list of imports, the newest first. Only, unless nil, names the chats whose imports
// may be shown.
type ImportQuery struct {
	Only   []JID
	Chat   JID
	Limit  int
	Cursor string
}

// NoImport returns the error of an import that is not stored.
func NoImport(id string) *Error {
	return NotFound("there is no import %s: GET /api/imports lists the imports, and a dry run is forgotten when the bridge restarts", quoted(id))
}

// AmbiguousLine is a line of an exported chat that may be interpreted wrongly.
type AmbiguousLine struct {
	Line int    `json:"line"`
	Text string `json:"text"`
	Why  string `json:"why"`
}

// TypeOmitted is the type of a message with a file of unknown kind that an export omits. TypeViewOnce is the type of a
// view-once message in an export.
const (
	TypeOmitted  = "omittedMedia"
	TypeViewOnce = "viewOnceMessage"
)

// IsExported reports whether a message comes from an exported chat, so that the network does not know it.
func (m *Message) IsExported() bool { return m.Imported && IsExportedID(m.ID) }

// exportedID begins the ids of messages from exported chats. Senders could choose such an id, so [Message.IsExported] also
// checks Imported.
const exportedID = "EXPORT-"

// IsExportedID reports whether an import has made an id.
func IsExportedID(id string) bool {
	return len(id) > len(exportedID) && id[:len(exportedID)] == exportedID
}

// ExportedID returns the id of a message from an exported chat.
func ExportedID(unique string) string { return exportedID + unique }
