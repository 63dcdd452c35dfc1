package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Growth is one figure in stores of different sizes.
type Growth struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Plain  bool      `json:"plain,omitempty"` // the plain way, for comparison
	Sizes  []int     `json:"sizes"`
	Values []float64 `json:"values"`
}

// measureGrowth measures stores from the smallest to the largest.
func (b *bench) measureGrowth(ctx context.Context) error {
	sizes := slices.Clone(b.command.Sizes)
	slices.Sort(sizes)
	for _, size := range sizes {
		fmt.Fprintf(b.streams.Stderr, "growth: %s messages …\n", number(float64(size)))
		if err := b.growTo(ctx, size); err != nil {
			return fmt.Errorf("%d messages: %w", size, err)
		}
		// The largest takes longest: what there is by then can be looked at.
		if b.command.Plot == "" {
			continue
		}
		if err := os.WriteFile(b.command.Plot, plotGrowth(b.report.Growth), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) growTo(ctx context.Context, size int) error {
	filled, err := b.filled(ctx, size, b.command.Chats)
	if err != nil {
		return err
	}
	s, err := b.serve(ctx, filled)
	if err != nil {
		return err
	}
	if err := errors.Join(b.growthTimings(ctx, s), s.stop()); err != nil {
		return err
	}
	f, err := b.footprintOf(ctx, filled)
	if err != nil {
		return err
	}
	b.report.grow(Growth{Name: "memory, idle", Unit: "MB"}, size, f.idle)
	b.report.grow(Growth{Name: "memory under read load", Unit: "MB"}, size, f.busy)
	b.report.grow(Growth{Name: "start to first /healthz", Unit: "ms"}, size, percentile(f.start, 50))
	b.report.grow(Growth{Name: "file", Unit: "MB"}, size, float64(filled.filled.Bytes)/1e6)
	return nil
}

// growthTasks returns searches, pages of the largest chat and the list of chats.
func (b *bench) growthTasks(ctx context.Context, s *server) ([]task, error) {
	kinds, err := b.queries(ctx, s)
	if err != nil {
		return nil, err
	}
	var tasks []task
	for _, kind := range kinds {
		tasks = append(tasks, s.searchTask(kind, ""))
	}
	for _, sample := range b.samples(s.corpus)[:1] {
		tasks = append(tasks, sample.task())
	}
	pages, err := s.historyTasks(ctx, s.corpus.chats[0], s.corpus.messages/25)
	if err != nil {
		return nil, err
	}
	for _, page := range []task{pages[0], pages[2], pages[3]} {
		page.name = "largest chat, " + page.name
		tasks = append(tasks, page)
	}
	chats := s.listTasks()[0]
	chats.name = "chats, " + chats.name
	return append(tasks, chats), nil
}

// growthTimings measures the tasks. They go into the table of growth instead
// of the one of all timings.
func (b *bench) growthTimings(ctx context.Context, s *server) error {
	tasks, err := b.growthTasks(ctx, s)
	if err != nil {
		return err
	}
	others := b.report.Timings
	defer func() { b.report.Timings = others }()
	b.report.Timings = nil
	for _, task := range tasks {
		if err := b.measure(ctx, s, task); err != nil {
			return err
		}
	}
	for _, t := range b.report.Timings {
		b.report.grow(Growth{Name: t.Name, Unit: "ms"}, t.Messages, t.P50)
		if t.Part == "search" && t.PlainP50 > 0 {
			b.report.grow(Growth{Name: t.Name + ", scan", Unit: "ms", Plain: true}, t.Messages, t.PlainP50)
		}
	}
	return nil
}

// grow enters a figure for one size.
func (r *Report) grow(of Growth, size int, value float64) {
	i := slices.IndexFunc(r.Growth, func(g Growth) bool { return g.Name == of.Name })
	if i < 0 {
		i = len(r.Growth)
		r.Growth = append(r.Growth, of)
	}
	r.Growth[i].Sizes, r.Growth[i].Values = append(r.Growth[i].Sizes, size), append(r.Growth[i].Values, value)
}

// at returns the value for a size, 0 if there is none.
func (g Growth) At(size int) float64 {
	if i := slices.Index(g.Sizes, size); i >= 0 {
		return g.Values[i]
	}
	return 0
}

// growthSizes returns all the sizes that were measured.
func growthSizes(growth []Growth) []int {
	var sizes []int
	for _, g := range growth {
		sizes = append(sizes, g.Sizes...)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

func (r *Report) printGrowth(w io.Writer) {
	if len(r.Growth) == 0 {
		return
	}
	sizes := growthSizes(r.Growth)
	fmt.Fprint(w, "\ngrowth, messages:")
	for _, size := range sizes {
		fmt.Fprint(w, "\t", number(float64(size)))
	}
	fmt.Fprintln(w, "\tunit\t")
	for _, g := range r.Growth {
		fmt.Fprint(w, g.Name)
		for _, size := range sizes {
			fmt.Fprint(w, "\t", number(g.At(size)))
		}
		fmt.Fprintf(w, "\t%s\t\n", g.Unit)
	}
}
