package bridge

import (
	"net/url"
	"path"
	"strings"
	"testing"
)

// hostileIDs are message ids as senders may choose them.
var hostileIDs = []string{
	".", "..", "...", "../../etc", "%2e", "%2E%2e", ".%2e", "%", "%%", "%2F", "/", "//", "a/b", "/../..", `\`, `..\..`, "?", "?x=1", "#", "#x", ";", "a;b", "~", "~Li4", "~~", "+", " ", "\t", "\n", "\x00", "\x7f",
	"a b", "é", "日本語", "\u202e", "\xff", "@", ":", "http://x/", "&", "=", "*", "'", `"`, "<script>", "3EB0A1B2C3D4E5F60718", "A-_z", "", strings.Repeat("x", 1000), strings.Repeat("../", 333),
}

// whatwg is what a browser makes of a path (URL Standard, path state).
func whatwg(raw string) string {
	raw = strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(strings.Trim(raw, " "))
	raw, _, _ = strings.Cut(raw, "#")
	raw, _, _ = strings.Cut(raw, "?")
	var kept []string
	segments := strings.Split(strings.TrimPrefix(raw, "/"), "/")
	for i, segment := range segments {
		switch dots := strings.ReplaceAll(strings.ToLower(segment), "%2e", "."); dots {
		case "..":
			kept = kept[:max(len(kept)-1, 0)]
		case ".":
		default:
			kept = append(kept, segment)
			continue
		}
		if i == len(segments)-1 {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}

// Whatever a sender chose, the path comes through clients and proxies as it is
// and names the message it was made for.
func TestPathID_SurvivesEveryNormaliser(t *testing.T) {
	base, err := url.Parse("https://bridge.example/console/x")
	if err != nil {
		t.Fatal(err)
	}
	origin := &url.URL{Scheme: "https", Host: "bridge.example", Path: "/"}
	seen := map[string]string{}
	for _, id := range hostileIDs {
		raw := DownloadPath("1-2@g.us", id)
		if other, taken := seen[raw]; taken {
			t.Errorf("%q and %q have the same path", id, other)
		}
		seen[raw] = id
		ref, err := url.Parse(raw)
		if err != nil {
			t.Errorf("%q: %v", id, err)
			continue
		}
		for by, got := range map[string]string{
			"a browser": whatwg(raw), "ResolveReference": base.ResolveReference(ref).EscapedPath(), "path.Clean": path.Clean(raw),
			"JoinPath": origin.JoinPath(raw).EscapedPath(), "decoding twice": strings.Replace(mustUnescape(t, mustUnescape(t, raw)), "@", "%40", 1),
		} {
			if got != raw {
				t.Errorf("%q: %s makes %s of %s", id, by, got, raw)
			}
		}
		got, err := ParsePathID(raw[strings.LastIndexByte(raw, '/')+1:])
		if err != nil || got != id {
			t.Errorf("%q is read as %q, %v", id, got, err)
		}
	}
	for _, wrong := range []string{"~Li4=", "~L", "~L.", "~Li5"} {
		if id, err := ParsePathID(wrong); err == nil {
			t.Errorf("%s is read as %q", wrong, id)
		}
	}
}

func mustUnescape(t *testing.T, s string) string {
	t.Helper()
	s, err := url.PathUnescape(s)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
