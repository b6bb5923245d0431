package layers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
)

// linkerDirs merges layers of configuration files, and returns the directories
// of the linker that are not its own.
func linkerDirs(t *testing.T, layers ...[]item) (dirs []string, img *facts.Image) {
	t.Helper()
	img = &facts.Image{}
	fs := []*Facts{}
	for _, l := range layers {
		fs = append(fs, walkBytes(t, tarOf(t, l...)))
	}
	Merge(img, fs)
	for _, d := range img.LinkerDirs {
		if d.From != "default" {
			dirs = append(dirs, d.Dir+" "+d.From)
		}
	}
	return dirs, img
}

func TestLinkerConf(t *testing.T) {
	t.Parallel()
	const conf, d = "etc/ld.so.conf", "etc/ld.so.conf.d/"
	for name, tt := range map[string]struct {
		layers [][]item
		want   []string
	}{
		"includes in order, without repeats": {
			[][]item{{
				{name: conf, body: "/first\ninclude ld.so.conf.d/*.conf # all\n/last\n/first\nrelative\n"},
				{name: d + "b.conf", body: "/b\n"},
				{name: d + "a.conf", body: "# none\n/a/\n"},
				{name: d + "c.txt", body: "/c\n"},
			}},
			[]string{"/first /etc/ld.so.conf", "/a /etc/ld.so.conf.d/a.conf", "/b /etc/ld.so.conf.d/b.conf", "/last /etc/ld.so.conf"},
		},
		"a later layer replaces and deletes": {
			[][]item{
				{{name: conf, body: "include /etc/ld.so.conf.d/*.conf\n"}, {name: d + "a.conf", body: "/a\n"}, {name: d + "b.conf", body: "/b\n"}},
				{{name: d + "a.conf", body: "/a2\n"}, {name: d + ".wh.b.conf"}},
			},
			[]string{"/a2 /etc/ld.so.conf.d/a.conf"},
		},
		"a file that includes itself": {
			[][]item{{{name: conf, body: "include /etc/ld.so.conf\ninclude\tld.so.conf.d/x.conf\n/a\n"}, {name: d + "x.conf", body: "include ../ld.so.conf\n/x\n"}}},
			[]string{"/x /etc/ld.so.conf.d/x.conf", "/a /etc/ld.so.conf"},
		},
	} {
		got, img := linkerDirs(t, tt.layers...)
		if diff := cmp.Diff(tt.want, got); diff != "" || len(img.Incomplete) > 0 {
			t.Errorf("%s: %v (-want +got):\n%s", name, img.Incomplete, diff)
		}
	}
}

// TestLinkerConfLoops holds that files which all include each other are read
// once each, and that what a bound hides is said.
func TestLinkerConfLoops(t *testing.T) {
	t.Parallel()
	items := []item{{name: "etc/ld.so.conf", body: strings.Repeat("include /etc/ld.so.conf.d/*.conf\n", 1000)}}
	for i := range 900 {
		items = append(items, item{name: fmt.Sprintf("etc/ld.so.conf.d/%d.conf", i), body: "include /etc/ld.so.conf.d/*.conf\n/x\n"})
	}
	got, img := linkerDirs(t, items)
	if len(got) > 1 || len(img.Incomplete) != 1 || img.Incomplete[0].Count < 2 || img.Incomplete[0].Limit != "ld.so.conf" {
		t.Errorf("%v, %+v", got, img.Incomplete)
	}
}
