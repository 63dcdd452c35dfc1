//go:build race

package fuzzbudget

// slack multiplies budgets of memory: under the race detector a sync.Pool, which package
// regexp uses, forgets at random, and what it has kept is allocated again.
const slack = 4
