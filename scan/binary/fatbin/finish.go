package fatbin

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
)

// Section is a section of the file that holds bytes.
type Section struct {
	Name string
	// Off and End are its place in the file.
	Off, End int64
	// Data says that it holds data of the program: neither code of the host nor
	// tables for tools.
	Data bool
}

// place says whose containers a section holds.
func (s Section) place() Place {
	switch s.Name {
	case ".nv_fatbin":
		return Loadable
	case "__nv_relfatbin":
		return Relocatable
	}
	return Data
}

// Finish tells what of all that was found is device code, by the sections of
// the file; they may overlap and lie anywhere. If they are not known, all that
// was found is there, and nothing says how it is used.
func (s *Scanner) Finish(sections []Section, known bool) *Code {
	f := &finisher{collector: &s.collector, counts: map[setKey]int{}}
	slices.SortFunc(f.containers, func(a, b container) int { return cmp.Compare(a.pos, b.pos) })
	f.containers = slices.CompactFunc(f.containers, func(a, b container) bool { return a.pos == b.pos })
	slices.SortFunc(f.bares, func(a, b bare) int { return cmp.Compare(a.pos, b.pos) })
	if !known {
		f.data(Section{End: s.size}, Unplaced)
		return f.code()
	}
	sections = disjoint(sections)
	for _, sec := range sections {
		if p := sec.place(); p != Data {
			f.chain(sec, p)
		} else if sec.Data {
			f.data(sec, Data)
		}
	}
	return f.code()
}

// Covers says, once it is finished, whether a place of the file lies in a
// container.
func (s *Scanner) Covers(pos int64) bool {
	// The last that begins before it, and those around that: they may be nested.
	i := sort.Search(len(s.containers), func(i int) bool { return s.containers[i].pos > pos })
	for n := 0; i > 0 && n < 64; n++ {
		i--
		if c := &s.containers[i]; !c.broken && c.set >= 0 && pos < c.end {
			return true
		}
	}
	return false
}

// disjoint sorts sections and cuts off where one overlaps the next: a file that
// has overlapping ones was made to deceive.
func disjoint(sections []Section) []Section {
	out := slices.DeleteFunc(slices.Clone(sections), func(s Section) bool { return s.Off >= s.End })
	slices.SortStableFunc(out, func(a, b Section) int { return cmp.Compare(a.Off, b.Off) })
	for i := range len(out) - 1 {
		out[i].End = min(out[i].End, out[i+1].Off)
	}
	return out
}

// setKey is a set at a place.
type setKey struct {
	place Place
	set   int32
	bare  bool
}

type finisher struct {
	*collector
	counts  map[setKey]int
	loaded  []int // containers that the runtime loads
	broken  int
	unnamed int
}

// from is the index of the first container at a place or behind it.
func (f *finisher) from(pos int64) int {
	return sort.Search(len(f.containers), func(i int) bool { return f.containers[i].pos >= pos })
}

// chain counts the containers of a section that holds nothing else: one after
// another, with zeros between them. What else stands there is broken, and it
// goes on with the next container.
func (f *finisher) chain(sec Section, p Place) {
	for at := sec.Off; at < sec.End; {
		i := f.from(at)
		if i == len(f.containers) || f.containers[i].pos != at {
			f.broken++
			if i == len(f.containers) {
				return
			}
			at = f.containers[i].pos
			continue
		}
		c := &f.containers[i]
		switch {
		case c.end > sec.End:
			f.broken++
			at += 8
			continue
		case c.broken || c.set < 0:
			f.broken++
		default:
			f.counts[setKey{p, c.set, false}]++
			if p == Loadable {
				f.loaded = append(f.loaded, i)
				if !c.named && slices.ContainsFunc(f.sets[c.set], wanted) {
					f.unnamed++
				}
			}
		}
		if c.next < 0 {
			return // zeros to the end of the file
		}
		at = c.next
	}
}

