package frame

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"bridged/internal/console/view"
)

// contentTypes has the types of the files that pages load. The machine's own table may differ.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png", ".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json", ".map": "application/json",
}

// asset is a file that pages load.
type asset struct {
	content []byte
	version string
	gzipped func() []byte // compresses at the first call; see [gzipped]
}

// gzipped compresses a file; it returns nil if that saves less than a tenth, as for pictures. Pages are not
// compressed, so that their length reveals nothing about their secrets.
func gzipped(content []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(content)
	if err = errors.Join(err, w.Close()); err != nil || packed.Len() > len(content)*9/10 {
		return nil // a buffer does not fail
	}
	return packed.Bytes()
}

// importPattern finds the scripts and data that a script loads.
var importPattern = regexp.MustCompile(`"\./([a-z]+\.(?:js|txt))"`)

// readAssets reads the files that pages load. Scripts import each other with their versions.
func readAssets(t Templates) (map[string]asset, error) {
	read := make(map[string]asset)
	entries, err := fs.ReadDir(t.Files, "assets")
	for _, entry := range entries {
		if err == nil {
			err = readAsset(t.Files, entry.Name(), read)
		}
	}
	var all []byte // one request instead of one for each style: they delay the first paint
	for _, name := range t.Styles {
		all = append(all, read[name].content...)
	}
	addAsset(read, "all.css", all)
	return read, err
}

// readAsset reads a file after the files that it imports.
func readAsset(files fs.FS, name string, read map[string]asset) error {
	if read[name].content != nil {
		return nil
	}
	content, err := fs.ReadFile(files, "assets/"+name)
	if name == entry {
		var sources []byte
		content, sources, err = joinScripts(files)
		addAsset(read, name+".map", sources)
		content = append(content, "//# sourceMappingURL="+name+".map?v="+read[name+".map"].version+"\n"...)
	}
	if err != nil {
		return err
	}
	if path.Ext(name) == ".js" {
		content = importPattern.ReplaceAllFunc(content, func(imported []byte) []byte {
			other := string(importPattern.FindSubmatch(imported)[1])
			err = errors.Join(err, readAsset(files, other, read))
			return []byte(`"./` + other + `?v=` + read[other].version + `"`)
		})
	}
	addAsset(read, name, content)
	return err
}

func addAsset(to map[string]asset, name string, content []byte) {
	hash := sha256.Sum256(content)
	to[name] = asset{content, base64.RawURLEncoding.EncodeToString(hash[:9]), sync.OnceValue(func() []byte { return gzipped(content) })}
}

// assetPath returns the address of a file that pages load, with its version.
func (v *Layout) assetPath(name string) (string, error) {
	all, err := v.assets()
	if err == nil && all[name].content == nil {
		err = fmt.Errorf("there is no asset %s", name)
	}
	return view.Root + "/assets/" + name + "?v=" + all[name].version, err
}

// ServeAsset answers with a script, style or icon. It needs no session, because the login page has
// a style too.
func (site *Site) ServeAsset(w http.ResponseWriter, r *http.Request) {
	name := cmp.Or(r.PathValue("name"), "icon.svg")
	all, err := site.layout.assets()
	if found := all[name]; err == nil && found.content != nil {
		w.Header().Set("Cache-Control", "no-cache")
		if r.URL.Query().Get("v") == found.version {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		content := found.content
		if packed := found.gzipped(); packed != nil {
			w.Header().Set("Vary", "Accept-Encoding")
			if acceptsGzip(r) {
				w.Header().Set("Content-Encoding", "gzip")
				content = packed
			}
		}
		writeAnswer(w, http.StatusOK, contentTypes[path.Ext(name)], content)
		return
	}
	http.NotFound(w, r)
}

// gzipPattern finds gzip among the accepted encodings, unless its weight is 0.
var gzipPattern = regexp.MustCompile(`(?i)(?:^|[\s,])gzip\s*(?:,|$|;\s*q=(?:1|0?\.0*[1-9]))`)

func acceptsGzip(r *http.Request) bool {
	return gzipPattern.MatchString(strings.Join(r.Header.Values("Accept-Encoding"), ","))
}
