package mcp

import (
	"strings"

	"bridged/internal/bridge"
)

// profileView is what a person shows about themselves.
type profileView struct {
	About    string        `json:"about,omitempty"`
	Verified bool          `json:"verified,omitempty"`
	Business *businessView `json:"business,omitempty"`
}

type businessView struct {
	Name        string   `json:"name,omitempty"`
	Description string   `json:"description,omitempty"`
	Address     string   `json:"address,omitempty"`
	Email       string   `json:"email,omitempty"`
	Websites    []string `json:"websites,omitempty"`
	Categories  []string `json:"categories,omitempty"`
	Timezone    string   `json:"timezone,omitempty"`
	Hours       []string `json:"hours,omitempty"` // such as "mon 09:00-18:30"; a day without any is closed
}

// maxHours limits the opening hours: two parts of each day.
const maxHours = 14

func profileOf(p bridge.Profile) *profileView {
	shown := &profileView{Verified: p.Verified}
	if p.About != nil {
		shown.About = capped(*p.About, maxExcerpt)
	}
	b := p.Business
	if b == nil {
		return shown
	}
	shown.Business = &businessView{
		Name: capped(b.Name, maxName), Description: capped(b.Description, maxExcerpt), Address: capped(b.Address, maxQuote), Email: capped(b.Email, maxName),
		Websites: cappedFew(b.Websites), Categories: cappedFew(b.Categories),
	}
	if b.Hours != nil {
		shown.Business.Timezone = capped(b.Hours.Timezone, maxName)
		shown.Business.Hours = each(b.Hours.Days[:min(len(b.Hours.Days), maxHours)], hoursOf)
	}
	return shown
}

func hoursOf(d bridge.BusinessDay) string {
	times := string(d.Mode)
	if d.Opens != nil && d.Closes != nil {
		times = *d.Opens + "-" + *d.Closes
	}
	return capped(strings.TrimSpace(d.Day+" "+times), maxName)
}

// cappedFew returns the first of some texts, each shortened.
func cappedFew(texts []string) []string {
	return each(texts[:min(len(texts), maxCards)], func(text string) string { return capped(text, maxQuote) })
}
