package mcp

import (
	"context"
	"slices"
	"strings"

	"bridged/internal/bridge"
)

// accountLabels has the account's labels for one call. It asks the API for them when it first needs them,
// because most accounts have none.
type accountLabels struct {
	*caller
	all   []bridge.StoredLabel
	asked bool
}

func (l *accountLabels) ask(ctx context.Context) (err error) {
	if !l.asked {
		l.all, err = l.client.Labels(ctx)
		l.asked = err == nil
	}
	return err
}

// find returns the id of the label with a name, in any case, or with an id. It returns "" for "". If there is
// no such label, the error names those that exist.
func (l *accountLabels) find(ctx context.Context, name string) (id string, err error) {
	if name == "" {
		return "", nil
	}
	if err := l.ask(ctx); err != nil {
		return "", err
	}
	byID := func(one bridge.StoredLabel) bool { return one.ID == name }
	byName := func(one bridge.StoredLabel) bool { return strings.EqualFold(one.Name, strings.TrimSpace(name)) }
	for _, is := range []func(bridge.StoredLabel) bool{byName, byID} {
		if i := slices.IndexFunc(l.all, is); i >= 0 {
			return l.all[i].ID, nil
		}
	}
	var names []string // of the account's own devices, so the sentence may have them
	for _, one := range l.all[:min(len(l.all), bridge.LabelColors)] {
		names = append(names, capped(one.Name, maxName))
	}
	return "", bridge.NotFound("label: there is no label %q; the labels are: %s", capped(name, maxName), strings.Join(names, ", "))
}

// names returns the names of labels, at most maxFew.
func (l *accountLabels) names(ctx context.Context, ids []string) (names []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if err := l.ask(ctx); err != nil {
		return nil, err
	}
	for _, one := range l.all {
		if slices.Contains(ids, one.ID) && len(names) < maxFew {
			names = append(names, capped(one.Name, maxName))
		}
	}
	return names, nil
}
