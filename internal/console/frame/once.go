package frame

import (
	"net/http"
	"slices"
	"sync"
)

// result is what an action made, for the next request of one page.
type result struct {
	path  string
	value any
}

// ShowOnce ends an action whose result is shown once, such as a secret: it redirects to a page, which
// takes the result with [Result]. So reloading the page does not repeat the action.
func (req *Request) ShowOnce(path string, value any) error {
	req.session.result.Store(&result{path, value})
	http.Redirect(req.W, req.Request, path, http.StatusSeeOther)
	return nil
}

// Result returns what [Request.ShowOnce] stored for this page, and forgets it. It returns the zero value
// if there is nothing.
func Result[T any](req *Request) (value T) {
	stored := req.session.result.Load()
	if stored != nil && stored.path == req.URL.Path && req.session.result.CompareAndSwap(stored, nil) {
		value, _ = stored.value.(T)
	}
	return value
}

// maxUsed limits the keys of forms that a session remembers.
const maxUsed = 32

// usedKeys has the keys of the last forms that were sent.
type usedKeys struct {
	mu   sync.Mutex
	keys []string // guarded by mu
}

// use reports whether a key is used for the first time.
func (u *usedKeys) use(key string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if slices.Contains(u.keys, key) {
		return false
	}
	u.keys = append(u.keys, key)
	if len(u.keys) > maxUsed {
		u.keys = slices.Delete(u.keys, 0, 1)
	}
	return true
}

// IsRepeated reports whether a form whose page shows the result itself was sent before, with the key that
// NewKey made for the form. Browsers send it again if the result is reloaded. It then redirects to the form.
func (req *Request) IsRepeated(key, path string) bool {
	if key == "" || len(key) <= len(NewKey()) && req.session.keys.use(key) {
		return false
	}
	req.Notify("This ran already and wasn’t repeated. To run it again, use the form.", true)
	http.Redirect(req.W, req.Request, path, http.StatusSeeOther)
	return true
}
