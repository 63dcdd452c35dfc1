package client

import (
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"

	"bridged/internal/bridge"
)

// ChatExport describes a chat that an app has exported.
type ChatExport struct {
	Chat      string                // the JID of a chat, or the name of a new one
	Names     map[string]bridge.JID // who the names in it are
	Timezone  string                // of the phone; empty for the bridge's
	DateOrder bridge.DateOrder      // empty to find out
	DryRun    bool
	FileName  string
	Async     bool // whether the answer comes once the import has begun
}

// ImportChat takes an exported chat over while it is read. An import that is still running is
// followed with [Client.Import].
func (c *Client) ImportChat(ctx context.Context, export ChatExport, file io.Reader) (started bridge.Import, err error) {
	header := http.Header{}
	if export.Async {
		header.Set("Prefer", "respond-async")
	}
	err = c.sendForm(ctx, "/api/imports", func(w *multipart.Writer) error { return export.write(w, file) }, header, func(resp *http.Response, err error) error {
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return decode(resp, &started)
	})
	return started, err
}

func (e ChatExport) write(w *multipart.Writer, file io.Reader) error {
	names, dryRun := "", ""
	if len(e.Names) > 0 {
		encoded, err := json.Marshal(e.Names)
		if err != nil {
			return err
		}
		names = string(encoded)
	}
	if e.DryRun {
		dryRun = strconv.FormatBool(true)
	}
	return writeForm(w, [][2]string{
		{"chat", e.Chat}, {"names", names}, {"timezone", e.Timezone}, {"dateOrder", string(e.DateOrder)}, {"dryRun", dryRun},
	}, e.FileName, file)
}

// Import returns how far an import is.
func (c *Client) Import(ctx context.Context, id string) (bridge.Import, error) {
	return call[bridge.Import](ctx, c, http.MethodGet, "/api/imports/"+url.PathEscape(id), nil)
}

// CancelImport ends an import that is running, and returns it once it has ended.
func (c *Client) CancelImport(ctx context.Context, id string) (bridge.Import, error) {
	return call[bridge.Import](ctx, c, http.MethodDelete, "/api/imports/"+url.PathEscape(id), nil)
}
