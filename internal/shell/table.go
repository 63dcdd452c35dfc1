package shell

import (
	"fmt"
	"strconv"
	"strings"
)

// column is one column of a table. A flexible one shrinks on a narrow terminal.
type column struct {
	title    string
	most     int // columns of the terminal; 0 is unlimited
	flexible bool
	wraps    bool // over several lines of a terminal; only the last column can
}

const gap = "  "

// leastFlexible is the least width of a flexible column.
const leastFlexible = 12

// table prints rows under titles. On a terminal it cuts the cells.
func (s *Shell) table(columns []column, rows [][]string) error {
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.title
		for _, cells := range rows {
			cells[i] = s.printable(c, cells[i])
		}
	}
	widths := s.widths(columns, rows)
	if err := s.print("%s\n", s.styled(dimText, s.row(widths, titles))); err != nil {
		return err
	}
	for _, cells := range rows {
		if err := s.printRow(columns, widths, cells); err != nil {
			return err
		}
	}
	return nil
}

// printable returns a printable cell, on one line unless it wraps.
func (s *Shell) printable(c column, cell string) string {
	if c.wraps && s.Width > 0 {
		return PrintableLines(strings.ReplaceAll(strings.TrimSpace(cell), "\t", "    "))
	}
	return oneLine(cell)
}

func (s *Shell) widths(columns []column, rows [][]string) []int {
	widths := make([]int, len(columns))
	total := len(gap) * (len(columns) - 1)
	for i, c := range columns {
		widths[i] = columnsOf(c.title)
		for _, cells := range rows {
			for line := range strings.SplitSeq(cells[i], "\n") {
				widths[i] = max(widths[i], columnsOf(line))
			}
		}
		if s.Width > 0 && c.most > 0 {
			widths[i] = min(widths[i], max(c.most, columnsOf(c.title)))
		}
		total += widths[i]
	}
	for i := len(columns) - 1; s.Width > 0 && i >= 0 && total > s.Width; i-- {
		if columns[i].flexible {
			narrower := max(widths[i]-(total-s.Width), min(widths[i], leastFlexible))
			total -= widths[i] - narrower
			widths[i] = narrower
		}
	}
	return widths
}

// printRow prints a row, in several lines if its last cell wraps.
func (s *Shell) printRow(columns []column, widths []int, cells []string) error {
	last := len(cells) - 1
	lines := []string{cells[last]}
	if columns[last].wraps && s.Width > 0 {
		lines = Wrap(cells[last], widths[last])
	}
	for _, line := range lines {
		cells[last] = line
		if err := s.print("%s\n", s.row(widths, cells)); err != nil {
			return err
		}
		clear(cells)
	}
	return nil
}

// row returns a line with printable cells.
func (s *Shell) row(widths []int, cells []string) string {
	var b strings.Builder
	for i, cell := range cells {
		if s.Width > 0 {
			cell = cut(cell, widths[i])
		}
		room := widths[i] - columnsOf(cell)
		if s.Width > 0 {
			cell = anchored(cell)
		}
		b.WriteString(cell)
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", max(room, 0)) + gap)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// properties prints names and values, one pair a line. It leaves out pairs without a value.
func (s *Shell) properties(pairs [][2]string) error {
	width := leastNames
	for _, pair := range pairs {
		if pair[1] != "" {
			width = max(width, len(pair[0])+1)
		}
	}
	for _, pair := range pairs {
		if pair[1] == "" {
			continue
		}
		if err := s.print("%-*s %s\n", width, pair[0]+":", anchored(oneLine(pair[1]))); err != nil {
			return err
		}
	}
	return nil
}

// leastNames is the least width of the names of properties.
const leastNames = 10

// numberOr returns a number, or "" for 0.
func numberOr[T int | int64](n T) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

func (s *Shell) print(format string, args ...any) error {
	_, err := fmt.Fprintf(s.Out, format, args...)
	return err
}

// The sequences of ECMA-48 for dim and bold text.
const (
	dimText  = "\x1b[2m"
	boldText = "\x1b[1m"
	asBefore = "\x1b[0m"
)

func (s *Shell) styled(style, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return style + text + asBefore
}
