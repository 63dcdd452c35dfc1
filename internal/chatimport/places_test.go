package chatimport

import "testing"

// TestImport_PlacesAndSentences show what was said of a place, or where it is.
func TestImport_PlacesAndSentences(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const link = ": https://maps.google.com/?q=52.5,13.4"
	export := []byte("13.01.25, 10:00 - Anna: location" + link + "\n13.01.25, 10:01 - Anna: Meet us here at noon" + link)
	for _, want := range []string{"2 imported, 0 duplicates, 0 media, 0 system", "0 imported, 2 duplicates, 0 media, 0 system"} {
		if got := w.imports(export); summary(got) != want {
			t.Errorf("got %s, want %s", summary(got), want)
		}
	}
	for i, want := range []string{"52.5,13.4", "Meet us here at noon"} {
		if m := w.messages(chatJID("Weekend"))[i]; m.Content != want || m.Location == nil {
			t.Errorf("got %+v, want %s", m, want)
		}
	}
}
