package setup

import (
	"errors"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

// importedPage follows an import.
type importedPage struct {
	bridge.Import
	Name string // of the chat
	Done int    // messages that were looked at
	Why  string // it has failed
	Curl string
}

// ShowImport answers how far an import is. The page renews itself until it has ended.
func ShowImport(req *frame.Request) error {
	if err := mayImport(req); err != nil {
		return err
	}
	found, err := req.API.Import(req.Context(), req.PathValue("import"))
	if err != nil {
		return err
	}
	page := importedPage{Import: found, Name: names.EntryFor(req, found.ChatJID).Name, Done: found.Imported + found.Duplicates, Curl: view.Curl("GET", "/api/imports/"+found.ID, nil)}
	if found.Error != nil {
		page.Why = view.Sentence(*found.Error)
	}
	return req.Show("imported", "Import", page)
}

// refusedDates returns how the dates of a refused export can be read; nil where they are not
// the reason.
func refusedDates(err error) *bridge.AmbiguousDates {
	refused, is := errors.AsType[*client.Error](err)
	if !is {
		return nil
	}
	return refused.Dates
}

// orderWords say in which order day, month and year are.
var orderWords = map[bridge.DateOrder]string{bridge.DMY: "Day, month, year", bridge.MDY: "Month, day, year", bridge.YMD: "Year, month, day"}

// dateInWords returns a date as people write it.
func dateInWords(text string) string {
	date, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return text
	}
	return date.Format("2 January 2006")
}

// wallTime returns a time with an offset as a clock at that offset shows it.
func wallTime(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return at.Format("2 January 2006, 15:04")
}
