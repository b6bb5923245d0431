package layers

import (
	"archive/tar"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWalkForgets holds that a file which the same tar writes twice, or puts
// away with its directory, leaves nothing of its first content behind.
func TestWalkForgets(t *testing.T) {
	t.Parallel()
	const (
		status = "var/lib/dpkg/status"
		list   = "var/lib/dpkg/info/libcuda1:amd64.list"
	)
	record := func(name string) string { return "Package: " + name + "\nStatus: install ok installed\nVersion: 1\n\n" }
	first := []item{
		{name: status, body: record("libcuda1") + record("nvidia-driver")},
		{name: list, body: "/usr/lib/libcuda.so.1\n"},
		{name: "usr/local/cuda-12.4/version.json", body: `{"cuda":{"version":"12.4.1"}}`},
		{name: "etc/ld.so.conf.d/a.conf", body: "/first\n"},
		{name: "usr/lib/libcuda.so.1"},
	}
	for name, tc := range map[string]struct {
		then []item
		want string
	}{
		"nothing": {nil, "2 records, 1 owners, 1 toolkits, 1 conf, 1 driver files"},
		"again": {[]item{
			{name: status, body: record("libcuda1")},
			{name: list, body: "/usr/lib/libcuda.so.2\n/usr/lib/libcuda.so.3\n"},
			{name: "usr/local/cuda-12.4/version.json", body: `{"cuda":{"version":"12.5.0"}}`},
			{name: "etc/ld.so.conf.d/a.conf", body: "/second\n"},
			{name: "usr/lib/libcuda.so.1"},
		}, "1 records, 2 owners, 1 toolkits, 1 conf, 1 driver files"},
		"empty": {[]item{
			{name: status},
			{name: list},
			{name: "usr/local/cuda-12.4/version.json"},
			{name: "etc/ld.so.conf.d/a.conf"},
			{name: "usr/lib/libcuda.so.1", body: "text"},
		}, "0 records, 0 owners, 0 toolkits, 1 conf, 0 driver files"},
		"links": {[]item{
			{name: status, link: "x", typ: tar.TypeSymlink},
			{name: list, link: "x", typ: tar.TypeSymlink},
			{name: "usr/local/cuda-12.4/version.json", link: "x", typ: tar.TypeSymlink},
			{name: "etc/ld.so.conf.d/a.conf", link: "x", typ: tar.TypeSymlink},
			{name: "usr/lib/libcuda.so.1", body: "text"},
		}, "0 records, 0 owners, 0 toolkits, 0 conf, 0 driver files"},
		"directories replaced": {[]item{
			{name: "var/lib", body: "x"}, {name: "usr", link: "x", typ: tar.TypeSymlink}, {name: "etc/ld.so.conf.d", body: "x"},
		}, "0 records, 0 owners, 0 toolkits, 0 conf, 0 driver files"},
	} {
		for _, dir := range []string{"", "./"} {
			items := append([]item{}, first...)
			for _, i := range tc.then {
				i.name = dir + i.name
				items = append(items, i)
			}
			f := walkBytes(t, tarOf(t, items...))
			if d := cmp.Diff(tc.want, counts(f)); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		}
	}
}

func counts(f *Facts) string {
	return fmt.Sprintf("%d records, %d owners, %d toolkits, %d conf, %d driver files",
		len(f.Records), len(f.Owners), len(f.Toolkits), len(f.Conf), len(f.DriverFiles))
}
