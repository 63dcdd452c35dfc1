package main

import (
	"os"
	"strings"
	"time"
)

// operatorZone returns the time zone of TZ or of the machine. It returns nil if both are unset, as in
// containers, because UTC is then not the zone of the operator's phone.
func operatorZone() *time.Location {
	name, isSet := os.LookupEnv("TZ")
	if !isSet {
		if isUTC(time.Now()) {
			return nil
		}
		target, _ := os.Readlink("/etc/localtime")
		_, name, _ = strings.Cut(target, "zoneinfo/")
	}
	if zone, err := time.LoadLocation(name); err == nil {
		return zone
	}
	return time.Local
}

// isUTC reports whether the local time is UTC in summer and in winter.
func isUTC(now time.Time) bool {
	_, offset := now.Local().Zone()
	_, other := now.Local().AddDate(0, 6, 0).Zone()
	return offset == 0 && other == 0
}
