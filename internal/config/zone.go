package config

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// ZoneWarning returns a sentence if the TZ of an environment is not a time zone: Go then uses UTC
// without an error (time/zoneinfo_unix.go, initLocal). It is empty otherwise.
func ZoneWarning(environ []string) string {
	zone := strings.TrimPrefix(env.ToMap(environ)["TZ"], ":")
	if zone == "" {
		return ""
	}
	var err error
	if strings.HasPrefix(zone, "/") {
		var data []byte
		if data, err = os.ReadFile(zone); err == nil {
			_, err = time.LoadLocationFromTZData(zone, data)
		}
	} else {
		_, err = time.LoadLocation(zone)
	}
	if err == nil {
		return ""
	}
	return fmt.Sprintf("TZ is %q, which is not a time zone that bridged knows, so times are in UTC: set it to a name such as Europe/Berlin", zone)
}
