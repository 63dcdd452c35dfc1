package console

import (
	"path"
	"testing"

	template "github.com/DataDog/datadog-agent/pkg/template/html"
)

// TestViews_Parse: a page is parsed when it is visited for the first time, so
// that a fault in its file would show no sooner.
func TestViews_Parse(t *testing.T) {
	v, err := newViews("")
	if err != nil {
		t.Fatal(err)
	}
	if len(v.byName) < 10 {
		t.Errorf("only %d pages", len(v.byName))
	}
	for name, page := range v.byName {
		first, err := page()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if again, err := page(); again != first || err != nil {
			t.Errorf("%s is parsed again: %v", name, err)
		}
	}
	assets, err := files.ReadDir("assets")
	if err != nil || len(assets) < 3 {
		t.Errorf("assets %v, %v", assets, err)
	}
	for _, asset := range assets {
		if contentTypes[path.Ext(asset.Name())] == "" {
			t.Errorf("%s has no content type", asset.Name())
		}
	}
}

// TestViews_TakeLittleBeforeTheyAreVisited: all pages together take 4 MB.
func TestViews_TakeLittleBeforeTheyAreVisited(t *testing.T) {
	allocations := testing.AllocsPerRun(5, func() {
		if _, err := newViews(""); err != nil {
			t.Error(err)
		}
	})
	var page *template.Template
	one := testing.AllocsPerRun(5, func() {
		v, err := newViews("")
		if err != nil {
			t.Fatal(err)
		}
		if page, err = v.byName["login"](); err != nil {
			t.Error(err)
		}
	})
	if allocations > one/4 {
		t.Errorf("%v allocations for no page, %v with %s", allocations, one, page.Name())
	}
}
