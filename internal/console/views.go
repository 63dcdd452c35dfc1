package console

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	template "github.com/DataDog/datadog-agent/pkg/template/html"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
)

//go:embed templates/* assets/*
var files embed.FS

// views holds the templates of the pages, by name. One is parsed at the first call: all of
// them take 4 MB, and most consoles are never visited.
type views struct {
	byName map[string]func() (*template.Template, error)
	base   string // before the addresses in pages
}

// newViews finds the templates. Each page is a file of its own; files whose names begin
// with an underscore are parts of all.
func newViews(base string) (views, error) {
	names, err := fs.Glob(files, "templates/[a-z]*.html")
	v := views{make(map[string]func() (*template.Template, error), len(names)), base}
	for _, name := range names {
		v.byName[strings.TrimSuffix(path.Base(name), ".html")] = sync.OnceValues(func() (*template.Template, error) {
			return template.New("").Funcs(functions).ParseFS(files, "templates/_*.html", name)
		})
	}
	return v, err
}

// contentTypes names the types of the files that pages load, whatever the machine's own
// table says.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png", ".webmanifest": "application/manifest+json",
}

// asset is a file that pages load.
type asset struct {
	content []byte
	version string
	gzipped []byte // nil where that spares nothing, as of pictures
}

// gzipped returns a file's content as gzip, unless that is as long. No page is compressed,
// but what is the same for everybody: a page's length tells nothing of its secrets.
func gzipped(content []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(content)
	if err = errors.Join(err, w.Close()); err != nil || packed.Len() > len(content)*9/10 {
		return nil, err
	}
	return packed.Bytes(), nil
}

// importPattern finds the modules that a script imports.
var importPattern = regexp.MustCompile(`"\./([a-z]+\.js)"`)

// lazyPattern finds the modules that a script imports once they are needed.
var lazyPattern = regexp.MustCompile(`import\("\./([a-z]+\.js)`)

// assets returns the files that pages load. Scripts import each other with their versions.
var assets = sync.OnceValues(func() (map[string]asset, error) {
	read := make(map[string]asset)
	entries, err := files.ReadDir("assets")
	for _, entry := range entries {
		if err == nil {
			err = readAsset(entry.Name(), read)
		}
	}
	var all []byte
	for _, name := range styles {
		all = append(all, read[name].content...)
	}
	return read, errors.Join(err, addAsset(read, "all.css", all))
})

// styles lists the styles in the order in which they stand in the one that pages load:
// each file of its own would hold the first paint up.
var styles = []string{"console.css", "chat.css", "messages.css", "composer.css", "chats.css", "pages.css", "people.css"}

// readAsset reads a file, and those that it imports before it.
func readAsset(name string, read map[string]asset) error {
	if read[name].content != nil {
		return nil
	}
	content, err := files.ReadFile("assets/" + name)
	if err != nil {
		return err
	}
	if path.Ext(name) == ".js" {
		content = importPattern.ReplaceAllFunc(content, func(imported []byte) []byte {
			other := string(importPattern.FindSubmatch(imported)[1])
			err = errors.Join(err, readAsset(other, read))
			return []byte(`"./` + other + `?v=` + read[other].version + `"`)
		})
	}
	return errors.Join(err, addAsset(read, name, content))
}

func addAsset(to map[string]asset, name string, content []byte) error {
	hash := sha256.Sum256(content)
	packed, err := gzipped(content)
	to[name] = asset{content, base64.RawURLEncoding.EncodeToString(hash[:9]), packed}
	return err
}

// scripts returns the names of the scripts that pages load at once rather than one after
// the other: all but those that are imported once they are needed.
func scripts() (names []string, err error) {
	all, err := assets()
	lazy := make(map[string]bool)
	for name, script := range all {
		if path.Ext(name) != ".js" {
			continue
		}
		names = append(names, name)
		for _, imported := range lazyPattern.FindAllSubmatch(script.content, -1) {
			lazy[string(imported[1])] = true
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return lazy[name] })
	slices.Sort(names)
	return names, err
}

