// Command tojson prints an OpenAPI document as JSON, as a bridge serves it at /openapi.json: ogen does not
// read references (anchors) of YAML.
package main

import (
	"fmt"
	"os"

	"github.com/oasdiff/yaml"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		text, err = yaml.YAMLToJSON(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(text))
}
