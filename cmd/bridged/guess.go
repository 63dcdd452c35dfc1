package main

// nearest returns the candidate that s was probably meant to be: the one with
// the fewest letters changed, added or left out. It returns "" if that is more
// than two, or more than a third of s.
func nearest(s string, candidates ...string) string {
	best, fewest := "", min(2, len(s)/3)+1
	for _, candidate := range candidates {
		if changes := editDistance(s, candidate); changes < fewest {
			best, fewest = candidate, changes
		}
	}
	return best
}

// editDistance returns how many letters have to be changed, added or removed to
// make b of a. Two that have changed places count once.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			changed := 1
			if a[i-1] == b[j-1] {
				changed = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+changed)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
