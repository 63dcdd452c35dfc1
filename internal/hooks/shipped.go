package hooks

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"sync"
)

// textName is the template that sends bodies as they are.
const textName = "text"

//go:embed templates
var templateFiles embed.FS

// Names returns the names of the templates that are shipped.
func Names() []string {
	return []string{"alertmanager", "gitea", "github", "grafana", "json", textName, "uptime-kuma"}
}

// shipped returns the templates that are shipped, by their names. Of code hosts
// there is a file for each event, in a directory.
var shipped = sync.OnceValue(func() map[string]*Template {
	templates := make(map[string]*Template)
	for _, name := range Names() {
		templates[name] = &Template{name: name}
	}
	files, err := templateFiles.ReadDir("templates")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		if name, isFile := strings.CutSuffix(file.Name(), ".tmpl"); isFile {
			templates[name].always = mustCompile("templates/" + file.Name())
			continue
		}
		templates[file.Name()].byEvent = eventsIn("templates/" + file.Name())
	}
	return templates
})

// eventsIn returns the templates of a directory by their events.
func eventsIn(dir string) map[string]*program {
	events := make(map[string]*program)
	files, err := templateFiles.ReadDir(dir)
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		events[strings.TrimSuffix(file.Name(), ".tmpl")] = mustCompile(path.Join(dir, file.Name()))
	}
	return events
}

// mustCompile reads a file under the rules of everybody's templates.
func mustCompile(file string) *program {
	source, err := templateFiles.ReadFile(file)
	if err != nil {
		panic(err)
	}
	compiled, err := compile(string(source))
	if err != nil {
		panic(fmt.Sprintf("hooks: %s: %v", file, err))
	}
	return compiled
}
