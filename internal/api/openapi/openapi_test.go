package openapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"bridged/internal/api/openapi"
)

// deprecating is a document in which something of each kind is deprecated.
const deprecating = `openapi: 3.1.0
info:
  title: pets
  version: dev
servers:
  - url: /
paths:
  /old:
    get:
      deprecated: true
      x-deprecated: 2027-01-31
      x-sunset: "2027-08-01"
      responses: {"200": {description: it}}
  /pets/{id}:
    parameters:
      - {name: colour, in: query, deprecated: true, x-deprecated: 2027-02-01, x-sunset: 2027-09-01, schema: {type: string}}
    get:
      parameters:
        - $ref: "#/components/parameters/Tint"
        - {name: size, in: query, schema: {type: string}}
      responses: {"200": {description: it}}
    post:
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}
      responses: {"200": {description: it}}
    put:
      requestBody: {content: {multipart/form-data: {schema: {$ref: "#/components/schemas/Toy"}}}}
      responses: {"200": {description: it}}
    delete:
      responses: {"200": {$ref: "#/components/responses/Toys"}}
components:
  parameters:
    Tint: {name: X-Tint, in: header, deprecated: true, x-deprecated: 2027-01-01, x-sunset: 2027-10-01, schema: {type: string}}
  responses:
    Toys: {description: them, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Toy"}}}}}
  schemas:
    Pet:
      type: object
      properties:
        name: {type: string}
        parent: {$ref: "#/components/schemas/Pet"}
        toys: {type: array, items: {oneOf: [{$ref: "#/components/schemas/Toy"}, {type: string}]}}
    Toy:
      type: object
      properties:
        squeak: {type: boolean, deprecated: true, x-deprecated: 2027-03-01, x-sunset: 2027-09-01}
        name: {type: string}
`

// serve answers calls of the routes of deprecating, and reads their bodies.
func serve(d *openapi.Document, method, target, body string, header ...string) http.Header {
	r := chi.NewRouter()
	r.Use(d.Announces(r))
	h := func(w http.ResponseWriter, r *http.Request) { d.Announce(w, r, []byte(body)) }
	r.Get("/old", h)
	r.Get("/new", h)
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		r.Method(method, "/pets/{id}", http.HandlerFunc(h))
	}
	req := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w.Result().Header
}

// Answers announce what their call uses that is deprecated: the date of the decision as RFC 9745 writes
// it, the date of the end as RFC 8594 does. Other calls of the same route announce nothing.
func TestDeprecations_AreAnnouncedToThoseWhoUseThem(t *testing.T) {
	d := openapi.New([]byte(deprecating), "1.4.0", "/base", false)
	if err := d.Fault(); err != nil {
		t.Fatal(err)
	}
	const august, september, october = "Sun, 01 Aug 2027 00:00:00 GMT", "Wed, 01 Sep 2027 00:00:00 GMT", "Fri, 01 Oct 2027 00:00:00 GMT"
	for _, test := range []struct {
		method, target, body string
		header               []string
		since, sunset        string
	}{
		{method: "GET", target: "/old", since: "@1801353600", sunset: august},
		{method: "HEAD", target: "/old", since: "@1801353600", sunset: august},
		{method: "GET", target: "/new"},
		{method: "GET", target: "/none"},
		{method: "GET", target: "/pets/1?size=2"},
		{method: "GET", target: "/pets/1?colour=red", since: "@1801440000", sunset: september},
		{method: "GET", target: "/pets/1", header: []string{"X-Tint", "dark"}, since: "@1798761600", sunset: october},
		{method: "GET", target: "/pets/1?colour", header: []string{"X-Tint", "dark"}, since: "@1798761600", sunset: september},
		{method: "POST", target: "/pets/1", body: `{"name":"Rex","toys":["ball",{"name":"duck"}],"squeak":true}`},
		{method: "POST", target: "/pets/1", body: `{"toys":["ball",{"squeak":false}]}`, since: "@1803859200", sunset: september},
		{method: "POST", target: "/pets/1", body: `no JSON`},
		{method: "PUT", target: "/pets/1", since: "@1803859200", sunset: september},
		{method: "DELETE", target: "/pets/1", since: "@1803859200", sunset: september},
	} {
		got := serve(d, test.method, test.target, test.body, test.header...)
		link := ""
		if test.since != "" {
			link = `</base/openapi.yaml>; rel="deprecation"; type="application/yaml"`
		}
		if got.Get("Deprecation") != test.since || got.Get("Sunset") != test.sunset || got.Get("Link") != link {
			t.Errorf("%s %s %s: %v", test.method, test.target, test.body, got)
		}
	}
	if got := serve(openapi.New([]byte(deprecating), "", "", true), "GET", "/old", ""); got.Get("Link") != "" || got.Get("Sunset") == "" {
		t.Errorf("without pages: %v", got)
	}
}

// A mark needs its dates, and six months between them.
func TestDeprecations_HaveDatesAndNotice(t *testing.T) {
	for was, is := range map[string]string{
		`x-sunset: "2027-08-01"`:    "x-sunset: soon",
		"x-deprecated: 2027-01-31":  "x-other: 2027-01-31",
		"x-deprecated: 2027-03-01":  "x-deprecated: 2027-03-02",
		"{name: size, in: query,":   "{name: size, in: query, deprecated: true,",
		"{name: colour, in: query,": "{name: id, in: path,",
	} {
		d := openapi.New([]byte(strings.Replace(deprecating, was, is, 1)), "", "", false)
		if err := d.Fault(); err == nil {
			t.Errorf("%s is accepted", is)
		}
	}
}

// The document has the version of the program that serves it, also one that YAML would take for a
// number.
func TestDocument_HasTheVersionOfTheProgram(t *testing.T) {
	for version, want := range map[string]string{"": "dev", "dev": "dev", "1.4": "1.4", "2.0.0-rc.1": "2.0.0-rc.1"} {
		d := openapi.New([]byte(deprecating), version, "/base", false)
		var read struct {
			Info    struct{ Version string }
			Servers []struct{ URL string }
		}
		text, err := d.JSON()
		if err == nil {
			err = json.Unmarshal(text, &read)
		}
		if err != nil || read.Info.Version != want || read.Servers[0].URL != "/base" {
			t.Errorf("%q: %+v, %v", version, read, err)
		}
	}
}
