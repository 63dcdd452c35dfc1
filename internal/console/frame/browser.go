package frame

import "strings"

// program is a browser or a system, and what the User-Agent of its requests contains.
type program struct{ part, name string }

// The first that is found counts: browsers contain the names of the older ones that they resemble.
var (
	browsers = []program{
		{"Edg/", "Edge"},
		{"EdgA/", "Edge"},
		{"EdgiOS/", "Edge"},
		{"OPR/", "Opera"},
		{"Vivaldi/", "Vivaldi"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"FxiOS/", "Firefox"},
		{"Firefox/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"},
		{"AppleWebKit/", "Safari"},
	}
	systems = []program{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"},
	}
)

// browserOf returns a short name for a User-Agent, such as "Firefox on Windows".
func browserOf(agent string) string {
	name := nameIn(browsers, agent)
	if name == "" {
		return "Unknown browser"
	}
	if system := nameIn(systems, agent); system != "" {
		name += " on " + system
	}
	return name
}

func nameIn(list []program, agent string) string {
	for _, one := range list {
		if strings.Contains(agent, one.part) {
			return one.name
		}
	}
	return ""
}
