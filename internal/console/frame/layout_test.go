package frame_test

import (
	"html/template"
	"os"
	"path"
	"testing"

	"bridged/internal/console/chats"
	"bridged/internal/console/explorer"
	"bridged/internal/console/frame"
	"bridged/internal/console/setup"
	"bridged/internal/console/view"
)

var pages = frame.Templates{
	Files:     os.DirFS(".."),
	Functions: []template.FuncMap{view.Functions, chats.Functions, setup.Functions, explorer.Functions},
}

// TestLayout_ParsesAllPages: a page is parsed when it is first visited, so an error in its
// file would only show then.
func TestLayout_ParsesAllPages(t *testing.T) {
	byName, err := frame.Pages(pages)
	if err != nil {
		t.Fatal(err)
	}
	if len(byName) < 10 {
		t.Errorf("only %d pages", len(byName))
	}
	for name, page := range byName {
		first, err := page()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if again, err := page(); again != first || err != nil {
			t.Errorf("%s is parsed again: %v", name, err)
		}
	}
	assets, err := os.ReadDir("../assets")
	if err != nil || len(assets) < 3 {
		t.Errorf("assets %v, %v", assets, err)
	}
	for _, asset := range assets {
		if !frame.HasContentType(path.Ext(asset.Name())) {
			t.Errorf("%s has no content type", asset.Name())
		}
	}
}

// TestLayout_TakesLittleBeforeTheFirstVisit: all pages together take 4 MB.
func TestLayout_TakesLittleBeforeTheFirstVisit(t *testing.T) {
	allocations := testing.AllocsPerRun(5, func() {
		if _, err := frame.Pages(pages); err != nil {
			t.Error(err)
		}
	})
	one := testing.AllocsPerRun(5, func() {
		byName, err := frame.Pages(pages)
		if err == nil {
			_, err = byName["login"]()
		}
		if err != nil {
			t.Error(err)
		}
	})
	if allocations > one/4 {
		t.Errorf("%v allocations for no page, %v with the login", allocations, one)
	}
}
