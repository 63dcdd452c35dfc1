package api

import (
	"slices"

	"bridged/internal/api/front"
)

// Codes returns the codes that have a status, sorted.
func Codes() []string {
	var codes []string
	for _, list := range front.Statuses {
		for _, code := range list {
			codes = append(codes, string(code))
		}
	}
	slices.Sort(codes)
	return codes
}
