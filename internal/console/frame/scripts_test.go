package frame

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// Pages load one script, whose source map leads each line back to its file, and nothing waits for what is needed later.
func TestScripts_AreOneFile(t *testing.T) {
	t.Parallel()
	files := os.DirFS("..")
	script, sources, err := joinScripts(files)
	if err != nil {
		t.Fatal(err)
	}
	var joined sourceMap
	if err = json.Unmarshal(sources, &joined); err != nil || joined.Version != 3 {
		t.Fatalf("%s, %v", sources, err)
	}
	lines := strings.Split(string(script), "\n")
	inIt := make(map[string]bool)
	for _, part := range joined.Sections {
		name := part.Map.Sources[0]
		inIt[name] = true
		source, err := os.ReadFile("../assets/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSuffix(string(source), "\n"), "\n") {
			if got := lines[part.Offset.Line+i]; got != line && !strings.HasPrefix(line, "import ") && got != strings.TrimPrefix(line, "export ") && !strings.HasPrefix(line, "export {") {
				t.Errorf("%s, line %d: %q became %q", name, i+1, line, got)
			}
		}
	}
	lazy := regexp.MustCompile(`import\("\./([a-z]+\.js)"\)`)
	for _, found := range lazy.FindAllSubmatch(script, -1) {
		name := string(found[1])
		source, err := os.ReadFile("../assets/" + name)
		if err != nil || otherModule.Match(regexp.MustCompile(`(?m)^export `).ReplaceAll(source, nil)) || inIt[name] {
			t.Errorf("%s is loaded when it is needed, and imports other scripts or is among them: %v", name, err)
		}
		inIt[name] = true
	}
	entries, err := os.ReadDir("../assets")
	if err != nil {
		t.Fatal(err)
	}
	if emoji, err := os.Stat("../assets/emoji.txt"); err != nil || emoji.Size() == 0 || emoji.Size() > 60_000 {
		t.Errorf("the emoji are loaded at once: %v, %v", emoji, err)
	}
	for _, file := range entries {
		if strings.HasSuffix(file.Name(), ".js") && !inIt[file.Name()] {
			t.Errorf("no page loads %s", file.Name())
		}
	}
}

// Scripts that cannot be joined are refused with the reason.
func TestScripts_RefusesWhatCannotBeJoined(t *testing.T) {
	t.Parallel()
	for want, other := range map[string]string{
		`console imports "one", which other does not export`: "export const two = 2;\n",
		"console imports itself through [console other]":     "import { two } from \"./console.js\";\nexport const one = 1;\n",
		"other has an import or export in a form":            "export default 1;\n",
		"assets/third.js": "import \"./third.js\";\nexport const one = 1;\n",
	} {
		files := fstest.MapFS{"assets/console.js": {Data: []byte("import { one } from \"./other.js\";\n")}, "assets/other.js": {Data: []byte(other)}}
		if _, _, err := joinScripts(files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("for %q: %v", other, err)
		}
	}
}
