package front

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/spelling"
)

// CheckParameters refuses a parameter that is not among the known ones, because a misspelt filter would
// be taken for an omitted one. The error names the parameter that was probably meant.
func CheckParameters(given url.Values, known []string) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(known, name) {
			continue
		}
		shown := QuotedName(name)
		if meant := nearest(name, known); meant != "" {
			return bridge.Invalid("%s is not a parameter of this route: did you mean %s?", shown, meant)
		}
		if len(known) == 0 {
			return bridge.Invalid("%s is not a parameter of this route, which has none", shown)
		}
		return bridge.Invalid("%s is not a parameter of this route, which has %s", shown, strings.Join(slices.Sorted(slices.Values(known)), ", "))
	}
	return nil
}

// nearest returns the known name that a misspelt one means, regardless of case; "" if there is none.
func nearest(name string, known []string) string {
	for _, one := range known {
		if strings.EqualFold(one, name) || strings.EqualFold(one+"s", name) || strings.EqualFold(one, name+"s") {
			return one
		}
	}
	return spelling.Nearest(name, known, min(2, len(name)/2))
}
