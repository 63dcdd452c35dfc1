package convert

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

// TestKinds_EveryFieldHasItsPlace: a newer library's additional fields need a
// decision.
func TestKinds_EveryFieldHasItsPlace(t *testing.T) {
	fields := new(waE2E.Message).ProtoReflect().Descriptor().Fields()
	known := make(map[string]bool)
	for i := range fields.Len() {
		name := string(fields.Get(i).Name())
		known[name] = true
		places := 0
		for _, is := range []bool{kindOf[name] != nil, housekeeping[name], isWrapper(fields.Get(i))} {
			if is {
				places++
			}
		}
		if places != 1 {
			t.Errorf("%s has %d places: a kind, housekeeping or a wrapper", name, places)
		}
	}
	for _, k := range kinds {
		for name := range strings.FieldsSeq(k.fields) {
			if !known[name] {
				t.Errorf("%s is no field", name)
			}
		}
	}
}

// TestKinds_RefusedForwardsAreThoseOfTheAPI, which refuses them before it needs the
// socket.
func TestKinds_RefusedForwardsAreThoseOfTheAPI(t *testing.T) {
	for _, k := range kinds {
		for name := range strings.FieldsSeq(k.fields) {
			m := bridge.Message{MessageType: name, Raw: []byte("something")}
			if refused := m.Forwardable() != nil; refused != (k.forward == notForwarded) {
				t.Errorf("%s: refused %v, the table says %q", name, refused, k.forward)
			}
		}
	}
}

// TestKinds_AnEmptyMessageOfEachIsReadAndForwarded, or refused, without a panic.
func TestKinds_AnEmptyMessageOfEachIsReadAndForwarded(t *testing.T) {
	fields := new(waE2E.Message).ProtoReflect().Descriptor().Fields()
	for _, k := range kinds {
		for name := range strings.FieldsSeq(k.fields) {
			msg := new(waE2E.Message)
			if field := fields.ByTextName(name); field.Message() != nil {
				msg.ProtoReflect().Mutable(field)
			} else {
				msg.ProtoReflect().Set(field, field.Default())
			}
			if m := described(msg); m.MessageType != name {
				t.Errorf("%s is described as %s", name, m.MessageType)
			}
			forwarded, err := forwardedContent(msg)
			if err == nil && contentField(forwarded) == nil || err != nil && bridge.CodeOf(err) != bridge.CodeInvalid {
				t.Errorf("%s is forwarded as %v, %v", name, forwarded, err)
			}
		}
	}
}

// kindsTable returns the table of the OpenAPI document.
func kindsTable() string {
	var table strings.Builder
	table.WriteString("| `messageType` | `content` | Fields | File | Forwarded |\n|---|---|---|---|---|\n")
	for _, k := range kinds {
		names := "`" + strings.ReplaceAll(k.fields, " ", "`, `") + "`"
		dash := func(s string) string {
			if s == "" {
				return "–"
			}
			return s
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", names, k.content, dash(k.parts), dash(k.file), k.forward)
	}
	return table.String()
}

func TestKinds_AreDocumented(t *testing.T) {
	document, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	unindented := regexp.MustCompile(`(?m)^ +`).ReplaceAllString(string(document), "")
	if table := kindsTable(); !strings.Contains(unindented, "\n"+table+"\n") {
		t.Errorf("internal/api/openapi.yaml has another table of kinds of messages than this one:\n%s", table)
	}
}

// TestKinds_TheTableIsTrue checks the table's fields and files against messages of
// businesses.
func TestKinds_TheTableIsTrue(t *testing.T) {
	filled, withFile := make(map[*kind]map[string]bool), make(map[*kind]bool)
	for _, m := range append(businessMessages(), personalMessages()...) {
		got := described(m.Message)
		k := kindOf[got.MessageType]
		if filled[k] == nil {
			filled[k] = make(map[string]bool)
		}
		for name, is := range partNames(got) {
			filled[k][name] = filled[k][name] || is
		}
		withFile[k] = withFile[k] || got.Media != nil
	}
	for i := range kinds {
		k := &kinds[i]
		if filled[k] == nil {
			if k.read != nil {
				t.Errorf("%v: no message of this kind is tried", k.fields)
			}
			continue
		}
		for name, is := range filled[k] {
			if documented := slices.Contains(strings.Split(strings.ReplaceAll(k.parts, ".selected", ""), ", "), "`"+name+"`"); documented != is {
				t.Errorf("%v: %s filled %v, documented %v", k.fields, name, is, documented)
			}
		}
		if withFile[k] != (k.file != "") {
			t.Errorf("%v: a file %v, documented %q", k.fields, withFile[k], k.file)
		}
	}
}

// partNames returns the fields that a message fills.
func partNames(m bridge.Message) map[string]bool {
	return map[string]bool{
		"location": m.Location != nil, "contacts": m.Contacts != nil, "interactive": m.Interactive != nil, "event": m.Event != nil,
		"groupInvite": m.GroupInvite != nil, "order": m.Order != nil, "product": m.Product != nil, "linkPreview": m.LinkPreview != nil,
		"media": m.Media != nil, "poll": m.Poll != nil, "album": m.Album != nil,
	}
}
