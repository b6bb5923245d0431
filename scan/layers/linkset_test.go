package layers

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// history is a linkSet without any bound or index: all entries in order.
type history []Entry

func (h history) readlink(p string) (string, bool) {
	var last Entry
	for _, e := range h {
		switch {
		case e.Path == p:
			last = e
		case e.Type != Dir && strings.HasPrefix(p, e.Path+"/"):
			last = Entry{}
		}
	}
	return last.Link, last.Type == Symlink
}

// TestReadlink holds what is known of links against a plain history, both
// where links are held by name and where the filter holds them.
func TestReadlink(t *testing.T) {
	t.Parallel()
	for _, filtered := range []bool{false, true} {
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 1))
			var b builder
			if filtered {
				for i := range exactLinks {
					b.add(fmt.Sprintf("other/%d", i), Symlink, "x")
				}
			}
			var h history
			name := func() string {
				parts := make([]string, 1+r.IntN(4))
				for i := range parts {
					parts[i] = string(rune('a' + r.IntN(3)))
				}
				return strings.Join(parts, "/")
			}
			for i := range 200 {
				e := Entry{Path: name(), Type: []Type{Dir, Regular, Symlink, Symlink, Symlink}[r.IntN(5)]}
				if e.Type == Symlink {
					e.Link = fmt.Sprint(i)
				}
				b.add(e.Path, e.Type, e.Link)
				h = append(h, e)
				for range 5 {
					p := name()
					got, ok := b.readlink(p)
					want, wok := h.readlink(p)
					if got != want && ok && wok || ok != wok {
						t.Fatalf("filter %t, seed %d, step %d: readlink %s is %q %t, want %q %t", filtered, seed, i, p, got, ok, want, wok)
					}
				}
			}
			if filtered == (b.links.gone == nil) {
				t.Fatal("the filter is not what was tested")
			}
		}
	}
}

// TestLinkSetForgets holds that a set which lost all its links holds nothing.
func TestLinkSetForgets(t *testing.T) {
	t.Parallel()
	var s linkSet
	for i := range uint32(1000) {
		s.add(fmt.Sprintf("a/%d/b/c/%d", i%10, i), "target")
	}
	s.remove("a/3/b/c/3")
	s.removeBelow("a/4", 1)
	if len(s.nodes) == 0 || s.count != 899 {
		t.Fatalf("%d nodes, %d links", len(s.nodes), s.count)
	}
	s.removeBelow("a", 2)
	if len(s.nodes) != 0 || s.count != 0 || s.bytes != 0 {
		t.Errorf("left: %d nodes, %d links, %d bytes", len(s.nodes), s.count, s.bytes)
	}
}

// TestLinkSetIsBounded holds that long and deep links do not fill the memory.
func TestLinkSetIsBounded(t *testing.T) {
	t.Parallel()
	var s linkSet
	for i := range 200 {
		s.add(fmt.Sprintf("%d/%sl", i, strings.Repeat("d/", 1900)), strings.Repeat("t", 4000))
	}
	if len(s.nodes) > exactNodes || s.bytes > exactLinkBytes || s.gone == nil {
		t.Errorf("%d nodes, %d bytes, filter %t", len(s.nodes), s.bytes, s.gone != nil)
	}
}

// TestFilterOfLinksAlone holds that directories above links are not taken for
// links: each of them would be looked for in the index, for every entry below.
func TestFilterOfLinksAlone(t *testing.T) {
	t.Parallel()
	var b builder
	for i := range exactLinks + 100_000 {
		b.add(fmt.Sprintf("srv/d%d/l%d", i/1000, i), Symlink, "x")
	}
	wrong := 0
	for i := range 166 {
		if b.links.maybe(fmt.Sprintf("srv/d%d", i)) {
			wrong++
		}
	}
	if wrong > 3 {
		t.Errorf("%d of 166 directories are taken for links", wrong)
	}
	if p := fmt.Sprintf("srv/d%d/l%d", (exactLinks+5)/1000, exactLinks+5); !b.links.maybe(p) {
		t.Errorf("%s is no link", p)
	}
}
