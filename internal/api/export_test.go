package api

import "slices"

// Codes are the codes that have a status, sorted.
func Codes() []string {
	var codes []string
	for code := range statuses {
		codes = append(codes, string(code))
	}
	slices.Sort(codes)
	return codes
}
