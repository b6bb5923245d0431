package packages

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestRpmDatabase(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]bool{
		"/var/lib/rpm/Packages": true, "/usr/lib/sysimage/rpm/rpmdb.sqlite": true, "/usr/lib/sysimage/rpm/Packages.db": true,
		"/var/lib/rpm/rpmdb.sqlite-wal": false, "/opt/rpm/Packages": false, "/var/lib/rpm/Name": false,
	} {
		if got := RpmDatabase(p); got != want {
			t.Errorf("%s: %t", p, got)
		}
	}
}

// TestRpmBroken holds that what is no database is an error, and no panic.
func TestRpmBroken(t *testing.T) {
	t.Parallel()
	for _, data := range [][]byte{
		{},
		[]byte("x"), bytes.Repeat([]byte{0}, 5000), bytes.Repeat([]byte{0xff}, 5000), []byte("SQLite format 3\x00"),
		append([]byte("SQLite format 3\x00"), bytes.Repeat([]byte{1}, 8192)...), append([]byte("RpmP"), bytes.Repeat([]byte{2}, 8192)...),
		append(bytes.Repeat([]byte{0}, 12), append([]byte{0x61, 0x15, 0x06, 0}, bytes.Repeat([]byte{3}, 8192)...)...),
	} {
		file := filepath.Join(t.TempDir(), "db")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		err := ReadRpm(file, func(string) bool { return true }, func(r Record, _ []string) { t.Errorf("a package: %+v", r) })
		if err == nil {
			t.Errorf("%.20q is taken for a database", data)
		}
	}
}
