package console

import (
	"fmt"
	template "github.com/DataDog/datadog-agent/pkg/template/html"
	"strings"

	"bridged/internal/bridge"
)

// eventAnswer is one of the answers to an event, and who gave it.
type eventAnswer struct {
	Answer string
	Who    string
	Count  int
	Guests int
}

// responsesOf returns the answers to an event that somebody gave.
func responsesOf(event *bridge.CalendarEvent, n names) (given []eventAnswer) {
	if event == nil || event.Responses == nil {
		return nil
	}
	r := event.Responses
	for _, group := range []struct {
		answer string
		people []bridge.JID
		guests int
	}{{"Going", r.Going, r.Guests}, {"Maybe", r.Maybe, 0}, {"Not going", r.NotGoing, 0}} {
		if len(group.people) > 0 {
			given = append(given, eventAnswer{Answer: group.answer, Who: n.all(group.people), Count: len(group.people), Guests: group.guests})
		}
	}
	return given
}

// all returns what people are called.
func (n names) all(people []bridge.JID) string {
	who := make([]string, len(people))
	for i, jid := range people {
		who[i] = n.of(jid)
	}
	return strings.Join(who, ", ")
}

// albumWords says what an album has.
func albumWords(a *bridge.Album) string {
	var parts []string
	for _, part := range []struct {
		count     int
		one, many string
	}{{a.Images, "picture", "pictures"}, {a.Videos, "video", "videos"}} {
		switch {
		case part.count == 1:
			parts = append(parts, "1 "+part.one)
		case part.count > 1:
			parts = append(parts, fmt.Sprintf("%d %s", part.count, part.many))
		}
	}
	if len(parts) == 0 {
		return "Album"
	}
	return "Album: " + strings.Join(parts, ", ")
}

// gather takes the pictures and videos of albums from among messages, by the album.
// Where the album is not among them, or is by somebody else, they stand alone.
func gather(messages []bridge.Message) (rest []bridge.Message, parts map[string][]bridge.Message) {
	authors := make(map[string]bridge.JID)
	for _, m := range messages {
		if m.Album != nil {
			authors[m.ID] = m.SenderJID
		}
	}
	parts = make(map[string][]bridge.Message)
	for _, m := range messages {
		if m.AlbumID != nil && m.Media != nil && authors[*m.AlbumID] == m.SenderJID {
			parts[*m.AlbumID] = append(parts[*m.AlbumID], m)
			continue
		}
		rest = append(rest, m)
	}
	return rest, parts
}

// adPicture returns the small picture of an ad for an image's address. Anything but a
// picture is left out.
func adPicture(url *string) template.URL {
	if url == nil {
		return ""
	}
	for _, kind := range []string{"jpeg", "png", "webp"} {
		if strings.HasPrefix(*url, "data:image/"+kind+";base64,") {
			return template.URL(*url) //nolint:gosec // a picture in base64 runs nothing
		}
	}
	return ""
}

// adLink returns the address of an ad; empty where it is none of the web.
func adLink(address string) string {
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		return ""
	}
	return address
}

// announced returns how many pictures and videos an album is to have.
func announced(a bridge.Album) int { return a.Images + a.Videos }
