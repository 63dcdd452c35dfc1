package console

import (
	"net/http"
	"net/url"

	"bridged/internal/bridge"
)

// importsPage lists the imports of exported chats.
type importsPage struct {
	Imports []listedImport
	More    string // the address of the next page
	Curl    string
}

type listedImport struct {
	bridge.Import
	Name  string // of the chat
	State importWord
}

// importWord says in which state an import is, as the list shows it.
type importWord struct{ Text, Tone string }

var importStates = map[bridge.ImportState]importWord{
	bridge.ImportRunning: {"Importing", "warn"}, bridge.ImportDone: {"Imported", "good"}, bridge.ImportFailed: {"Failed", "bad"}, bridge.ImportCancelled: {"Cancelled", "warn"},
	bridge.ImportUndoing: {"Undoing", "warn"}, bridge.ImportUndone: {"Undone", ""},
}

// showImports answers a page of the imports.
func (c *Console) showImports(v *visit) error {
	if err := v.mayImport(); err != nil {
		return err
	}
	list, err := v.api.Imports(v.r.Context(), bridge.ImportQuery{Limit: 50, Cursor: v.r.URL.Query().Get("cursor")})
	if err != nil {
		return err
	}
	page := importsPage{Curl: curl("GET", "/api/imports", nil)}
	for _, i := range list.Items {
		page.Imports = append(page.Imports, listedImport{i, v.named(i.ChatJID).Name, importStates[i.State]})
	}
	if list.NextCursor != nil {
		page.More = root + "/imports?cursor=" + url.QueryEscape(*list.NextCursor)
	}
	return v.show("imports", "Imports", page)
}

// endImport cancels an import that is running, and undoes one that has ended.
func (c *Console) endImport(v *visit) error {
	if err := v.mayImport(); err != nil {
		return err
	}
	id := v.r.PathValue("import")
	_, err := v.api.EndImport(v.r.Context(), id)
	if err == nil {
		http.Redirect(v.w, v.r, root+"/import/"+url.PathEscape(id), http.StatusSeeOther)
	}
	return err
}
