//go:build !race

package fuzzbudget

// slack is the factor for budgets of memory.
const slack = 1
