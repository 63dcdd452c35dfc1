package view

import (
	"testing"

	"bridged/internal/bridge"
)

func TestQuotedLine(t *testing.T) {
	for want, quoted := range map[string]bridge.Quoted{
		"plan.pdf":                 {MessageType: "documentMessage", FileName: "plan.pdf"},
		"Document":                 {MessageType: "documentMessage"},
		"Document: the plan":       {MessageType: "documentMessage", FileName: "plan.pdf", Content: "the\nplan"},
		"This message was deleted": {MessageType: "documentMessage", DeletedAt: &bridge.Time{}},
		"hello":                    {MessageType: "conversation", Content: "hello"},
	} {
		if got := QuotedLine(quoted); got != want {
			t.Errorf("%+v is shown as %q, want %q", quoted, got, want)
		}
	}
}

// Previews have no marks of formatting. Text that only looks like marks stays.
func TestPlainText_LeavesMarksOut(t *testing.T) {
	for text, want := range map[string]string{
		"*Packing* _list_:\n* ~Boots~\n- Water\n\n2. Walk\n> so\n```ssh camp```": "Packing list: Boots Water 2. Walk so ssh camp",
		"2 * 3 * 4 = 24": "2 * 3 * 4 = 24", "snake_case_name": "snake_case_name", "https://example.org/_a_": "https://example.org/_a_", "use `north`": "use north", "": "",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The kind of a file is the extension of its name, or its subtype.
func TestFileKind_NamesFiles(t *testing.T) {
	for _, c := range []struct{ name, kind, want string }{
		{"plan.pdf", "application/pdf", "PDF"}, {"plan", "application/pdf", "PDF"}, {"x.tar.gz", "application/gzip", "GZ"}, {"", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "File"}, {"a.b c", "", "File"},
	} {
		if got := fileKind(&bridge.Media{FileName: c.name, MimeType: c.kind}); got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.name, c.kind, got, c.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for seconds, want := range map[int]string{0: "0:00", 7: "0:07", 75: "1:15", 3675: "1:01:15"} {
		if got := duration(seconds); got != want {
			t.Errorf("%d seconds are shown as %q, want %q", seconds, got, want)
		}
	}
}
