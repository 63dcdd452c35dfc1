package people

import "time"

// queryLimit bounds a device's queries of a namespace.
type queryLimit struct {
	most int
	per  time.Duration
}

// LimitQueries refuses a device's queries of a namespace with 429 beyond most of them per duration; 0 removes the limit.
func (n *Directory) LimitQueries(namespace string, most int, per time.Duration) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if n.limits == nil {
		n.limits = make(map[string]queryLimit)
	}
	n.limits[namespace] = queryLimit{most: most, per: per}
}

// Limited counts a device's query and reports whether to refuse it. The caller holds Directory.Mu.
func (n *Directory) Limited(d *Device, namespace string) bool {
	limit := n.limits[namespace]
	if limit.most == 0 {
		return false
	}
	if d.lately == nil {
		d.lately = make(map[string][]time.Time)
	}
	now := time.Now()
	lately := d.lately[namespace]
	for len(lately) > 0 && now.Sub(lately[0]) >= limit.per {
		lately = lately[1:]
	}
	d.lately[namespace] = append(lately, now)
	if len(lately) < limit.most {
		return false
	}
	d.Count.Limited++
	return true
}
