package fatbin

import (
	"cmp"
	"slices"
)

// Place is where device code lies.
type Place uint8

// Places.
const (
	Loadable    Place = iota // .nv_fatbin: the runtime loads it
	Relocatable              // __nv_relfatbin: for the device linker, never loaded
	Data                     // elsewhere: a program may load it itself
	Unplaced                 // the file says nothing of its sections
)

// Set is a set of entries that containers have in common.
type Set struct {
	Place Place
	// Entries are sorted. Two that are equal are two cubins for one target.
	Entries []Entry
	// Containers is how many have these entries and no others.
	Containers int
	// Bare says that they are cubins or PTX without a container.
	Bare bool
}

// Kernels are kernels that the same sets hold.
type Kernels struct {
	// Sets are indexes of Code.Sets, ascending.
	Sets []int
	// Count is the number of kernels, told apart by a hash of their names.
	Count int
	// Sample is one of their names.
	Sample string
}

// Code is the device code of one file.
type Code struct {
	// Sets are sorted by place and entries.
	Sets []Set
	// Kernels are those whose names could be had, of loadable sets.
	Kernels []Kernels
	// Toolkits are the CUDA releases that made the cubins, as far as these say so
	// (before 13.0 those for the newest GPUs alone), sorted as texts.
	Toolkits []string
	// Unnamed is the number of loadable containers of which no, or not all,
	// kernel names could be had.
	Unnamed int
	// Broken is the number of places in sections of device code at which
	// something else stands than a container that can be read.
	Broken int
	// Incomplete says what was left out; empty if nothing was.
	Incomplete string
}

// Empty says that there is no device code, and nothing that hides some.
func (c *Code) Empty() bool {
	return c == nil || len(c.Sets) == 0 && c.Broken == 0 && c.Incomplete == ""
}

// Count is the number of entries of a kind and SM in containers and bare code.
func (c *Code) Count(want func(Place, Entry) bool) int {
	n := 0
	for _, s := range c.Sets {
		for _, e := range s.Entries {
			if want(s.Place, e) {
				n += s.Containers
			}
		}
	}
	return n
}

// Bounds of what is kept of one file.
const (
	maxContainers = 1 << 18
	maxSets       = 1 << 12
	maxEntries    = 1 << 10 // of one container
	maxKernels    = 1 << 18
	maxSample     = 256
	maxToolkits   = 64
)

// compareEntries orders entries.
func compareEntries(a, b Entry) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.SM, b.SM), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Major, b.Major),
		cmp.Compare(a.Minor, b.Minor), cmp.Compare(a.Compression, b.Compression), cmp.Compare(a.Bits, b.Bits), compareBool(a.Debug, b.Debug),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// sortEntries sorts the entries of a container.
func sortEntries(entries []Entry) { slices.SortFunc(entries, compareEntries) }
