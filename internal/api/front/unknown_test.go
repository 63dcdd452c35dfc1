package front

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

type place struct {
	Name string `json:"name"`
}

type journey struct {
	place
	Bags
	Stops  []place        `json:"stops"`
	Last   *place         `json:"last"`
	Extra  map[string]any `json:"extra"`
	Hidden string         `json:"-"`
}

// Bags has a field of its own name, as bridge.Contacts does.
type Bags struct {
	Bags []place `json:"bags"`
}

func TestUnknownNames_AreFoundAtEveryDepth(t *testing.T) {
	for body, want := range map[string][]string{
		`{}`: nil,
		`{"name":"x","stops":[{"name":"y"},null],"last":{"name":"z"},"bags":[{"name":"b"}],"extra":{"any":{"thing":1}}}`: nil,
		`{"nmae":"x","stops":null,"last":null}`: {"nmae"},
		`{"Name":"x","Hidden":"y","-":1}`:       {"Name", "Hidden", "-"},
		`{"stops":[{"name":"y"},{"nam":"y","name":"z"}],"last":{"at":[{"name":1}]},"bags":[{"n":1}],"b":{"c":[]}}`: {"stops[1].nam", "last.at", "bags[0].n", "b"},
		`{"a b":1,"":2,"` + strings.Repeat("é", 200) + `":3}`:                                                      {`"a b"`, `""`, strings.Repeat("é", 32) + "…"},
		`{"name":"\ud83d","x":1}`: {"x"},
	} {
		var into journey
		if err := decodeJSON([]byte(body), &into, false); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if got := UnknownNames([]byte(body), &into); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf(`"n%d":[[[[]]]]`, i)
	}
	if got := UnknownNames([]byte("{"+strings.Join(many, ",")+"}"), &journey{}); len(got) != maxUnknown || got[19] != "n19" {
		t.Errorf("of a thousand: %q", got)
	}
}

func TestIsStrict_ReadsPrefer(t *testing.T) {
	for header, want := range map[string]bool{"": false, "respond-async": false, "handling=lenient": false, "handling=strict": true, "respond-async, Handling=Strict": true} {
		if got := IsStrict(&http.Request{Header: http.Header{"Prefer": {header}}}); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
}
