package console

import (
	"fmt"
	template "github.com/DataDog/datadog-agent/pkg/template/html"
)

// icons are drawn for the console, on a square of 24 by 24.
var icons = map[string]string{
	"logo":     `<path d="M2.5 17.5c2.5-11.5 16.5-11.5 19 0M2.5 17.5V12m19 5.5V12M7.8 10.7v6.8m8.4-6.8v6.8M12 9v8.5"/>`,
	"home":     `<path d="M4 11l8-7 8 7v9h-5v-6H9v6H4z"/>`,
	"chats":    `<path d="M4 5h16v11H9l-5 4z"/>`,
	"calls":    `<path d="M5 4h4l1.5 5-2.5 1.5a12 12 0 005.5 5.5l1.5-2.5 5 1.5v4c0 1-.8 1.5-1.5 1.5C11 20 4 13 3.5 5.5 3.5 4.7 4 4 5 4z"/>`,
	"search":   `<circle cx="10.5" cy="10.5" r="6"/><path d="M15 15l5.5 5.5"/>`,
	"events":   `<path d="M3 12h4l3-8 4 16 3-8h4"/>`,
	"webhooks": `<path d="M4 12h11m-4-5l5 5-5 5M20 4v16"/>`,
	"hooks":    `<path d="M20 12H9m4-5l-5 5 5 5M4 4v16"/>`,
	"api":      `<path d="M8 7l-5 5 5 5m8-10l5 5-5 5M13.5 5l-3 14"/>`,
	"settings": `<path d="M4 7h9m5 0h2M4 17h2m5 0h9"/><circle cx="15.5" cy="7" r="2.3"/><circle cx="8.5" cy="17" r="2.3"/>`,
	"pair":     `<rect x="4" y="4" width="6" height="6"/><rect x="14" y="4" width="6" height="6"/><rect x="4" y="14" width="6" height="6"/><path d="M14 14h2v2m4-2v6h-6v-2"/>`,
	"group":    `<circle cx="9" cy="8.5" r="3.2"/><path d="M3 19c0-7 12-7 12 0M15.5 5.6a3.2 3.2 0 010 5.8M17.5 14.2c2.3.7 3.5 2.4 3.5 4.8"/>`,
	"person":   `<circle cx="12" cy="8.5" r="3.7"/><path d="M5 20c0-8 14-8 14 0"/>`,
	"back":     `<path d="M14.5 5l-7 7 7 7"/>`,
	"down":     `<path d="M5 9l7 7 7-7"/>`,
	"send":     `<path d="M4 4l17 8-17 8 3-8zM7 12h7"/>`,
	"attach":   `<path d="M12 5v14M5 12h14"/>`,
	"file":     `<path d="M6 3h8l4 4v14H6zM14 3v4h4"/>`,
	"place":    `<path d="M12 21c-5-6-6.5-8.5-6.5-11.5a6.5 6.5 0 0113 0c0 3-1.5 5.5-6.5 11.5z"/><circle cx="12" cy="9.5" r="2.3"/>`,
	"poll":     `<path d="M4 6h10M4 12h16M4 18h7"/>`,
	"contact":  `<rect x="3" y="5" width="18" height="14" rx="1.5"/><circle cx="9" cy="11" r="2"/><path d="M6 16c0-3.5 6-3.5 6 0M15 10h3m-3 4h3"/>`,
	"reply":    `<path d="M10 6l-6 5.5 6 5.5v-3.5c5 0 8 1 10 4.5 0-6-4-9-10-9z"/>`,
	"edit":     `<path d="M4 20l1-4.5L16.5 4 20 7.5 8.5 19zM14 6.5l3.5 3.5"/>`,
	"react":    `<circle cx="12" cy="12" r="8.5"/><path d="M8.5 14c1.7 2.6 5.3 2.6 7 0M9 9.5v.5m6-.5v.5"/>`,
	"copy":     `<rect x="8" y="8" width="12" height="12" rx="1.5"/><path d="M16 8V4H4v12h4"/>`,
	"code":     `<path d="M4 6l5 5-5 5m7 2h9"/>`,
	"download": `<path d="M12 4v11m-4.5-4L12 15.5 16.5 11M5 20h14"/>`,
	"clock":    `<circle cx="12" cy="12" r="8.5"/><path d="M12 7.5V12l3 2"/>`,
	"check":    `<path d="M5 12.5l4.5 4.5L19 7.5"/>`,
	"checks":   `<path d="M2.5 12.5L7 17l9-9.5m-4.5 9L12 17l9.5-9.5"/>`,
	"warning":  `<path d="M12 4l9 16H3zM12 10v4m0 2.5v.5"/>`,
	"close":    `<path d="M6 6l12 12M18 6L6 18"/>`,
	"pause":    `<path d="M9 6v12m6-12v12"/>`,
	"play":     `<path d="M8 5l11 7-11 7z"/>`,
	"mic":      `<rect x="9" y="3.5" width="6" height="11" rx="3"/><path d="M5.5 11.5c0 8.5 13 8.5 13 0M12 18v3"/>`,
	"image":    `<rect x="3.5" y="5" width="17" height="14" rx="1.5"/><path d="M4 17l5-5 3.5 3.5L15.5 12l4.5 5"/><circle cx="15.5" cy="9" r="1"/>`,
	"video":    `<rect x="3.5" y="6" width="12" height="12" rx="1.5"/><path d="M15.5 11l5-3v8l-5-3z"/>`,
	"more":     `<path d="M12 6v.1M12 12v.1M12 18v.1"/>`,
	"plus":     `<path d="M12 5v14M5 12h14"/>`,
	"deleted":  `<circle cx="12" cy="12" r="8.5"/><path d="M6 6l12 12"/>`,
	"lock":     `<rect x="5.5" y="11" width="13" height="9" rx="1.5"/><path d="M8.5 11V8a3.5 3.5 0 017 0v3"/>`,
	"refresh":  `<path d="M19.5 12a7.5 7.5 0 11-2.3-5.4L20 9m0-5v5h-5"/>`,
	"logout":   `<path d="M14 5H5v14h9M10 12h11m-4-4.5l4.5 4.5-4.5 4.5"/>`,
	"pin":      `<path d="M9 4h6l-.5 6 3 3.5h-11l3-3.5zM12 13.5V21"/>`,
	"mute":     `<path d="M4 9.5h3.5L12 5.5v13l-4.5-4H4zM16 9.5l5 5m0-5l-5 5"/>`,
	"keep":     `<path d="M7 4h10v16l-5-4-5 4z"/>`,
	"event":    `<rect x="4" y="5.5" width="16" height="14.5" rx="1.5"/><path d="M4 10h16M8.5 3.5v4m7-4v4"/>`,
	"forward":  `<path d="M14 6l6 5.5-6 5.5v-3.5c-5 0-8 1-10 4.5 0-6 4-9 10-9z"/>`,
	"timer":    `<circle cx="12" cy="13.5" r="7"/><path d="M12 9.5v4l2.5 1.5M10 3.5h4"/>`,
}

// icon returns a drawing. It says nothing to those who listen: there are words
// beside it, or in its button's label.
func icon(name string) (template.HTML, error) {
	drawing, known := icons[name]
	if !known {
		return "", fmt.Errorf("there is no icon %q", name)
	}
	return template.HTML(`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">` + drawing + `</svg>`), nil
}
