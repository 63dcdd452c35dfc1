package api

import "slices"

// Codes returns the codes that have a status, sorted.
func Codes() []string {
	var codes []string
	for _, list := range statuses {
		for _, code := range list {
			codes = append(codes, string(code))
		}
	}
	slices.Sort(codes)
	return codes
}
