package frame

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
	"bridged/internal/console/view"
)

// PartOf answers the script with a part of a page's template.
func (req *Request) PartOf(name, part string, data any) error {
	return req.site.render(req.W, http.StatusOK, name, part, data)
}

// Templates are the pages of a console and the files that they load.
type Templates struct {
	// Files has the pages in templates/, each in a file of its name, with the parts that all pages
	// share (_*.html), and the scripts, styles and icons in assets/.
	Files     fs.FS
	Functions []template.FuncMap // the functions that templates can call
	Styles    []string           // the style sheets, in their order
}

// Layout has the parsed templates, for all sites of a process. A page is parsed when it is first shown, because all
// pages take 4 MB and most consoles are never visited.
type Layout struct {
	byName map[string]func() (*template.Template, error)
	assets func() (map[string]asset, error)
}

// NewLayout returns a layout. It fails if the templates cannot be found.
func NewLayout(t Templates) (*Layout, error) {
	names, err := fs.Glob(t.Files, "templates/[a-z]*.html")
	l := &Layout{byName: make(map[string]func() (*template.Template, error), len(names))}
	l.assets = sync.OnceValues(func() (map[string]asset, error) { return readAssets(t) })
	for _, name := range names {
		l.byName[strings.TrimSuffix(path.Base(name), ".html")] = sync.OnceValues(func() (*template.Template, error) {
			page := template.New("").Funcs(template.FuncMap{"asset": l.assetPath})
			for _, functions := range t.Functions {
				page.Funcs(functions)
			}
			return page.ParseFS(t.Files, "templates/_*.html", name)
		})
	}
	return l, err
}

// page is the data of the layout.
type page struct {
	Title       string
	Name        string // of the page's template
	CSRF        string
	Visitor     string // identifies the token of the session; see [session.visitor]
	Notice      *Notice
	State       *view.State // of the account; nil if it could not be requested
	Theme       string      // light or dark; empty for the system's
	Administers bool        // whether pages about the whole account are offered
	Accounts    []Account   // in the menu that switches between accounts; nil if there is only one
	Cursor      string      // of the log of events, when the page was made
	Page        any         // the data of the page
	Clock       view.Clock
}

// Show answers with the page of a template.
func (req *Request) Show(name, title string, content any) error {
	return req.ShowAs(http.StatusOK, name, title, content)
}

// ShowAs answers with a page and a status.
func (req *Request) ShowAs(status int, name, title string, content any) error {
	shown := page{
		Title: title, Name: name, CSRF: req.session.csrf, Visitor: req.session.visitor(req.Options.BasePath), Notice: req.session.notice.Swap(nil), Administers: req.Administers(), Accounts: req.accounts(),
		Cursor: req.Cursor, Page: content, Clock: req.Clock(), Theme: themeOf(req.Request),
	}
	if status, err := req.Status(); err == nil {
		shown.State = new(view.StateOf(status))
	}
	return req.site.render(req.W, status, name, "frame", shown)
}

// showBare answers with a page that has no layout.
func (site *Site) showBare(w http.ResponseWriter, r *http.Request, status int, name string, page any) {
	if err := site.render(w, status, name, "page", page); err != nil {
		answerBroken(w, r, err)
	}
}

// render executes a part of a page's template before anything is sent.
func (site *Site) render(w http.ResponseWriter, status int, name, part string, data any) error {
	var body bytes.Buffer
	parsed, err := site.layout.byName[name]()
	if err == nil {
		err = parsed.ExecuteTemplate(&body, part, data)
	}
	if err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	writeAnswer(w, status, "text/html; charset=utf-8", withBase(site.options.BasePath, body.Bytes()))
	return nil
}

// answerBroken answers a request whose page cannot be rendered.
func answerBroken(w http.ResponseWriter, r *http.Request, err error) {
	hlog.FromRequest(r).Error().Str("error", bridge.Redact(err.Error())).Msg("console page failed")
	http.Error(w, "Something went wrong. The bridge’s log has the details.", http.StatusInternalServerError)
}

// refuse answers a request before there is a session.
func refuse(w http.ResponseWriter, status int, title, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "%s.\n\n%s\n", title, text) // fails if the visitor has left
}