// data counts containers and cubins that a program may load by itself.
func (f *finisher) data(sec Section, p Place) {
	end := sec.Off
	b := sort.Search(len(f.bares), func(i int) bool { return f.bares[i].pos >= sec.Off })
	bares := func(to int64) {
		for ; b < len(f.bares) && f.bares[b].pos < to; b++ {
			if f.bares[b].pos >= end {
				f.counts[setKey{p, f.intern([]Entry{f.bares[b].entry}), true}]++
			}
		}
	}
	for i := f.from(sec.Off); i < len(f.containers) && f.containers[i].pos < sec.End; i++ {
		c := &f.containers[i]
		if c.pos < end || c.end > sec.End || c.broken || c.set < 0 || len(f.sets[c.set]) == 0 {
			continue
		}
		bares(c.pos)
		f.counts[setKey{p, c.set, false}]++
		end = c.end
	}
	bares(sec.End)
}

// code makes the result.
func (f *finisher) code() *Code {
	slices.Sort(f.toolkits)
	out := &Code{Toolkits: f.toolkits, Broken: f.broken, Unnamed: f.unnamed, Incomplete: f.incomplete}
	keys := make([]setKey, 0, len(f.counts))
	for k := range f.counts {
		if k.set >= 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b setKey) int {
		return cmp.Or(cmp.Compare(a.place, b.place), compareBool(a.bare, b.bare), slices.CompareFunc(f.sets[a.set], f.sets[b.set], compareEntries))
	})
	index := map[setKey]int32{}
	for i, k := range keys {
		index[k] = int32(i)
		out.Sets = append(out.Sets, Set{Place: k.place, Entries: f.sets[k.set], Containers: f.counts[k], Bare: k.bare})
	}
	out.Kernels = f.kernels(index)
	return out
}

// kernels groups the kernels by the sets that have them.
func (f *finisher) kernels(index map[setKey]int32) []Kernels {
	g := groups{ids: map[string]int32{"": 0}, lists: [][]int32{nil}, with: map[[2]int32]int32{}}
	of := map[uint64]int32{}
	for _, i := range f.loaded {
		c := &f.containers[i]
		set := index[setKey{Loadable, c.set, false}]
		for _, h := range f.hashes[c.from:c.to] {
			of[h] = g.add(of[h], set)
		}
	}
	out := make([]Kernels, len(g.lists))
	first := make([]uint64, len(g.lists))
	for h, id := range of {
		k := &out[id]
		k.Count++
		// The sample does not depend on the order of a map.
		if name, ok := f.samples[h]; ok && (k.Sample == "" || h < first[id]) {
			k.Sample, first[id] = name, h
		}
	}
	for id := range out {
		for _, s := range g.lists[id] {
			out[id].Sets = append(out[id].Sets, int(s))
		}
	}
	out = slices.DeleteFunc(out, func(k Kernels) bool { return k.Count == 0 })
	slices.SortFunc(out, func(a, b Kernels) int { return slices.Compare(a.Sets, b.Sets) })
	if len(out) == 0 {
		return nil
	}
	return out
}

// groups interns lists of sets.
type groups struct {
	ids   map[string]int32
	lists [][]int32
	with  map[[2]int32]int32
}

// add is the list with a set added.
func (g *groups) add(id, set int32) int32 {
	key := [2]int32{id, set}
	if to, ok := g.with[key]; ok {
		return to
	}
	list := g.lists[id]
	to := id
	if at, found := slices.BinarySearch(list, set); !found {
		list = slices.Insert(slices.Clone(list), at, set)
		var b []byte
		for _, s := range list {
			b = binary.LittleEndian.AppendUint32(b, uint32(s))
		}
		known, ok := g.ids[string(b)]
		if !ok {
			known = int32(len(g.lists))
			g.ids[string(b)] = known
			g.lists = append(g.lists, list)
		}
		to = known
	}
	g.with[key] = to
	return to
}
