package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"bridged/internal/dbfile"
)

// dateLayout is the time in names, in UTC, so that names sort by time.
const dateLayout = "2006-01-02T150405Z"

// datedName matches the names of backups in a directory, and the names of their drafts.
var datedName = regexp.MustCompile(`^bridged-(\d{4}-\d{2}-\d{2}T\d{6}Z)\.(db|tar)(?:((?:\.db)?\.part)(?:-journal)?)?$`)

// Dated is a backup in a directory.
type Dated struct {
	Name   string
	At     time.Time
	Format string
	Bytes  int64
}

// List returns the backups in a directory by their dates, the oldest first.
func List(dir string) (list []Dated, err error) {
	_, err = look(dir, func(d Dated) { list = append(list, d) })
	slices.SortFunc(list, func(a, b Dated) int { return cmp.Compare(a.Name, b.Name) })
	return list, err
}

// look calls found for each backup in a directory, and returns the names of drafts.
func look(dir string, found func(Dated)) (parts []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name := datedName.FindStringSubmatch(entry.Name())
		if name == nil || !entry.Type().IsRegular() {
			continue
		}
		at, err := time.Parse(dateLayout, name[1])
		switch {
		case err != nil:
		case name[3] != "":
			parts = append(parts, strings.TrimSuffix(entry.Name(), journalSuffix))
		default:
			info, err := entry.Info()
			if err != nil {
				continue // removed meanwhile
			}
			found(Dated{Name: entry.Name(), At: at, Format: name[2], Bytes: info.Size()})
		}
	}
	return parts, nil
}

// ToDirectory makes a backup with the date in its name. Then it removes the oldest backups in the
// directory, so that so many are left, with the new one; 0 removes none. Each bridge needs its own
// directory.
func ToDirectory(ctx context.Context, from Source, dir string, retain int, now time.Time) (Report, error) {
	return failed(from.toDirectory(ctx, dir, retain, now))
}

func (s Source) toDirectory(ctx context.Context, dir string, retain int, now time.Time) (Report, error) {
	if err := removeParts(dir); err != nil {
		return Report{}, fmt.Errorf("remove incomplete backups: %w", err)
	}
	name := ""
	for at := now.UTC().Truncate(time.Second); ; at = at.Add(time.Second) {
		name = fmt.Sprintf("bridged-%s.%s", at.Format(dateLayout), s.format())
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, os.ErrNotExist) {
			break
		} else if err != nil {
			return Report{}, err
		}
	}
	r, err := s.toFile(ctx, filepath.Join(dir, name), false)
	if err != nil {
		return Report{}, err
	}
	if r.Removed, err = prune(dir, retain, name); err != nil {
		return Report{}, fmt.Errorf("%s is complete, but older backups could not be removed: %w", r.File, err)
	}
	return r, nil
}

// prune removes the oldest backups. It never removes the new one, whose date may be older if the clock was
// wrong.
func prune(dir string, retain int, made string) (removed []string, err error) {
	removed = []string{}
	if retain <= 0 {
		return removed, nil
	}
	list, err := List(dir)
	if err != nil {
		return removed, err
	}
	list = slices.DeleteFunc(list, func(d Dated) bool { return d.Name == made })
	for _, d := range list[:max(0, len(list)-(retain-1))] {
		if err := os.Remove(filepath.Join(dir, d.Name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return removed, err
		}
		removed = append(removed, d.Name)
	}
	if len(removed) > 0 {
		err = dbfile.SyncDir(dir)
	}
	return removed, err
}

func removeParts(dir string) error {
	parts, err := look(dir, func(Dated) {})
	if err != nil {
		return err
	}
	for _, name := range slices.Compact(parts) {
		if err := removePart(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
