package knowledge

import (
	"cmp"
	"time"
)

// always is the end of what was over before all days.
var always = time.Unix(0, 0).UTC()

// InForce reports whether a version is the one of its document at a time.
func (v VersionRow) InForce(at time.Time) bool {
	return !v.Start.After(at) && (v.Until.IsZero() || v.Until.After(at))
}

// after reports whether a version follows another: by its day, and of one day by when it came.
func (v VersionRow) after(o VersionRow) bool {
	return cmp.Or(v.Start.Compare(o.Start), cmp.Compare(v.Seq, o.Seq)) > 0
}

// over reports whether it is in force no more, and never again.
func (v VersionRow) over(now time.Time) bool {
	return !v.Until.IsZero() && (!v.Until.After(now) || !v.Until.After(v.Start))
}

// end is when a version is followed by another; zero: it is not.
func (v VersionRow) end(all []VersionRow) (until time.Time) {
	for _, o := range all {
		start := o.Start
		if start.IsZero() {
			start = always
		}
		if o.after(v) && (until.IsZero() || start.Before(until)) {
			until = start
		}
	}
	return until
}

// row is the row of a version that comes to those that are there. One without a day takes over at once.
func (d draft) row(all []VersionRow, now time.Time) VersionRow {
	v := VersionRow{
		Document: d.ID, Version: d.Version, Shelf: d.shelf(), Seq: 1, Start: d.Effective, Hash: d.hash, Body: d.encode(), Text: []byte(d.Text),
	}
	for _, before := range all {
		v.Seq = max(v.Seq, before.Seq+1)
		if d.Effective.IsZero() && before.InForce(now) {
			v.Start = before.Start
		}
	}
	v.Until = v.end(all)
	return v
}
