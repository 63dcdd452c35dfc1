package client

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"

	"bridged/internal/bridge"
)

// ChatExport describes an exported chat.
type ChatExport struct {
	Chat      string                // the JID of a chat, or the name of a new one
	Names     map[string]bridge.JID // whom the names in the chat belong to
	Timezone  string                // of the phone; "" for the bridge's
	DateOrder bridge.DateOrder      // "" to detect it
	DryRun    bool
	FileName  string
	Async     bool // respond when the import has started
}

// ImportChat uploads and imports an exported chat. [Client.Import] returns the progress of an
// import that is still running.
func (c *Client) ImportChat(ctx context.Context, export ChatExport, file io.Reader) (started bridge.Import, err error) {
	err = c.sendForm(ctx, "/api/imports", func(w *multipart.Writer) error { return export.write(w, file) }, preferring(export.Async), func(resp *http.Response, err error) error {
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return c.decode(resp, &started)
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

// Import returns the progress of an import.
func (c *Client) Import(ctx context.Context, id string) (bridge.Import, error) {
	return call[bridge.Import](ctx, c, http.MethodGet, "/api/imports/"+url.PathEscape(id), nil)
}

// Imports returns a page of the imports of exported chats, the newest first.
func (c *Client) Imports(ctx context.Context, q bridge.ImportQuery) (bridge.Page[bridge.Import], error) {
	path := query{"chat": string(q.Chat), "limit": number(q.Limit), "cursor": q.Cursor}.on("/api/imports")
	return getPage[bridge.Import](ctx, c, path, "imports")
}

// AllImports returns all imports from the page of q on, by pages of q.Limit.
func (c *Client) AllImports(ctx context.Context, q bridge.ImportQuery) iter.Seq2[bridge.Import, error] {
	return pages(func() (bridge.Page[bridge.Import], error) { return c.Imports(ctx, q) }, &q.Cursor, new(int))
}

// EndImport cancels an import that is running, and undoes one that has ended. It may still be in the state
// [bridge.ImportUndoing], always with async: follow it with [Client.Import].
func (c *Client) EndImport(ctx context.Context, id string, async bool) (is bridge.Import, err error) {
	resp, err := c.Do(ctx, http.MethodDelete, "/api/imports/"+url.PathEscape(id), nil, preferring(async))
	if err != nil {
		return is, err
	}
	defer resp.Body.Close()
	err = c.decode(resp, &is)
	return is, err
}

// preferring returns the headers of a call that is to be answered at once, if async is set (RFC 7240).
func preferring(async bool) http.Header {
	header := http.Header{}
	if async {
		header.Set("Prefer", "respond-async")
	}
	return header
}
