// Package spelling finds the name that a misspelt one means.
package spelling

// Nearest returns the known name that differs from name in the fewest letters, the first one if
// several do. It returns "" if each of them differs in more than the given number of letters.
func Nearest(name string, known []string, most int) string {
	best, fewest := "", most+1
	for _, one := range known {
		if max(len(one)-len(name), len(name)-len(one)) > most {
			continue // a long name is not compared letter by letter
		}
		if changes := distance(name, one); changes < fewest {
			best, fewest = one, changes
		}
	}
	return best
}

// distance returns how many letters must be changed, added, removed or swapped to turn a into
// b.
func distance(a, b string) int {
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
