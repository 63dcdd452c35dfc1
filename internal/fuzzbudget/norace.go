//go:build !race

package fuzzbudget

// slack multiplies budgets of memory.
const slack = 1
