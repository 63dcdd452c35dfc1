package bench

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
)

// The picture of growth: messages to the right, milliseconds upwards, both as
// logarithms, so that a constant is a flat line and a scan one that rises ten
// times for ten times the messages.
const (
	plotWidth, plotHeight = 1000, 620
	plotLeft, plotRight   = 80, 600 // of the field; labels stand right of it
	plotTop, plotBottom   = 60, 560
	plotLine              = 17 // between labels
)

// plotColours can be told apart by most people (Okabe and Ito), then others.
var plotColours = []string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#3A9BD1", "#000000", "#7A5195", "#8C564B", "#4B7F00", "#B22222", "#1F4E79"}

// axis maps logarithms to places.
type axis struct{ least, most, from, to float64 }

func (a axis) at(value float64) float64 {
	return a.from + (math.Log10(value)-a.least)/(a.most-a.least)*(a.to-a.from)
}

// curve is a line of the plot with its label.
type curve struct {
	Growth
	colour string
	label  float64 // where the label stands
	end    float64 // where the line ends
}

// plotGrowth draws what is measured in milliseconds.
func plotGrowth(growth []Growth) []byte {
	var curves []curve
	for _, g := range growth {
		if g.Unit == "ms" && slices.Min(g.Values) > 0 && !isTwin(g) {
			curves = append(curves, curve{Growth: g, colour: plotColours[len(curves)%len(plotColours)]})
		}
	}
	if len(curves) == 0 {
		return nil
	}
	x, y := plotAxes(curves)
	var w bytes.Buffer
	fmt.Fprintf(&w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="Helvetica, Arial, sans-serif" font-size="13">`+"\n",
		plotWidth, plotHeight)
	fmt.Fprintf(&w, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&w, `<text x="%d" y="32" font-size="18">Time of an answer through HTTP (median), by messages in the store</text>`+"\n", plotLeft)
	drawGrid(&w, x, y, growthSizes(growth))
	placeLabels(curves, y)
	for _, c := range curves {
		c.draw(&w, x, y)
	}
	fmt.Fprintln(&w, "</svg>")
	return w.Bytes()
}

// isTwin reports whether a scan like this one is drawn under another name: scans for
// absent or rare texts all read everything.
func isTwin(g Growth) bool { return g.Plain && !strings.HasPrefix(g.Name, "rare word") }

func plotAxes(curves []curve) (x, y axis) {
	x = axis{math.Inf(1), math.Inf(-1), plotLeft, plotRight}
	y = axis{math.Inf(1), math.Inf(-1), plotBottom, plotTop}
	for _, c := range curves {
		for i, value := range c.Values {
			size := math.Log10(float64(c.Sizes[i]))
			x.least, x.most = min(x.least, size), max(x.most, size)
			y.least, y.most = min(y.least, math.Log10(value)), max(y.most, math.Log10(value))
		}
	}
	y.least, y.most = math.Floor(y.least), math.Ceil(y.most)
	if x.most == x.least {
		x.most++
	}
	if y.most == y.least {
		y.most++
	}
	return x, y
}

func drawGrid(w io.Writer, x, y axis, sizes []int) {
	fmt.Fprintln(w, `<g stroke="#dddddd" fill="none">`)
	for _, size := range sizes {
		fmt.Fprintf(w, `<path d="M%.1f %d V%d"/>`+"\n", x.at(float64(size)), plotTop, plotBottom)
	}
	for power := y.least; power <= y.most; power++ {
		fmt.Fprintf(w, `<path d="M%d %.1f H%d"/>`+"\n", plotLeft, y.at(math.Pow(10, power)), plotRight)
	}
	fmt.Fprintln(w, "</g>\n"+`<g fill="#444444">`)
	for _, size := range sizes {
		fmt.Fprintf(w, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x.at(float64(size)), plotBottom+22, number(float64(size)))
	}
	for power := y.least; power <= y.most; power++ {
		value := math.Pow(10, power)
		fmt.Fprintf(w, `<text x="%d" y="%.1f" text-anchor="end">%g ms</text>`+"\n", plotLeft-8, y.at(value)+4, value)
	}
	fmt.Fprintf(w, `<text x="%d" y="%d" text-anchor="middle">messages in the store</text>`+"\n</g>\n", (plotLeft+plotRight)/2, plotBottom+44)
}

// placeLabels puts each label beside the end of its line, and moves them apart
// where they would overlap.
func placeLabels(curves []curve, y axis) {
	for i := range curves {
		curves[i].end = y.at(curves[i].Values[len(curves[i].Values)-1])
		curves[i].label = curves[i].end
	}
	slices.SortFunc(curves, func(a, b curve) int { return cmp.Compare(a.end, b.end) })
	for i := range curves[1:] {
		curves[i+1].label = max(curves[i+1].label, curves[i].label+plotLine)
	}
	lowest := float64(plotBottom)
	for i := len(curves) - 1; i >= 0; i-- {
		curves[i].label = min(curves[i].label, lowest)
		lowest = curves[i].label - plotLine
	}
}

func (c curve) draw(w io.Writer, x, y axis) {
	dash := ""
	if c.Plain {
		dash = ` stroke-dasharray="7 5"`
	}
	var path strings.Builder
	var last float64
	for i, value := range c.Values {
		step := "L"
		if i == 0 {
			step = "M"
		}
		last = x.at(float64(c.Sizes[i]))
		fmt.Fprintf(&path, "%s%.1f %.1f", step, last, y.at(value))
	}
	fmt.Fprintf(w, `<path d="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", path.String(), c.colour, dash)
	for i, value := range c.Values {
		fmt.Fprintf(w, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x.at(float64(c.Sizes[i])), y.at(value), c.colour)
	}
	fmt.Fprintf(w, `<path d="M%.1f %.1f L%d %.1f" fill="none" stroke="%s" stroke-width="0.7"/>`+"\n", last+5, c.end, plotRight+22, c.label, c.colour)
	fmt.Fprintf(w, `<text x="%d" y="%.1f" fill="%s">%s: %s ms</text>`+"\n", plotRight+26, c.label+4, c.colour,
		html.EscapeString(c.Name), number(c.Values[len(c.Values)-1]))
}
