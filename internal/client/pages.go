package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"bridged/internal/bridge"
)

// query holds the parameters of a request; empty ones are left out.
type query map[string]string

// encode returns the parameters as they stand in an address.
func (q query) encode() string {
	values := url.Values{}
	for name, value := range q {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values.Encode()
}

// on returns path with the parameters.
func (q query) on(path string) string {
	if encoded := q.encode(); encoded != "" {
		path += "?" + encoded
	}
	return path
}

// number returns the value of a parameter; 0 is none.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// moment returns the value of a parameter; nil is none.
func moment(at *bridge.Time) string {
	if at == nil {
		return ""
	}
	return at.String()
}

// getPage requests one page of a list, whose items stand under a name. A list without
// pages is one page.
func getPage[T any](ctx context.Context, c *Client, path, name string) (page bridge.Page[T], err error) {
	answer, err := call[map[string]json.RawMessage](ctx, c, http.MethodGet, path, nil)
	if err == nil {
		err = json.Unmarshal(answer[name], &page.Items)
	}
	if next := answer["nextCursor"]; err == nil && next != nil {
		err = json.Unmarshal(next, &page.NextCursor)
	}
	return page, err
}

// getAll requests a list without pages.
func getAll[T any](ctx context.Context, c *Client, path, name string) ([]T, error) {
	page, err := getPage[T](ctx, c, path, name)
	return page.Items, err
}

// pages follows a list to its end, by the cursor and offset of the query that get
// uses. An error is yielded last.
func pages[T any](get func() (bridge.Page[T], error), cursor *string, offset *int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			page, err := get()
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if page.NextCursor == nil {
				return
			}
			*cursor, *offset = *page.NextCursor, 0
		}
	}
}
