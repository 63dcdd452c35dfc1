package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"bridged/internal/bridge"
)

// params collects the query of a request; what is empty is left out.
type params struct{ values url.Values }

func newParams() params { return params{url.Values{}} }

func (p params) text(name, value string) params {
	if value != "" {
		p.values.Set(name, value)
	}
	return p
}

func (p params) number(name string, value int) params {
	if value != 0 {
		p.values.Set(name, strconv.Itoa(value))
	}
	return p
}

func (p params) moment(name string, at *bridge.Time) params {
	if at != nil {
		p.values.Set(name, at.String())
	}
	return p
}

// on returns path with the query.
func (p params) on(path string) string {
	if len(p.values) == 0 {
		return path
	}
	return path + "?" + p.values.Encode()
}

// list requests a list, and returns the members of the answer.
func (c *Client) list(ctx context.Context, path string) (answer map[string]json.RawMessage, err error) {
	err = c.Call(ctx, http.MethodGet, path, nil, &answer)
	return answer, err
}

// pageOf returns the page whose items an answer has under a name.
func pageOf[T any](answer map[string]json.RawMessage, name string) (page bridge.Page[T], err error) {
	err = errors.Join(json.Unmarshal(answer[name], &page.Items), json.Unmarshal(answer["nextCursor"], &page.NextCursor))
	return page, err
}

// listOf requests a list without pages, whose items stand under a name.
func listOf[T any](ctx context.Context, c *Client, path, name string) (items []T, err error) {
	answer, err := c.list(ctx, path)
	if err == nil {
		err = json.Unmarshal(answer[name], &items)
	}
	return items, err
}

// getPage requests one page of a list, whose items stand under a name.
func getPage[T any](ctx context.Context, c *Client, path, name string) (bridge.Page[T], error) {
	answer, err := c.list(ctx, path)
	if err != nil {
		return bridge.Page[T]{}, err
	}
	return pageOf[T](answer, name)
}

// pages follows the cursors of a list to its end; the first page has none. An error
// is yielded last.
func pages[T any](get func(cursor *string) (bridge.Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var cursor *string
		for {
			page, err := get(cursor)
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
			if cursor = page.NextCursor; cursor == nil {
				return
			}
		}
	}
}