// assetPath returns the address of a file that pages load, with its version.
func assetPath(name string) (string, error) {
	all, err := assets()
	if err == nil && all[name].content == nil {
		err = fmt.Errorf("there is no asset %s", name)
	}
	return root + "/assets/" + name + "?v=" + all[name].version, err
}

// serveAsset answers a file that pages load, and the icon where browsers look for it
// by themselves. It needs no session: the login has a style, too.
func (c *Console) serveAsset(w http.ResponseWriter, r *http.Request) {
	name := cmp.Or(r.PathValue("name"), "icon.svg")
	all, err := assets()
	if found := all[name]; err == nil && found.content != nil {
		w.Header().Set("Cache-Control", "no-cache")
		if r.URL.Query().Get("v") == found.version {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		content := found.content
		if found.gzipped != nil {
			w.Header().Set("Vary", "Accept-Encoding")
			if acceptsGzip(r) {
				w.Header().Set("Content-Encoding", "gzip")
				content = found.gzipped
			}
		}
		writeAnswer(w, http.StatusOK, contentTypes[path.Ext(name)], content)
		return
	}
	http.NotFound(w, r)
}

// gzipPattern finds gzip among the encodings that a browser takes, but for one of no weight.
var gzipPattern = regexp.MustCompile(`(?i)(?:^|[\s,])gzip\s*(?:,|$|;\s*q=(?:1|0?\.0*[1-9]))`)

func acceptsGzip(r *http.Request) bool {
	return gzipPattern.MatchString(strings.Join(r.Header.Values("Accept-Encoding"), ","))
}

// view is the frame of a page, with the page in it.
type view struct {
	Title       string
	Name        string // of the page's template
	CSRF        string
	Visitor     string // tells visitors of one browser apart; see [session.visitor]
	Notice      *notice
	State       *state // of the account; nil where it could not be requested
	Theme       string // light or dark; empty for the system's
	Administers bool   // whether pages about the whole account are offered
	Cursor      string // of the log of events, when the page was made
	Page        any
	Clock       clock
}

func (v *visit) show(name, title string, page any) error {
	return v.showAs(http.StatusOK, name, title, page)
}

func (v *visit) showAs(status int, name, title string, page any) error {
	frame := view{
		Title: title, Name: name, CSRF: v.session.csrf, Visitor: v.session.visitor(), Notice: v.session.notice.Swap(nil), Administers: v.administers(),
		Cursor: v.cursor, Page: page, Clock: v.clock(), Theme: themeOf(v.r),
	}
	if status, err := v.status(); err == nil {
		frame.State = new(describe(status))
	}
	return v.c.views.render(v.w, status, name, "frame", frame)
}

func (c *Console) showBare(w http.ResponseWriter, r *http.Request, status int, name string, page any) {
	if err := c.views.render(w, status, name, "page", page); err != nil {
		broken(w, r, err)
	}
}

// render executes a part of a page's template before anything is sent.
func (v views) render(w http.ResponseWriter, status int, name, part string, data any) error {
	var body bytes.Buffer
	page, err := v.byName[name]()
	if err == nil {
		err = page.ExecuteTemplate(&body, part, data)
	}
	if err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	writeAnswer(w, status, "text/html; charset=utf-8", withBase(v.base, body.Bytes()))
	return nil
}

// broken answers where no page can be shown.
func broken(w http.ResponseWriter, r *http.Request, err error) {
	hlog.FromRequest(r).Error().Str("error", bridge.Redact(err.Error())).Msg("console page failed")
	http.Error(w, "Something went wrong. The bridge’s log has the details.", http.StatusInternalServerError)
}

// refuse answers a request before there is a session.
func refuse(w http.ResponseWriter, status int, title, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "%s.\n\n%s\n", title, text) // fails where the visitor has left
}
