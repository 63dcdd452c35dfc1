package setup

import (
	"net/url"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

// importsPage lists the imports of exported chats.
type importsPage struct {
	Imports []listedImport
	Self    string // the address of this page's table
	More    string // the address of the next page
	Curl    string
}

type listedImport struct {
	bridge.Import
	Name string // of the chat
	Done int    // number of processed messages
	Word view.Word
}

// ShowImports shows a page of the imports. The script asks for the table alone (part).
func ShowImports(req *frame.Request) error {
	if err := mayImport(req); err != nil {
		return err
	}
	query := req.URL.Query()
	list, err := req.API.Imports(req.Context(), bridge.ImportQuery{Limit: 50, Cursor: query.Get("cursor")})
	if err != nil {
		return err
	}
	page := importsPage{Curl: req.Curl("GET", "/api/imports", nil)}
	for _, i := range list.Items {
		page.Imports = append(page.Imports, listedImport{i, names.EntryFor(req, i.ChatJID).Name, i.Imported + i.Duplicates, view.ImportWords[i.State]})
	}
	if list.NextCursor != nil {
		page.More = view.Root + "/imports?cursor=" + url.QueryEscape(*list.NextCursor)
	}
	page.Self = view.Root + "/imports?part&cursor=" + url.QueryEscape(query.Get("cursor"))
	if query.Has("part") {
		return req.PartOf("imports", "import-list", map[string]any{"Page": page, "Clock": req.Clock(), "CSRF": req.CSRF()})
	}
	return req.Show("imports", "Imports", page)
}

// EndImport cancels an import that is running, and undoes one that has ended.
func EndImport(req *frame.Request) error {
	if err := mayImport(req); err != nil {
		return err
	}
	id := req.PathValue("import")
	_, err := req.API.EndImport(req.Context(), id, true)
	return req.Done(err, "", view.Root+"/import/"+url.PathEscape(id))
}
