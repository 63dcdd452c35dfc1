package client

import (
	"context"
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

// getPage requests one page of a list.
func getPage[T any](ctx context.Context, c *Client, path string, answer interface{ page() bridge.Page[T] }) (bridge.Page[T], error) {
	if err := c.Call(ctx, http.MethodGet, path, nil, answer); err != nil {
		return bridge.Page[T]{}, err
	}
	return answer.page(), nil
}

// pages follows the cursors of a list to its end. An error is yielded last.
func pages[T any](cursor string, get func(cursor string) (bridge.Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
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
			if page.NextCursor == nil {
				return
			}
			cursor = *page.NextCursor
		}
	}
}
