package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	template "github.com/DataDog/datadog-agent/pkg/template/html"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
)

//go:embed templates/*.html assets/*
var files embed.FS

// views are the templates and the files that pages load.
type views struct {
	pages  map[string]parsed
	assets map[string]asset
}

// parsed returns the template of a page, which it parses when it is called for
// the first time: all of them take 4 MB, and most bridges are never visited.
type parsed func() (*template.Template, error)

// asset is a file that pages load. Its address changes with its content, so
// that browsers may keep it.
type asset struct {
	content     []byte
	contentType string
	version     string
}

// newViews finds the templates. Each page is a file of its own; files that
// begin with an underscore are parts of all.
func newViews() (*views, error) {
	v := &views{pages: make(map[string]parsed), assets: make(map[string]asset)}
	if err := v.readAssets(); err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, "templates/[a-z]*.html")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		v.pages[strings.TrimSuffix(path.Base(name), ".html")] = sync.OnceValues(func() (*template.Template, error) {
			return template.New("").Funcs(v.functions()).ParseFS(files, "templates/_*.html", name)
		})
	}
	return v, nil
}

// contentTypes names the types of assets, whatever this machine knows of them.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

func (v *views) readAssets() error {
	return fs.WalkDir(files, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		hash := sha256.Sum256(content)
		v.assets[path.Base(name)] = asset{
			content: content, contentType: contentTypes[path.Ext(name)],
			version: base64.RawURLEncoding.EncodeToString(hash[:9]),
		}
		return nil
	})
}

// assetPath returns the address of a file that pages load.
func (v *views) assetPath(name string) string {
	return root + "/assets/" + name + "?v=" + v.assets[name].version
}

// getAsset answers a file that pages load. It needs no session: the login has a
// style, too.
func (c *Console) getAsset(w http.ResponseWriter, r *http.Request) {
	c.serveAsset(w, r, r.PathValue("name"))
}

// getIcon answers the icon where browsers look for it by themselves.
func (c *Console) getIcon(w http.ResponseWriter, r *http.Request) { c.serveAsset(w, r, "icon.svg") }

func (c *Console) serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	file, known := c.views.assets[name]
	if !known {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", file.contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(file.content)))
	w.Header().Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == file.version {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	answerNow(w)
	_, _ = w.Write(file.content) // whoever does not read it has gone
}

// view is what the templates of a page see.
type view struct {
	Title  string
	Name   string // of the page's template
	CSRF   string
	Notice *notice
	Status *bridge.Status // of the account; nil where it could not be asked
	Send   bool
	// Administers reports whether the visitor may see and change everything but
	// send: pages about the whole account are shown then.
	Administers bool
	Version     string
	Cursor      string // of the log of events, when the page was made
	Page        any
	Clock       clock
}

// show answers a page of the console in its frame.
func (v *visit) show(status int, name, title string, page any) {
	frame := view{
		Title: title, Name: name, CSRF: v.session.csrf, Notice: v.session.notice.Swap(nil), Send: v.sends(), Administers: v.administers(),
		Version: v.c.options.Version, Cursor: v.cursor, Page: page, Clock: v.clock(),
	}
	if state, err := v.status(); err == nil {
		frame.Status = &state
	}
	v.c.views.render(v.w, v.r, status, name, "frame", frame)
}

// refuse answers somebody who has no session yet.
func (c *Console) refuse(w http.ResponseWriter, status int, title, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "%s.\n\n%s\n", title, text) // whoever does not read it has gone
}

// write answers a page that stands outside of the frame.
func (v *views) write(w http.ResponseWriter, r *http.Request, status int, name string, page any) {
	v.render(w, r, status, name, "page", page)
}

// render executes a part of a page's template before anything is sent, so that
// its error can still be answered.
func (v *views) render(w http.ResponseWriter, r *http.Request, status int, name, part string, data any) {
	var body bytes.Buffer
	if err := v.execute(&body, name, part, data); err != nil {
		hlog.FromRequest(r).Error().Str("error", bridge.Redact(err.Error())).Str("page", name).Msg("console page failed")
		http.Error(w, "Something went wrong inside the service; its log says what.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	answerNow(w)
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // whoever does not read it has gone
}

func (v *views) execute(w io.Writer, name, part string, data any) error {
	page, err := v.pages[name]()
	if err != nil {
		return err
	}
	return page.ExecuteTemplate(w, part, data)
}
