package view

import (
	_ "embed"
	"fmt"
	"html/template"
	"regexp"
	"sync"
)

//go:embed icons.svg
var drawings string

var symbolPattern = regexp.MustCompile(`<symbol id="(.+?)">(.+?)</symbol>`)

// icons returns the drawings in icons.svg, by name.
var icons = sync.OnceValue(func() map[string]template.HTML {
	byName := make(map[string]template.HTML)
	for _, symbol := range symbolPattern.FindAllStringSubmatch(drawings, -1) {
		byName[symbol[1]] = template.HTML(`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">` + symbol[2] + `</svg>`)
	}
	return byName
})

// icon returns a drawing. Screen readers skip it and read the words next to it.
func icon(name string) (template.HTML, error) {
	drawing, known := icons()[name]
	if !known {
		return "", fmt.Errorf("there is no icon %q", name)
	}
	return drawing, nil
}
