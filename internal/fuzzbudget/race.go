//go:build race

package fuzzbudget

// slack is the factor for budgets of memory. Under the race detector a sync.Pool, which package
// regexp uses, drops objects at random, and they are allocated again.
const slack = 4
