package setup

import (
	"errors"
	"fmt"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

// importedPage shows the progress of an import.
type importedPage struct {
	bridge.Import
	Name string        // of the chat
	Done int           // number of processed messages
	Why  frame.Problem // the reason of a failure
	Ask  string        // the question before undoing it
	Curl string
}

// ShowImport shows an import, and how far it is. The script asks for that alone (part) when it has changed.
func ShowImport(req *frame.Request) error {
	if err := mayImport(req); err != nil {
		return err
	}
	found, err := req.API.Import(req.Context(), req.PathValue("import"))
	if err != nil {
		return err
	}
	page := importedPage{Import: found, Name: names.EntryFor(req, found.ChatJID).Name, Done: found.Imported + found.Duplicates, Curl: req.Curl("GET", "/api/imports/"+found.ID, nil)}
	if found.Error != nil {
		page.Why = req.ImportProblem(*found.Error)
	}
	if found.Removable != nil && found.By != nil {
		page.Ask = undoQuestion(*found.Removable)
	}
	if req.URL.Query().Has("part") {
		return req.PartOf("imported", "import-state", map[string]any{"Page": page, "Clock": req.Clock(), "CSRF": req.CSRF()})
	}
	return req.Show("imported", "Import", page)
}

// undoQuestion returns the question before an import is undone that has stored a number of messages alone.
func undoQuestion(messages int) string {
	const rest = " You can import the chat again."
	switch messages {
	case 0:
		return "Undo this import? It removes no messages, only the files and names that nothing else has." + rest
	case 1:
		return "Remove 1 message? It’s here because of this import alone." + rest
	}
	return fmt.Sprintf("Remove %s messages? They’re here because of this import alone. What was received, or what other imports also have, stays.%s", view.Number(messages), rest)
}

// refusedDates returns the possible date orders of a refused export; nil if it was refused for
// another reason.
func refusedDates(err error) *bridge.AmbiguousDates {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		return nil
	}
	return refused.Dates
}

// orderWords has the labels of date orders.
var orderWords = map[bridge.DateOrder]string{bridge.DMY: "Day, month, year", bridge.MDY: "Month, day, year", bridge.YMD: "Year, month, day"}

// dateInWords formats a date.
func dateInWords(text string) string {
	date, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return text
	}
	return date.Format("2 January 2006")
}

// wallTime formats a time at its own offset.
func wallTime(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return at.Format("2 January 2006, 15:04")
}
